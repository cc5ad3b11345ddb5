package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/config/scaffold"
	"mycelium/internal/config/source"
	"mycelium/internal/files"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/swarm/tools"
)

// builtin is the catalog of the built-in servers, as far as shipped skills name it.
func builtin(t *testing.T, dir string) skill.Catalog {
	t.Helper()
	s, err := files.New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := skill.Catalog{Definitions: s.Definitions()}
	swarm, err := tools.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	c.Definitions = append(c.Definitions, swarm.Definitions()...)
	for _, tool := range []string{"mycelium-skills__run_script", "mycelium-sandbox__bash", "mycelium-sandbox__sandbox_exec",
		"mycelium-sandbox__sandbox_exec_script", "mycelium-sandbox__sandbox_capabilities", "mycelium-sandbox__sandbox_profiles"} {
		it, err := policy.ParseTool(tool)
		if err != nil {
			t.Fatal(err)
		}
		c.Definitions = append(c.Definitions, policy.Definition{Item: it})
	}
	return c
}

// sees are the tools that a role sees at the start, without the server's name.
func sees(p *policy.Policy, role string) string {
	scope := policy.Scope{Principal: policy.Principal{ID: "t", Role: role}, Skills: p.StartSkills(role)}
	var names []string
	for _, it := range p.Items(scope, policy.Tool) {
		names = append(names, it.Name)
	}
	return strings.Join(names, " ")
}

// TestInitMinimal: two files and two empty folders, which load and grant nothing.
func TestInitMinimal(t *testing.T) {
	w := newWorld(t)
	done, err := scaffold.Init(w.dir, scaffold.Options{Minimal: true})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"mycelium.yaml", "rules.yaml"}, done.Written); d != "" {
		t.Error(d)
	}
	for _, folder := range []string{source.SkillsFolder, source.RolesFolder} {
		if list, err := os.ReadDir(filepath.Join(w.dir, folder)); err != nil || len(list) > 0 {
			t.Errorf("%s: %v %v", folder, list, err)
		}
	}
	w.trust()
	p := w.load()
	pol, _, problems := p.Compile(builtin(t, w.dir))
	if problems = append(slices.Clone(p.Problems), problems...); len(problems) > 0 {
		t.Error(strings.Join(lines(problems), "\n"))
	}
	if len(pol.Roles()) > 0 || sees(pol, "developer") != "" {
		t.Errorf("roles %v, developer sees %q", pol.Roles(), sees(pol, "developer"))
	}
}

func TestInit(t *testing.T) {
	w := newWorld(t)
	done, err := scaffold.Init(w.dir, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"mycelium.yaml", "rules.yaml"}, done.Written); d != "" || len(done.Kept) > 0 || done.Dir != w.dir {
		t.Errorf("%+v\n%s", done, d)
	}
	w.trust()
	p := w.load()
	pol, lib, problems := p.Compile(builtin(t, w.dir))
	problems = append(slices.Clone(p.Problems), problems...)
	if len(problems) > 0 {
		t.Error(strings.Join(lines(problems), "\n"))
	}
	if p.Broken.All != "" || len(p.Broken.Roles) > 0 || len(p.LeftOut) > 0 || len(lib.All()) < 4 {
		t.Errorf("%+v %q", p.Broken, lines(p.LeftOut))
	}
	for role, want := range map[string]string{
		"guest":     "list_directory read_file",
		"developer": "edit_file list_directory read_file search_files stat_file write_file",
		"admin":     "delete_file edit_file list_directory move_file read_file search_files stat_file write_file",
		"":          "",
		"nobody":    "",
	} {
		if got := sees(pol, role); got != want {
			t.Errorf("%s sees %q, want %q", role, got, want)
		}
	}
	for role, want := range map[string]string{
		"researcher":  "list_directory read_file search_files stat_file",
		"implementer": "edit_file list_directory read_file search_files stat_file write_file",
		"reviewer":    "list_directory read_file search_files stat_file",
		"controller":  "list_directory read_file search_files stat_file",
	} {
		if got := sees(pol, role); got != want {
			t.Errorf("%s sees %q, want %q", role, got, want)
		}
	}
}

// TestStartOfShippedRoles: the skills of the program that a role may activate add nothing to what it has at the start.
func TestStartOfShippedRoles(t *testing.T) {
	w := newWorld(t)
	if _, err := scaffold.Init(w.dir, scaffold.Options{}); err != nil {
		t.Fatal(err)
	}
	w.trust()
	pol, _, _ := w.load().Compile(builtin(t, w.dir))
	want := map[string][]string{
		"guest":      {"common", "guest-access"},
		"developer":  {"coding-agent", "common", "developer-tools"},
		"admin":      {"admin-access", "coding-agent", "common"},
		"researcher": {"common"}, "implementer": {"common"}, "reviewer": {"common"}, "controller": {"common"},
		"orchestrator": {"common"}, "adhoc": {"common"},
	}
	got := map[string][]string{}
	for _, role := range pol.Roles() {
		got[role] = pol.StartSkills(role)
		scope := policy.Scope{Principal: policy.Principal{ID: "t", Role: role}, Skills: got[role]}
		for _, it := range pol.Items(scope, policy.Tool) {
			if modes := role == "orchestrator" || role == "adhoc"; !modes && (it.RunsScript() || it.Server == "mycelium-sandbox") {
				t.Errorf("%s has %s at the start", role, it)
			}
		}
		if open := len(pol.OpenSkills(role)); open <= len(got[role]) {
			t.Errorf("%s can activate nothing beyond its %d skills", role, open)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestInitUsesNoWildcards: what init writes names its tools and roles.
func TestInitUsesNoWildcards(t *testing.T) {
	w := newWorld(t)
	if _, err := scaffold.Init(w.dir, scaffold.Options{}); err != nil {
		t.Fatal(err)
	}
	w.trust()
	p := w.load()
	for _, s := range p.Skills {
		for _, pattern := range s.AllowedTools {
			if name, _, _ := strings.Cut(pattern, "("); strings.Contains(name, "*") {
				t.Errorf("skill %s allows %s", s.Name, pattern)
			}
		}
	}
	for _, r := range p.Roles {
		for _, pattern := range append(slices.Clone(r.AllowedSkills), r.ToolIDs...) {
			if strings.Contains(pattern, "*") {
				t.Errorf("role %s allows %s", r.ID, pattern)
			}
		}
	}
}

func TestInitKeepsWhatExists(t *testing.T) {
	w := newWorld(t)
	w.write("mycelium.yaml", "# mine\n")
	w.write("roles/guest.yaml", "# mine too\n")
	done, err := scaffold.Init(w.dir, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"mycelium.yaml"}, done.Kept); d != "" {
		t.Error(d)
	}
	if data, _ := os.ReadFile(filepath.Join(w.dir, "roles", "guest.yaml")); string(data) != "# mine too\n" {
		t.Errorf("roles/guest.yaml is %q", data)
	}
	if data, _ := os.ReadFile(filepath.Join(w.dir, "mycelium.yaml")); string(data) != "# mine\n" {
		t.Errorf("mycelium.yaml is %q", data)
	}
	again, err := scaffold.Init(w.dir, scaffold.Options{})
	if err != nil || len(again.Written) > 0 || len(again.Kept) != len(done.Kept)+len(done.Written) {
		t.Errorf("again: %v %+v", err, again)
	}
}

func TestInitTemplate(t *testing.T) {
	w := newWorld(t)
	unknown := scaffold.Options{Minimal: true, Template: "no-such-template"}
	if _, err := scaffold.Init(w.dir, unknown); err == nil || !strings.Contains(err.Error(), "known:") {
		t.Errorf("error %v", err)
	}
	if list, _ := os.ReadDir(w.dir); len(list) > 0 {
		t.Error("an unknown template wrote files")
	}
	done, err := scaffold.Init(w.dir, scaffold.Options{Minimal: true, Template: "data-analyst"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(done.Written, "skills/data-analyst/SKILL.md") {
		t.Errorf("%q", done.Written)
	}
	if _, err := scaffold.Init(w.write("file", ""), scaffold.Options{Minimal: true}); err == nil {
		t.Error("a file was made a project")
	}
}
