package config

import (
	"os"
	"path/filepath"
	"testing"

	"mycelium/internal/config/servers"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// fuzzWorld is a trusted project with one role, one skill and one deny rule, and what its role sees.
func fuzzWorld(f *testing.F) (dir string, catalog skill.Catalog) {
	f.Helper()
	home, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Setenv("HOME", home)
	f.Setenv("XDG_CONFIG_HOME", "")
	f.Setenv("XDG_STATE_HOME", "")
	dir = filepath.Join(home, "p")
	for name, text := range map[string]string{"skills/reader/SKILL.yaml": aSkill("reader"), "roles/dev.yaml": "allowedSkills: [reader]\n",
		"mycelium.yaml": "{}\n", "rules.yaml": "version: 1\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	return dir, skill.Catalog{Definitions: []policy.Definition{{Item: tool("files__read_file")}, {Item: tool("files__write_file")}}}
}

// fuzzFile loads a project with any bytes in one of its files. Nothing panics, whatever cannot be read switches off what it could
// have restricted, and no such file shows a role more than its skills do.
func fuzzFile(f *testing.F, name string, seeds ...string) {
	dir, catalog := fuzzWorld(f)
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	for _, c := range malformed {
		if filepath.Dir(c.file) == filepath.Dir(name) && len(c.text) < 1000 {
			f.Add([]byte(c.text))
		}
	}
	write := tool("files__write_file")
	read := tool("files__read_file")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := Load(Options{Dir: dir, OnDisk: true})
		if err != nil {
			t.Fatal(err)
		}
		pol, _, _ := p.Compile(catalog)
		for _, role := range append(pol.Roles(), "", "nobody") {
			scope := policy.Scope{Principal: policy.Principal{ID: "f", Role: role}, Skills: []string{"reader"}}
			if role != "dev" && pol.Visible(scope, read) && name != "roles/x.yaml" || pol.Visible(scope, write) && name != "roles/x.yaml" {
				t.Errorf("role %q sees more than the skills declare", role)
			}
			if p.Broken.All != "" && (pol.Visible(scope, read) || pol.Visible(scope, write)) {
				t.Errorf("role %q sees something though all is broken", role)
			}
			if p.Broken.Roles[role] != "" && pol.Visible(scope, read) {
				t.Errorf("role %q sees something though it is broken", role)
			}
		}
		if source.Faulty(p.Problems) && name == "rules.yaml" && p.Broken.All == "" {
			t.Errorf("a faulty rules file breaks nothing: %q", lines(p.Problems))
		}
		for _, s := range p.Servers {
			if !servers.ValidName(s.Name) || s.Name == policy.AgentServer {
				t.Errorf("server %q", s.Name)
			}
		}
	})
}

func FuzzMain(f *testing.F) { fuzzFile(f, "mycelium.yaml", everything, "policy: {strict: true}\n") }
func FuzzClient(f *testing.F) {
	fuzzFile(f, ".mcp.json", `{"mcpServers": {"a": {"command": "x", "timeout": 5}}}`)
}
func FuzzRules(f *testing.F) {
	fuzzFile(f, "rules.yaml", rule("a"), "rules:\n  - {name: a, action: allow, tool: '*', when: 'role == \"x\"', match: {path: [{glob: "+
		"'**'}]}}\n", "rules: [{name: a, action: deny, tool: files__*}]\n")
}

func FuzzRole(f *testing.F) {
	fuzzFile(f, "roles/x.yaml", "id: dev\ndeny: ['*']\n", "inherits: dev\ntoolIds: [files__write_file]\n", "id: x\nallowedSkills: ['*']\n")
}
