package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/config/source"
)

// seeds are the YAML and JSON examples of the founding documents that are not skills (those lie with package skill), as they
// stand there. Each loads; nothing is refused.
var seeds = map[string]struct {
	as      string                   // the file that it is
	servers string                   // that it configures
	left    []string                 // what is left out, visibly
	check   func(*testing.T, *world) // what else it must come to
}{
	"000-config.json": {as: "config.json", servers: "files filesystem", left: []string{
		`warning: config.json:7: server "mycelium-skills" is left out: the name is this program's own, which offers those tools itself ` +
			`(remove the entry, or rename it if it is another server)`}},
	"000-mcp.json": {as: ".mcp.json", servers: "files", left: []string{
		`warning: .mcp.json:3: server "mycelium-router" is left out: the name is this program's own, which offers those tools itself (remove ` +
			`the entry, or rename it if it is another server)`}},
	"001-config.json": {as: "config.json", servers: "files filesystem", check: func(t *testing.T, w *world) {
		s := w.load().File.Session
		if s.DefaultRole != "developer" || !slices.Equal(s.DefaultSkills, []string{"base"}) {
			t.Errorf("session %+v", s)
		}
	}},
	"001-roles-developer.yaml": {as: "roles/developer.yaml", servers: "files", check: func(t *testing.T, w *world) {
		r := w.load().Roles[0]
		if r.ID != "developer" || !slices.Equal(r.AllowedSkills, []string{"base", "reader", "editor", "tester", "git-workflow"}) {
			t.Errorf("%+v", r)
		}
	}},
	"001-roles-admin.yaml": {as: "roles/admin.yaml", servers: "files", check: func(t *testing.T, w *world) {
		if r := w.load().Roles[0]; r.ID != "admin" || !slices.Equal(r.AllowedSkills, []string{"*"}) {
			t.Errorf("%+v", r)
		}
	}},
	"003-roles-index.yaml": {as: "roles/index.yaml", servers: "files", check: func(t *testing.T, w *world) {
		p := w.load()
		var ids []string
		for _, r := range p.Roles {
			ids = append(ids, r.ID+" "+r.Name+" "+r.CreatedAt.Format("2006-01-02"))
		}
		if d := cmp.Diff([]string{"researcher Researcher 2025-12-11", "implementer Implementer 2025-12-11", "reviewer Reviewer 2025-12-11",
			"controller Controller 2025-12-11"}, ids); d != "" {
			t.Error(d)
		}
		pol, _, problems := p.Compile(builtin(t, w.dir))
		if source.Faulty(problems) || !strings.Contains(strings.Join(lines(problems), "\n"), `"chain:status"`) {
			t.Errorf("tools that do not exist yet must be warnings: %q", lines(problems))
		}
		if got := sees(pol, "researcher"); got != "read_file search_files" {
			t.Errorf("researcher sees %q", got)
		}
		if got := sees(pol, "implementer"); got != "read_file search_files write_file" {
			t.Errorf("implementer sees %q", got)
		}
	}},
	"003-tools-index.yaml": {as: ".mycelium/tools/index.yaml", servers: "files"}, // package toolindex reads it
}

func TestFoundingDocuments(t *testing.T) {
	list, err := os.ReadDir("testdata/seeds")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(seeds) {
		t.Errorf("%d files, %d expectations", len(list), len(seeds))
	}
	for _, e := range list {
		t.Run(e.Name(), func(t *testing.T) {
			want, ok := seeds[e.Name()]
			if !ok {
				t.Fatal("nothing is expected of this file")
			}
			data, err := os.ReadFile(filepath.Join("testdata", "seeds", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t)
			w.write(want.as, string(data))
			w.trust()
			p := w.load()
			if len(p.Problems) > 0 || p.Broken.All != "" || len(p.Broken.Roles) > 0 {
				t.Errorf("problems %q, broken %+v", lines(p.Problems), p.Broken)
			}
			var names []string
			for _, s := range p.Servers {
				names = append(names, s.Name)
			}
			if got := strings.Join(names, " "); got != want.servers {
				t.Errorf("servers %q, want %q", got, want.servers)
			}
			if d := cmp.Diff(want.left, lines(p.LeftOut)); d != "" {
				t.Error(d)
			}
			if want.check != nil {
				want.check(t, w)
			}
		})
	}
}

// TestClaudeCubeRules reads a rules file of the form that ClaudeCube has (E2 to E5).
func TestClaudeCubeRules(t *testing.T) {
	w := newWorld(t)
	w.write("rules.yaml", `version: 1
defaults:
  unmatched: escalate
  max_budget_per_agent: 5.00
  max_turns_per_agent: 50
rules:
  - name: block-env
    action: deny
    tool: Write|Edit
    match:
      file_path:
        - {pattern: "**/.env*", type: glob}
    reason: secrets
`)
	w.trust()
	p := w.load()
	if source.Faulty(p.Problems) || p.Broken.All != "" || len(p.Rules) != 1 {
		t.Fatalf("%q %q", lines(p.Problems), p.Broken.All)
	}
	if f := p.File.Policy.Fallback; f.MCP != "ask" || f.Agent != "ask" {
		t.Errorf("fallback %+v", f)
	}
	if session, _, _ := p.File.Agents.Budget.Limits(); session != 5 || p.File.Agents.TurnLimit() != 50 {
		t.Errorf("agents %+v", p.File.Agents)
	}
	for _, key := range []string{"policy.fallback.mcp", "agents.budget.session", "agents.turns"} {
		if p.Sources[key] != "rules.yaml" {
			t.Errorf("source of %s: %q", key, p.Sources[key])
		}
	}
	w.write("mycelium.yaml", "agents: {budget: {session: 4}, turns: 60}\n") // the smaller of two bounds counts
	w.trust()
	p = w.load()
	if session, _, _ := p.File.Agents.Budget.Limits(); session != 4 || p.File.Agents.TurnLimit() != 50 ||
		p.Sources["agents.budget.session"] != "mycelium.yaml" || p.Sources["agents.turns"] != "rules.yaml" {
		t.Errorf("agents %+v from %v", p.File.Agents, p.Sources)
	}
}
