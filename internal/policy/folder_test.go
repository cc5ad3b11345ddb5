package policy_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/policy"
)

// TestScopeOfAFolder: whatever rules allow, a scope that is bound to a folder changes no file elsewhere, by any tool, and the refusal names
// the folder. A child of it is bound as it is.
func TestScopeOfAFolder(t *testing.T) {
	p := everything(t)
	for call, want := range map[string]bool{
		"agent__Write write /w/tree/a": true, "agent__Write write /w/p/a": false, "agent__Write write /w/tree": false,
		"agent__Write write /w/tree-2/a": false, "agent__Write write /tmp/a": false, "agent__Edit delete /w/p/a": false,
		"agent__Bash write /tmp/a": true, "agent__Bash write /w/p/a": false, "agent__Bash delete /w/tree/a/b": true,
		"agent__Bash execute /w/p/a": true, "agent__Read read /w/p/a": true, "files__write_file write /w/p/a": false,
		"mycelium-sandbox__bash write /tmp/a": true, "mycelium-sandbox__bash write /w/p/a": false,
		"database__insert write /w/p/a": false, "database__insert write /w/tree/a": true, "execution__run_command read /w/tree/a": false,
	} {
		tool, rest, _ := strings.Cut(call, " ")
		access, path, _ := strings.Cut(rest, " ")
		it, err := policy.ParseTool(tool)
		if err != nil {
			t.Fatal(err)
		}
		me := policy.Principal{ID: "w", Role: "dev"}
		for _, who := range []policy.Principal{me, {ID: "child", Role: "dev", Parent: &me}} {
			c := policy.Call{Item: it, Scope: policy.Scope{Principal: who, Skills: []string{"all"}, Folder: "/w/tree"},
				Facts: policy.Facts{Parts: []policy.Part{{Paths: []policy.Path{
					{Access: policy.Access(access), Raw: path, Clean: path, Resolved: path}}}}}}
			d := p.Decide(c)
			if (d.Effect == policy.Allow) != want || !want && (d.Rule != "session" || !strings.Contains(d.Reason, "/w/tree")) {
				t.Errorf("%s: %+v", call, d)
			}
			if c.Scope.Folder = ""; p.Decide(c).Effect != policy.Allow {
				t.Errorf("%s: without a folder: %+v", call, p.Decide(c))
			}
		}
	}
}

// TestFolderOnlyNarrows is the law of a bound scope: it allows nothing that the same scope is not allowed without a folder, and no path that
// it allows to change leaves the folder and those for temporary files.
func TestFolderOnlyNarrows(t *testing.T) {
	p := everything(t)
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SampledFrom([]string{"/w/tree", "/w/p", "/tmp", "/w/tree/.."}).Draw(rt, "root") +
			rapid.SampledFrom([]string{"", "/a", "/*", "/{a,../b}/c", "/a/b"}).Draw(rt, "rest")
		resolved := rapid.SampledFrom([]string{path, "", "/w/p/a", "/w/tree/b"}).Draw(rt, "resolved")
		it, err := policy.ParseTool(rapid.SampledFrom([]string{"agent__Bash", "agent__Write", "files__write_file", "database__insert",
			"mycelium-sandbox__bash"}).Draw(rt, "tool"))
		if err != nil {
			rt.Fatal(err)
		}
		access := rapid.SampledFrom([]policy.Access{policy.Write, policy.Delete, "odd"}).Draw(rt, "access")
		c := policy.Call{Item: it, Scope: policy.Scope{Principal: policy.Principal{ID: "w", Role: "dev"}, Skills: []string{"all"},
			Folder: "/w/tree"}, Facts: policy.Facts{Parts: []policy.Part{{Paths: []policy.Path{{Access: access, Raw: path, Clean: path,
			Resolved: resolved, Pattern: strings.ContainsAny(path, "*{")}}}}}}
		bound := p.Decide(c).Effect
		c.Scope.Folder = ""
		if free := p.Decide(c).Effect; bound > free {
			rt.Errorf("bound %v, free %v", bound, free)
		}
		inside := func(form string) bool {
			return strings.HasPrefix(form, "/w/tree/") && !strings.Contains(form, "..") || strings.HasPrefix(form, "/tmp/") ||
				form == "/tmp" && access != policy.Delete
		}
		if bound == policy.Allow && (!inside(path) || !inside(resolved)) {
			rt.Errorf("%s changes %s (%s)", it, path, resolved)
		}
	})
}

// everything is a policy that allows the role dev every call.
func everything(t *testing.T) *policy.Policy {
	t.Helper()
	names := []string{"agent__*", "files__write_file", "mycelium-sandbox__bash", "database__insert", "execution__run_command"}
	src := policy.Source{Dir: "/w/p", Home: "/home/dev", Grants: []policy.Grant{{Name: "all", AllowedRoles: []string{"dev"}, AllowedTools: names}},
		Rules: []policy.Rule{{Name: "all", Action: "allow", Tool: policy.Names{"*"}}}}
	for _, name := range names[1:] {
		it, err := policy.ParseTool(name)
		if err != nil {
			t.Fatal(err)
		}
		src.Catalog = append(src.Catalog, policy.Definition{Item: it})
	}
	p, problems := policy.New(src)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}
