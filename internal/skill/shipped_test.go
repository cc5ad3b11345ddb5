package skill

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/policy"
	"mycelium/internal/skill/intent"
)

func TestShipped(t *testing.T) {
	skills, problems := Load(Shipped(), "shipped", "shipped")
	if problems != nil {
		t.Fatal(problems)
	}
	c := builtin()
	lib := Validate(skills, c)
	var names []string
	for _, s := range lib.All() {
		names = append(names, s.Name)
		if s.State != Valid || len(s.Problems) > 0 {
			t.Errorf("%s is %s: %+v", s.Name, s.State, s.Problems)
		}
		if s.Instructions == "" || s.DisplayName == "" || s.Metadata.Version == "" || s.AllowedRoles == nil {
			t.Errorf("%s lacks instructions, a display name, a version or roles", s.Name)
		}
		english, japanese := false, false
		for _, trigger := range s.Triggers {
			ascii := strings.IndexFunc(trigger, func(r rune) bool { return r > 0x7f }) < 0
			english, japanese = english || ascii, japanese || !ascii
			if got := lib.Suggest(trigger, []string{s.Name}); len(got) != 1 {
				t.Errorf("%s: the trigger %q does not match itself", s.Name, trigger)
			}
		}
		if !english || !japanese {
			t.Errorf("%s has no triggers in English or none in Japanese", s.Name)
		}
	}
	if diff := cmp.Diff([]string{"admin-access", "build-check", "code-modifier", "code-reviewer", "coding-agent", "common", "developer-tools",
		"doc-updater", "editor", "git-workflow", "guest-access", "reader", "skill-admin", "test-runner"}, names); diff != "" {
		t.Error(diff)
	}

	p, problems := policy.New(policy.Source{Catalog: c.Definitions, Grants: lib.Grants(), Dir: "/p"})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	open := map[string][]string{}
	for _, role := range p.Roles() {
		open[role] = p.OpenSkills(role)
	}
	want := map[string][]string{
		"guest": {"common", "guest-access", "reader"},
		"developer": {"build-check", "code-modifier", "code-reviewer", "coding-agent", "common", "developer-tools", "doc-updater", "editor",
			"git-workflow", "reader", "test-runner"},
		"admin":       slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "guest-access" || n == "developer-tools" }),
		"researcher":  {"common", "reader"},
		"implementer": {"build-check", "code-modifier", "common", "editor", "reader", "test-runner"},
		"reviewer":    {"code-reviewer", "common", "reader"},
		"controller":  {"common", "reader"},
	}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Error(diff)
	}
	for _, role := range []string{"guest", "researcher", "reviewer", "controller"} {
		for _, tool := range []string{"write_file", "edit_file", "move_file", "delete_file"} {
			if p.Visible(everything(p, role), policy.Item{Server: "files", Name: tool}) {
				t.Errorf("%s sees %s", role, tool)
			}
		}
	}
}

// TestShippedSuggestions: what people say, in both languages, leads to the skill that does it.
func TestShippedSuggestions(t *testing.T) {
	skills, _ := Load(Shipped(), "shipped", "shipped")
	lib := Validate(skills, builtin())
	all := []string{"common", "coding-agent", "reader", "editor", "code-modifier", "doc-updater", "code-reviewer", "skill-admin",
		"test-runner", "build-check", "git-workflow"}
	for text, want := range map[string]string{
		"CLAUDE.mdを編集して": "editor", "ファイル読んで": "reader", "このコードレビューして": "code-reviewer",
		"ドキュメントを更新して":         "doc-updater",
		"スキルを追加したい":           "skill-admin",
		"please read main.go": "reader", "edit the greeting": "editor", "refactor the parser": "code-modifier",
		"review my change": "code-reviewer", "update the docs": "doc-updater",
		"run the tests": "test-runner", "テストを実行して": "test-runner", "does it still compile?": "build-check",
		"ビルドしてみて":               "build-check",
		"make a commit of this": "git-workflow", "変更をコミットして": "git-workflow", "use the terminal": "coding-agent",
		"シェルで動かして": "coding-agent",
	} {
		got := lib.Suggest(text, all)
		if !slices.ContainsFunc(got, func(s intent.Suggestion) bool { return s.Skill == want }) {
			t.Errorf("%q suggests %v, not %s", text, got, want)
		}
	}
	if got := lib.Suggest("the latest token prefix of another bookshop", all); got != nil {
		t.Errorf("substrings suggest %v", got)
	}
}

func TestTemplates(t *testing.T) {
	var names []string
	for _, tpl := range Templates() {
		names = append(names, tpl.Name)
		if tpl.Description == "" {
			t.Errorf("%s has no description", tpl.Name)
		}
	}
	if diff := cmp.Diff([]string{"basic", "browser-limited", "code-reviewer", "data-analyst", "flight-booking", "personal-assistant"},
		names); diff != "" {
		t.Error(diff)
	}
	for _, tpl := range append(names, "reader", "") {
		rendered, err := Render("my-skill", tpl)
		if err != nil {
			t.Fatal(err)
		}
		fsys := fstest.MapFS{}
		for name, data := range rendered {
			fsys["my-skill/"+name] = &fstest.MapFile{Data: data}
		}
		skills, problems := Load(fsys, "s", "project")
		if len(skills) != 1 || problems != nil {
			t.Fatalf("%q: %+v\n%s", tpl, problems, rendered[pageFile])
		}
		// Without the servers that it names, and with them.
		full := builtin()
		for _, entry := range skills[0].AllowedTools {
			full.Definitions = append(full.Definitions, catalog(ToolPattern(entry)).Definitions...)
		}
		for i, c := range []Catalog{builtin(), full} {
			lib := Validate(skills, c)
			s := lib.All()[0]
			if s.Name != "my-skill" || s.State != Valid || len(s.Problems) > 0 || s.Instructions == "" {
				t.Errorf("%q: %s %s %+v", tpl, s.Name, s.State, s.Problems)
			}
			if n := len(lib.Grants()[0].AllowedTools); i == 1 && n != len(s.AllowedTools) {
				t.Errorf("%q: %d of %d tools are granted where all exist", tpl, n, len(s.AllowedTools))
			}
		}
		if strings.Contains(string(rendered[pageFile]), "\n# A skill to start from") {
			t.Errorf("%q: the line that describes the template is in the skill", tpl)
		}
	}
	if got, err := Render("reader", ""); err != nil || !strings.Contains(string(got[pageFile]), "displayName: Reader") {
		t.Errorf("a shipped name alone is not that skill: %v\n%s", err, got[pageFile])
	}
	for _, tt := range []struct{ name, template, want string }{
		{"Bad Name", "", `skill name "Bad Name": use lower-case letters, digits and hyphens, at most 64`},
		{"../x", "", `skill name "../x": use lower-case letters, digits and hyphens, at most 64`},
		{"x", "basci", `there is no template "basci"; did you mean "basic"?`},
		{"x", "zzz", `there is no template "zzz"; known: admin-access, basic,`},
		{"x", "../shipped", `there is no template "../shipped"; known:`},
	} {
		if _, err := Render(tt.name, tt.template); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Render(%q, %q): %v", tt.name, tt.template, err)
		}
	}
}

func TestPreview(t *testing.T) {
	skills, _ := Load(files(
		"look/SKILL.yaml", "name: look\ndescription: d\nallowedRoles: [guest, dev]\nallowedTools: [files__read_file, agent__Read]\n",
		"change/SKILL.yaml", "name: change\ndescription: d\nallowedRoles: [dev, boss]\n"+
			"allowedTools: [files__read_file, files__write_file, files__edit_file]\n"), "s", "project")
	c := builtin()
	without, with := Validate(skills[1:], c), Validate(skills, c)
	if skills[0].Name != "change" {
		t.Fatal(skills[0].Name)
	}
	compile := func(l *Library) *policy.Policy {
		p, problems := policy.New(policy.Source{Catalog: c.Definitions, Grants: l.Grants(), Dir: "/p"})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return p
	}
	before, after := compile(without), compile(with)
	tool := func(name string) policy.Item { return policy.Item{Server: "files", Name: name} }
	want := []Change{
		{"boss", []policy.Item{tool("edit_file"), tool("read_file"), tool("write_file")}, []policy.Item{}, 1, 5.0 / 8},
		{"dev", []policy.Item{tool("edit_file"), tool("write_file")}, []policy.Item{}, 7.0 / 8, 5.0 / 8},
		{"guest", []policy.Item{}, []policy.Item{}, 7.0 / 8, 7.0 / 8},
	}
	if diff := cmp.Diff(want, Preview(before, after, c.Definitions, c.Definitions)); diff != "" {
		t.Error(diff)
	}
	reverse := Preview(after, before, c.Definitions, c.Definitions)
	if diff := cmp.Diff(want[1].Added, reverse[1].Removed); diff != "" || len(reverse[1].Added) > 0 {
		t.Error(diff, reverse[1].Added)
	}
	if got := Concealment(after, policy.Scope{}, c.Definitions); got != 1 {
		t.Errorf("no role sees %.2f of the catalog hidden", got)
	}
	if got := Concealment(after, policy.Scope{}, nil); got != 0 {
		t.Errorf("an empty catalog conceals %v", got)
	}
	if got := fmt.Sprint(Concealment(after, everything(after, "dev"), c.Definitions)); got != "0.625" {
		t.Error(got)
	}
}
