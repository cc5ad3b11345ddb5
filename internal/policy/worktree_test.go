package policy

import (
	"strings"
	"testing"
)

// TestBaseConstraintsInWorktrees: what governs is protected in each folder of the project, and so is what makes a folder one of them.
// Removing a whole working tree is for the rules.
func TestBaseConstraintsInWorktrees(t *testing.T) {
	b := compileBase("/work/p", "/home/dev", nil, "")
	for s, want := range map[string]string{
		"/work/w/rules.yaml": "base:mycelium-skills", "/work/w/Skills/a/SKILL.md": "base:mycelium-skills",
		"/work/w/.mcp.json":   "base:mycelium-config",
		"/work/w/.mycelium/x": "base:mycelium-state", "/work/p/rules.yaml": "base:mycelium-skills",
		"/work/p/in/w2/roles/a.yaml": "base:mycelium-skills",
		"/work/w/.git":               "base:mycelium-worktrees", "/work/p/in/w2/.git": "base:mycelium-worktrees",
		"/work/.git":       "base:mycelium-worktrees",
		"/work/w/src/a.go": "", "/work/w/.gitignore": "", "/work/w/sub/.git": "", "/work/other/rules.yaml": "",
		"/work/p/in/rules.yaml": "", "/work/w": "", "/work/p/in": "", "/work/p": "base:",
		// as patterns
		"/work/w?/rul?s.yaml": "base:mycelium-skills", "/work/w/r*.yaml": "base:mycelium-skills", "/work/w/.g?t": "base:mycelium-worktrees",
		"/work/w/*.go": "", "/work/other/r*.yaml": "",
	} {
		for _, a := range []Access{Write, Delete} {
			p := Path{Access: a, Raw: s, Clean: s, Resolved: s, Pattern: strings.ContainsAny(s, "*?")}
			name := ""
			if r := b.refuses(&Facts{Dir: "/work/w", Worktrees: []string{"/work/w", "/work/p/in/w2", "/work/w2", "/a,{b"}}, &p); r != nil {
				name = r.name
			}
			if want == "base:" && a == Delete { // everything of the project goes with it
				if name == "" {
					t.Errorf("%s %s is not refused", a, s)
				}
			} else if want != "base:" && name != want {
				t.Errorf("%s %s: refused by %q, want %q", a, s, name, want)
			}
		}
		p := Path{Access: Read, Raw: s, Clean: s, Resolved: s}
		if r := b.refuses(&Facts{Worktrees: []string{"/work/w"}}, &p); r != nil && r.name != "base:mycelium-state" {
			t.Errorf("read %s: %s", s, r.name)
		}
	}
}

// TestRulesInWorktrees: a pattern that begins at the project holds below each of its folders. Absolute patterns are about one place.
func TestRulesInWorktrees(t *testing.T) {
	src := Source{Dir: "/work/p", Home: "/home/dev", Roles: []Role{{ID: "dev", ToolIDs: []string{"agent__Write", "agent__Bash"}}}}
	src.Fallback.Agent = "deny"
	add := func(name, action, key, kind, pattern string) {
		v := Value{Glob: &pattern}
		switch kind {
		case "regex":
			v = Value{Regex: &pattern}
		case "literal":
			v = Value{Literal: &pattern}
		}
		src.Rules = append(src.Rules, Rule{Name: name, Action: action, Tool: Names{"Write"}, Match: map[string]Values{key: {v}}})
	}
	add("secret", "deny", "path", "glob", "./secret/**")
	add("one", "deny", "path", "literal", "one.txt")
	add("two", "deny", "path", "regex", "two/[a-z]+")
	add("there", "deny", "path", "glob", "/work/p/there/**")
	add("above", "deny", "path", "glob", "../shared/**")
	add("src", "allow", "write", "glob", "./src/**")
	add("rest", "allow", "delete", "glob", "./**")
	p, problems := New(src)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		access  Access
		path    string
		pattern bool
		rule    string
		effect  Effect
	}{
		{Write, "/work/p/src/a", false, "src", Allow}, {Write, "/work/w/src/a", false, "src", Allow}, {Write, "/work/w/src", false, "src", Allow},
		{Write, "/work/wx/src/a", false, "", Deny}, {Write, "/work/src/a", false, "", Deny},
		{Write, "/work/w/secret/a", false, "secret", Deny}, {Write, "/work/w/s*t/a", true, "secret", Deny},
		{Write, "/work/{w,z}/secret/a", true, "secret", Deny},
		{Write, "/work/w/one.txt", false, "one", Deny}, {Write, "/work/w/on?.txt", true, "one", Deny},
		{Write, "/work/w/two/abc", false, "two", Deny}, {Write, "/work/w/two/a*", true, "two", Deny},
		{Write, "/work/p/there/a", false, "there", Deny}, {Write, "/work/w/there/a", false, "", Deny},
		{Write, "/work/shared/a", false, "above", Deny},
		{Delete, "/work/w/a", false, "rest", Allow}, {Delete, "/work/w", false, "", Deny},
	} {
		call := Call{Item: Item{Server: AgentServer, Name: "Write"}, Scope: Scope{Principal: Principal{Role: "dev"}},
			Facts: Facts{Dir: "/work/w", Worktrees: []string{"/work/w"}, Parts: []Part{{Paths: []Path{
				{Access: c.access, Raw: c.path, Clean: c.path, Resolved: c.path, Pattern: c.pattern}}}}}}
		if d := p.Decide(call); d.Effect != c.effect || d.Rule != c.rule && c.rule != "" {
			t.Errorf("%s %s: %+v, want %s by %q", c.access, c.path, d, c.effect, c.rule)
		}
		path := &call.Facts.Parts[0].Paths[0]
		if got := p.Protects(*path, call.Facts.Worktrees); got != (c.rule != "" && c.effect == Deny) {
			t.Errorf("%s %s: protected: %t", c.access, c.path, got)
		}
	}
}
