package fromclaude

import (
	"regexp"
	"testing"
	"unicode/utf8"

	"mycelium/internal/yamlfile"
)

// TestCommandRegex: what an entry of Bash matches, alone and among other commands.
func TestCommandRegex(t *testing.T) {
	for _, c := range []struct {
		spec, command   string
		allows, catches bool
	}{
		{"npm run test:*", "npm run test", true, true},
		{"npm run test:*", "npm run test -- --watch", true, true},
		{"npm run test:*", "npm  run test", true, true},
		{"npm run test:*", "npm run tester", false, false},
		{"npm run test:*", "cd x && npm run test", false, true},
		{"git push *", "git push origin main", true, true},
		{"git push *", "git pushy", false, false},
		{"git * main", "git checkout main", true, true},
		{"git * main", "git checkout main; ls", false, true},
		{"make", "make", true, true},
		{"make", "make all", false, false},
		{"make", "(make)", false, true},
		{"make", "ls | make; ls", false, true},
		{"make", "ls\nmake\nls", false, true},
		{"a.b", "axb", false, false},
	} {
		if got := whole(t, c.spec, false).MatchString(c.command); got != c.allows {
			t.Errorf("allow Bash(%s) and %q: %t", c.spec, c.command, got)
		}
		if got := whole(t, c.spec, true).MatchString(c.command); got != c.catches {
			t.Errorf("deny Bash(%s) and %q: %t", c.spec, c.command, got)
		}
	}
}

// whole is the expression as rules use it: it matches the whole text.
func whole(t *testing.T, spec string, within bool) *regexp.Regexp {
	t.Helper()
	re, err := regexp.Compile(`^(?:` + commandRegex(spec, within) + `)$`)
	if err != nil {
		t.Fatalf("%q: %v", spec, err)
	}
	return re
}

// FuzzEntry: whatever stands in permissions, the rules file can be read, and what is denied alone is denied within.
func FuzzEntry(f *testing.F) {
	for _, e := range []string{"Bash(npm run test:*)", "Read(//a/**)", "Edit(.env)", "WebFetch(domain:*.x.com)", "mcp__a__b", "mcp__A_B",
		"Bash(", "Bash", "Read(./a\n)"} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		if !utf8.ValidString(entry) || len(entry) > maxEntry {
			return // the JSON of a settings file is UTF-8, or it is not read
		}
		r := &rules{}
		for _, action := range []string{"deny", "ask", "allow"} {
			r.add(action, entry)
		}
		if _, problems := yamlfile.Read(RulesFile, r.text()); len(r.list) > 0 && problems != nil {
			t.Fatalf("%q became\n%s\n%v", entry, r.text(), problems)
		}
		whole(t, entry, true)
		whole(t, entry, false)
	})
}
