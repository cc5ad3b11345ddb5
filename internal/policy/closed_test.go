package policy

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNeeded: whatever a regular expression matches has the text that is needed.
func TestNeeded(t *testing.T) {
	for expression, want := range map[string]string{
		`(?:.*/)?notes/.*`: "notes/", `(?i)(?:.*/)?\.git(?:/.*)?`: ".git", `(?i).*/NOTES.*`: "", `a|b`: "", `(abc)+d?`: "abc", `(?i)x/NOTE/y`: "x/note/y",
		`[ab]c*`: "", `(`: "",
		`(?i)ask`: "", `é.*`: "", `src/.\.go`: "src/",
	} {
		if got := needed(expression); got != want {
			t.Errorf("%s needs %q, want %q", expression, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b/", ".", ".*", "[ab]", "(ab)?", "k", "s", "(a|b)", "(ba)+", "(?:a/)*", "ab{2,3}"}), 1,
			6).Draw(t, "parts")
		expression := rapid.SampledFrom([]string{"", "(?i)"}).Draw(t, "flags") + strings.Join(parts, "")
		need, re := needed(expression), regexp.MustCompile(`\A(?:`+expression+`)\z`)
		for range 20 {
			path := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "B", "k", "\u212a", "s", "\u017f", "A"}), 0, 8).Draw(t, "path"), "")
			if need != "" && !hasFold(path, need) && re.MatchString(path) {
				t.Fatalf("%s matches %q without %q", expression, path, need)
			}
		}
	})
}

// TestClosed: what rules close to a scope, and what of a rule counts.
func TestClosed(t *testing.T) {
	text := func(s string) Values { return Values{{Glob: &s}} }
	src := Source{Dir: "/p", Home: "/h", Roles: []Role{{ID: "dev"}, {ID: "guest"}},
		Grants: []Grant{{Name: "s", AllowedTools: []string{"agent__*"}, AllowedRoles: []string{"dev", "guest"}}},
		Rules: []Rule{
			{Name: "a", Action: "deny", Tool: Names{"*"}, Match: Fields{"path": text("a/**")}, When: "args.x == 1"},
			{Name: "b", Action: "ask", Tool: Names{"Read", "Write"}, Match: Fields{"path": text("b/**")}},
			{Name: "c", Action: "deny", Tool: Names{"Write"}, Match: Fields{"write": text("c/**")}},
			{Name: "d", Action: "deny", Tool: Names{"Read"}, Role: Names{"guest"}, Match: Fields{"path": text("d/**")}},
			{Name: "e", Action: "deny", Tool: Names{"Read"}, Match: Fields{"path": text("e/**")}, When: `role == "guest"`},
			{Name: "f", Action: "deny", Tool: Names{"Read"}, Match: Fields{"path": text("f/**")}, Named: true},
			{Name: "g", Action: "deny", Tool: Names{"Bash"}, Match: Fields{"path": text("g/**")}},
			{Name: "h", Action: "deny", Tool: Names{"Bash"}, Match: Fields{"path": text("h/**"), "program": text("rm")}},
			{Name: "i", Action: "deny", Tool: Names{"Read"}, Args: map[string]Values{"file_path": text("/p/i/*")}},
			{Name: "j", Action: "allow", Tool: Names{"*"}, Match: Fields{"path": text("**")}},
			{Name: "k", Action: "deny", Tool: Names{"Write"}, Match: Fields{"delete": text("k/**")}},
		}}
	p, _ := New(src)
	of := func(role, parent string) string {
		s := Scope{Principal: Principal{Role: role}}
		if parent != "" {
			s.Principal.Parent = &Principal{Role: parent}
		}
		closed, err := p.Closed(s)
		if err != nil {
			t.Fatal(err)
		}
		c, err := closed.Compile("/tree")
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, dir := range "abcdefghik" {
			read, change := c.Of("/p/"+string(dir)+"/x", "/p/"+string(dir)+"/x")
			if inTree, _ := c.Of("/tree/"+string(dir)+"/x", ""); inTree != read && dir != 'i' {
				t.Errorf("%c is another in a working tree of the project", dir)
			}
			switch {
			case read && change:
				said += string(dir) + "! "
			case read:
				said += string(dir) + " "
			case change:
				said += string(dir) + "+ "
			}
		}
		return said
	}
	if got := of("dev", ""); got != "a! b c+ g! i " {
		t.Errorf("dev: %s", got)
	}
	if got := of("guest", ""); got != "a! b c+ d e g! i " {
		t.Errorf("guest: %s", got)
	}
	if got := of("dev", "guest"); got != "a! b c+ d e g! i " {
		t.Errorf("a child of guest: %s", got)
	}
	src.Rules = append(src.Rules, Rule{Name: "broken", Action: "deny", Tool: Names{"Read"}, Match: Fields{"path": {}}})
	p, _ = New(src)
	if closed, err := p.Closed(Scope{Principal: Principal{Role: "dev"}}); err == nil {
		t.Errorf("with a rule that cannot be evaluated: %+v", closed)
	}
}
