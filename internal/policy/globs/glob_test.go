package globs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"mycelium/internal/policy/globs"
)

func TestMeets(t *testing.T) {
	for _, c := range []struct {
		aimed, protected string
		want             bool
	}{
		{"/p/.cl*/*", "/p/.claude/**", true},
		{"/p/.cl*/set*", "**/.claude/settings.json", true},
		{"/p/.cl*/x", "**/.claude/settings.json", false},
		{"/p/.e?v", "**/.env", true},
		{"/p/.[a-f]nv", "**/.env", true},
		{"/p/.[!e]nv", "**/.env", false},
		{"/p/.[[:alpha:]]nv", "**/.env", true},
		{"/p/{a,.env}", "**/.env", true},
		{"/p/*.json", "**/credentials.json", false}, // only the disk tells
		{"/p/c*.json", "**/credentials.json", true},
		{"/p/*.pem", "**/*.pem", true},
		{"/p/s*/*", "**/credentials.json", false},
		{"/p/s*/x", "/p/skills/**", true},
		{"/p/**/x.go", "/p/skills/**", false},
		{"/p/**/.e*", "**/.env", true},
		{"/p/[", "/p/[", true},
		{`/p/\*`, "/p/x", false},
		{"/p/[]a]", "/p/]", true},
		{"/p/[!]a]", "/p/a", false},
	} {
		if got := globs.Aimed(c.aimed, false).Meets(globs.Of(c.protected, false)); got != c.want {
			t.Errorf("%s meets %s: %v", c.aimed, c.protected, got)
		}
	}
	if !globs.Of("/P/.ENV", true).Meets(globs.Of("/p/.env", true)) || globs.Of("/P", false).Meets(globs.Of("/p", false)) {
		t.Error("case")
	}
	if !globs.Of("a", false).Meets(globs.Regex("(", false)) {
		t.Error("a pattern that cannot be read may match")
	}
}

// pattern draws a glob over a small alphabet.
func pattern(t *rapid.T, name string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", ".", "/", "*", "?", "**/", "/**", "[ab]", "[!a]", "{a,b}", "{.,*}", `\*`,
	}), 0, 6).Draw(t, name), "")
}

// texts are all texts of at most six characters of the alphabet.
var texts = func() (all []string) {
	last := []string{""}
	for range 6 {
		all = append(all, last...)
		var next []string
		for _, s := range last {
			for _, c := range "ab./" {
				next = append(next, s+string(c))
			}
		}
		last = next
	}
	return append(all, last...)
}()

// TestMeetsAgreesWithEveryText: what matches both patterns is found, and where the walk finds nothing, nothing matches both.
func TestMeetsAgreesWithEveryText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := pattern(t, "a"), pattern(t, "b")
		if !doublestar.ValidatePattern(a) || !doublestar.ValidatePattern(b) {
			return
		}
		meets := globs.Of(a, false).Meets(globs.Of(b, false))
		for _, s := range texts {
			if doublestar.MatchUnvalidated(a, s) && doublestar.MatchUnvalidated(b, s) {
				if !meets {
					t.Fatalf("%q matches %q and %q, which do not meet", s, a, b)
				}
				return
			}
		}
	})
}

// TestMeetsIsExact: of regular expressions without long texts the walk says no more than the truth.
func TestMeetsIsExact(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "[ab]", "a*", "(a|ba)", "b?", "."})
	rapid.Check(t, func(t *rapid.T) {
		a := strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "a"), "")
		b := strings.Join(rapid.SliceOfN(part, 0, 3).Draw(t, "b"), "")
		x, y := regexp.MustCompile(`^(?:`+a+`)$`), regexp.MustCompile(`^(?:`+b+`)$`)
		some := false
		for _, s := range texts {
			some = some || x.MatchString(s) && y.MatchString(s)
		}
		if meets := globs.Regex(a, false).Meets(globs.Regex(b, false)); some && !meets || meets && !some && !strings.Contains(a+b, "*") {
			t.Fatalf("%q and %q: meets %v, some text %v", a, b, meets, some)
		}
	})
}

// FuzzMeets: no pattern panics, and a pattern that matches a text meets it.
func FuzzMeets(f *testing.F) {
	for _, s := range []string{"", "a/**", "{a,b", "[", "[^", "[!]", "a}b,", "\\", "**{**/x}", "[[:alpha:]-]"} {
		f.Add(s, "a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern)+len(text) > 200 {
			return
		}
		globs.Aimed(pattern, true)
		meets := globs.Of(pattern, false).Meets(globs.Of(globs.Quote(text), false))
		if doublestar.ValidatePattern(pattern) && doublestar.MatchUnvalidated(pattern, text) && !meets {
			t.Errorf("%q matches %q, and they do not meet", text, pattern)
		}
	})
}
