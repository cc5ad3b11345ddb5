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
	c := program()
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
			if got := lib.Intent(trigger, []string{s.Name}).Wanted; len(got) != 1 {
				t.Errorf("%s: the trigger %q does not match itself", s.Name, trigger)
			}
		}
		if !english || !japanese {
			t.Errorf("%s has no triggers in English or none in Japanese", s.Name)
		}
	}
	// B29 and safe-code-exec, then those that projects had before.
	listed := strings.Fields("adhoc-tools algorithmic-art brand-guidelines browser-testing canvas-design code-reviewer common data-analyst " +
		"data-analyzer doc-coauthoring docx docx-handler frontend-design internal-comms mcp-builder orchestrator pdf pptx session-management " +
		"swarm skill-admin skill-creator slack-gif-creator theme-factory web-artifacts-builder webapp-testing xlsx build-check code-modifier " +
		"doc-updater git-workflow test-runner safe-code-exec " +
		"admin-access coding-agent developer-tools editor guest-access reader")
	slices.Sort(listed)
	if diff := cmp.Diff(listed, names); diff != "" {
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
	admin := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "guest-access" || n == "developer-tools" })
	want := map[string][]string{
		"guest": {"common", "guest-access", "reader"},
		"developer": slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			return slices.Contains([]string{"admin-access", "adhoc-tools", "guest-access", "skill-admin",
				"swarm"}, n)
		}),
		"admin":       admin,
		"researcher":  {"common", "reader"},
		"implementer": {"build-check", "code-modifier", "common", "editor", "reader", "test-runner"},
		"reviewer":    {"code-reviewer", "common", "reader"},
		"controller":  {"common", "orchestrator", "reader", "swarm"},
		"orchestrator": {"common", "data-analyst", "docx", "docx-handler", "pptx", "slack-gif-creator", "theme-factory",
			"web-artifacts-builder", "xlsx"}, // those with scripts
		"adhoc": {"adhoc-tools", "common"},
	}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Error(diff)
	}
	for _, role := range []string{"guest", "researcher", "reviewer", "controller"} {
		for _, tool := range []string{"files__write_file", "files__edit_file", "files__move_file", "files__delete_file",
			"mycelium-skills__run_script", "mycelium-sandbox__bash", "mycelium-sandbox__sandbox_exec", "agent__Write"} {
			if server, name, _ := strings.Cut(tool, "__"); p.Visible(everything(p, role), policy.Item{Server: server, Name: name}) {
				t.Errorf("%s sees %s", role, tool)
			}
		}
	}
}

// TestShippedSuggestions: what people say, in both languages, leads to the skill that does it.
func TestShippedSuggestions(t *testing.T) {
	skills, _ := Load(Shipped(), "shipped", "shipped")
	lib := Validate(skills, program())
	all := folders(Shipped())
	for text, want := range map[string]string{
		"CLAUDE.mdを編集して": "editor", "ファイル読んで": "reader", "このコードレビューして": "code-reviewer",
		"ドキュメントを更新して":         "doc-updater",
		"スキルを追加したい":           "skill-admin",
		"please read main.go": "reader", "edit the greeting": "editor", "refactor the parser": "code-modifier",
		"review my change": "code-reviewer", "update the docs": "doc-updater",
		"run the tests": "test-runner", "テストを実行して": "test-runner", "does it still compile?": "build-check",
		"ビルドしてみて":               "build-check",
		"make a commit of this": "git-workflow", "変更をコミットして": "git-workflow", "use the terminal": "coding-agent",
		"could you read the PDF in docs": "pdf", "このPDFを読んで要点を": "pdf", "please make slides about it": "pptx",
		"来週の発表資料をまとめて": "pptx", "make a spreadsheet of the costs": "xlsx", "エクセルで作成してほしい": "xlsx",
		"read the word document": "docx", "Word文書を作って": "docx", "fill in the Word template for each": "docx-handler",
		"ひな形に記入して": "docx-handler", "analyze the data in sales.csv": "data-analyst", "売上を集計して": "data-analyst",
		"merge the CSV files": "data-analyzer", "グラフを描いて": "data-analyzer", "run this code": "safe-code-exec",
		"このコードを実行して": "safe-code-exec", "click through the sign-up": "browser-testing", "ブラウザで確認して": "browser-testing",
		"write an end-to-end test for it": "webapp-testing", "E2Eテストを書いて": "webapp-testing", "週報を書いて": "internal-comms",
		"draft a spec for the cache": "doc-coauthoring", "design the UI": "frontend-design", "配色を考えて": "theme-factory",
		"make a GIF of a ball": "slack-gif-creator", "MCPサーバーを作って": "mcp-builder", "turn this into a skill": "skill-creator",
		"save this conversation": "session-management", "会話を保存して": "session-management", "ポスターを作って": "canvas-design",
		"make algorithmic art": "algorithmic-art", "use our brand colors": "brand-guidelines", "失敗の原因を調べて": "adhoc-tools",
		"split the task between helpers": "orchestrator", "手分けして進めよう": "orchestrator",
		"start a swarm for plan.md": "swarm", "複数のエージェントで開発したい": "swarm",
		"bundle it into one file": "web-artifacts-builder",
	} {
		got := lib.Intent(text, all).Wanted
		if !slices.ContainsFunc(got, func(s intent.Suggestion) bool { return s.Skill == want }) {
			t.Errorf("%q suggests %v, not %s", text, got, want)
		}
	}
	for _, said := range []string{
		"the latest token prefix of another bookshop",
		"The pdf is large, the slides are blue, the spreadsheet and the docx are in the mail.",
		"PDFは大きく、スライドは青い。エクセルとワードのファイル、データとグラフとテーマはメールにある。",
	} {
		if got := lib.Intent(said, all).Wanted; got != nil {
			t.Errorf("%q suggests %v", said, got)
		}
	}
}

// TestShippedTexts: each skill of B29 is a short text that stands for itself.
func TestShippedTexts(t *testing.T) {
	skills, _ := Load(Shipped(), "shipped", "shipped")
	triggers := map[string]string{}
	for _, s := range skills {
		if n := len(s.Instructions); n > 6<<10 || strings.Count(s.Instructions, "\n") > 120 {
			t.Errorf("%s: its instructions have %d bytes, %d lines", s.Name, n, strings.Count(s.Instructions, "\n"))
		}
		if n := len(s.Description); n > 160 {
			t.Errorf("%s: its description has %d bytes", s.Name, n)
		}
		for _, trigger := range s.Triggers {
			if other, taken := triggers[intent.Fold(trigger)]; taken {
				t.Errorf("%s and %s have the trigger %q", s.Name, other, trigger)
			}
			triggers[intent.Fold(trigger)] = s.Name
		}
		files, err := s.Resources()
		if err != nil {
			t.Fatal(err)
		}
		runs := slices.Contains(s.AllowedTools, "mycelium-skills__run_script")
		if runs != (len(files) > 0) {
			t.Errorf("%s: files %v, and run_script granted: %v", s.Name, files, runs)
		}
		for _, file := range files {
			if !strings.Contains(s.Instructions, file) {
				t.Errorf("%s: its instructions do not name %s", s.Name, file)
			}
			if !slices.Contains(s.Requires.Programs, "python3") {
				t.Errorf("%s: %s needs python3, and requires does not say so", s.Name, file)
			}
		}
		if s.Name == "skill-creator" {
			continue // it tells of what other skills use
		}
		for word := range strings.FieldsFuncSeq(s.Instructions, func(r rune) bool { return strings.ContainsRune("` \n(,", r) }) {
			server, name, found := strings.Cut(strings.TrimRight(word, ").:;"), "__")
			it := policy.Item{Server: server, Name: name}
			if found && strings.HasPrefix(server, "mycelium-s") && !it.IsControl() && !slices.Contains(s.AllowedTools, it.String()) {
				t.Errorf("%s: its instructions use %s, which it does not grant", s.Name, it)
			}
		}
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
		{"x", "zzz", `there is no template "zzz"; known: adhoc-tools, admin-access, algorithmic-art, basic,`},
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
