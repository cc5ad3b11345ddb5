package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/text"
)

// show writes a plan in one line a feature, for comparing.
func show(p Plan) string {
	var b strings.Builder
	for _, f := range p.Features {
		fmt.Fprintf(&b, "%s: %s", f.ID, f.Description)
		for _, l := range []struct {
			name   string
			values []string
		}{{"after", f.DependsOn}, {"role", strings.Fields(f.Role)}, {"skills", f.Skills}, {"files", f.Files}} {
			if len(l.values) > 0 {
				fmt.Fprintf(&b, " | %s %s", l.name, strings.Join(l.values, " "))
			}
		}
		if f.Validation != nil {
			fmt.Fprintf(&b, " | verify %q", []string(f.Validation.VerifyCommand))
		}
		if f.Estimate != 0 {
			fmt.Fprintf(&b, " | %vm", float64(f.Estimate))
		}
		if f.Details != "" {
			fmt.Fprintf(&b, " | %q", f.Details)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestFromTask(t *testing.T) {
	for _, c := range []struct {
		name, task string
		existing   []string
		want       string
	}{
		{"numbered", "We need:\n1. A parser\n2) A printer\n(3) A checker\n", nil,
			"feature-1: A parser\nfeature-2: A printer\nfeature-3: A checker\n"},
		{"bulleted", "- Add login\n* Add logout\n• Sessions\n", nil, "feature-1: Add login\nfeature-2: Add logout\nfeature-3: Sessions\n"},
		{"verb-led", "The shop is old.\nAdd a cart\nFix the checkout\nIt must be fast.", nil,
			"feature-1: Add a cart\nfeature-2: Fix the checkout\n"},
		{"nested items are details", "- Add login\n  - with a form\n\n  and a page\n- Add logout", nil,
			"feature-1: Add login | \"- with a form\\nand a page\"\nfeature-2: Add logout\n"},
		{"prose", "The shop needs a cart.", nil, "feature-1: The shop needs a cart.\n"},
		{"a list wins over the task", "- Add login", []string{"One", " Two "}, "feature-1: One\nfeature-2: Two\n"},
		{"ticked ones are done", "- [x] Add login\n- [ ] Add logout", nil, "feature-1: Add logout\n"},
		{"Japanese numbers", "次のとおり。\n１．解析器\n２、印刷\n", nil, "feature-1: 解析器\nfeature-2: 印刷\n"},
		{"Japanese bullets", "・ログインを追加する\n・ログアウト\n", nil, "feature-1: ログインを追加する\nfeature-2: ログアウト\n"},
		{"Japanese verbs come last", "店の話です。\nカートを実装する。\n会計を修正してください\n", nil,
			"feature-1: カートを実装する。\nfeature-2: 会計を修正してください\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, problems := FromTask(c.task, c.existing)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := show(p); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestFromTaskTruncates: a task without a list is described by its first 200 characters, and nothing of it is lost.
// TestIsList: what is one sentence, or prose, has to be divided first.
func TestIsList(t *testing.T) {
	for task, want := range map[string]bool{"- Add a": true, "1. Add a\n2. Add b": true, "Add a\nAdd b": true, "Plan:\n\n* a": true,
		"Add a":                                  false,
		"We need dates.\nThey should be parsed.": false, "": false, "We need dates.\nAdd a parser.": false,
		"日付を読む機能を追加\n表示を修正": true} {
		if got := IsList(task); got != want {
			t.Errorf("%q is a list: %t", task, got)
		}
	}
}

func TestFromTaskTruncates(t *testing.T) {
	task := strings.Repeat("店にカートを。", 60)
	p, problems := FromTask(task, nil)
	if len(problems) > 0 || len(p.Features) != 1 {
		t.Fatal(p, problems)
	}
	if f := p.Features[0]; len([]rune(f.Description)) != 200 || f.Details != task {
		t.Errorf("%d characters, details %q", len([]rune(f.Description)), f.Details)
	}
}

func TestReadMarkdown(t *testing.T) {
	for _, c := range []struct{ name, plan, want string }{
		{"checkboxes", `# Shop
Some words.

## Backend
- [x] Database
- [ ] Add the cart
  - depends on: 1
  - with a limit of 100 lines
- [ ] Add the checkout
  depends on: Add the cart
  role: backend
  files: shop/checkout.go, shop/cart.go
  verify: go test ./shop
  estimate: 1h30m
## Notes
- nothing
`, "feature-2: Add the cart | \"- with a limit of 100 lines\"\n" +
			"feature-3: Add the checkout | after feature-2 | role backend | files shop/checkout.go shop/cart.go" +
			" | verify [\"go\" \"test\" \"./shop\"] | 90m\n"},
		{"numbered list", "1. Parser\n2. Printer (depends on: 1)\n3. **Checker** (after Parser, 2)\n\n   It checks.\n", "feature-1: Parser\n" +
			"feature-2: Printer | after feature-1\nfeature-3: Checker | after feature-1 feature-2 | \"It checks.\"\n"},
		{"numbered headings", `# Plan
## Overview
It is about
- this and
- that
## 1. Parser
Reads the file.
- fast
### Notes of the parser
More.
## 2. Printer
**Depends on:** 1
**Skills:** go-testing, printing
## Risks
None.
`, "feature-1: Parser | \"Reads the file.\\n- fast\\n### Notes of the parser\\nMore.\"\n" +
			"feature-2: Printer | after feature-1 | skills go-testing printing\n"},
		{"labelled headings", "### Feature 1: Parser\n### Feature 2: Printer\ndepends on: Feature 1\n",
			"feature-1: Parser\nfeature-2: Printer | after feature-1\n"},
		{"headings with lines about them", "# P\n## Parser\nid: parser\n## Printer\nid: printer\nafter: parser\n",
			"parser: Parser\nprinter: Printer | after parser\n"},
		{"headings alone", "# P\n## Overview\nWords.\n## Parser\n## Printer\n", "feature-1: Parser\nfeature-2: Printer\n"},
		{"ids", "- `parser`: Read the file\n- **printer**: Print it (after parser)\n",
			"parser: Read the file\nprinter: Print it | after parser\n"},
		{"code is not a feature", "- Parser\n  ```sh\n  - not this\n  role: x\n  ```\n- Printer\n",
			"feature-1: Parser | \"```sh\\n- not this\\nrole: x\\n```\"\nfeature-2: Printer\n"},
		{"what explains the plan is not a feature", "# P\n## Goals\n- be fast\n### Details\n- really\n## Work\n- Parser\n- Printer\n",
			"feature-1: Parser\nfeature-2: Printer\n"},
		{"what explains a feature is its details", "## 1. Parser\n### Notes\n- careful\n", "feature-1: Parser | \"### Notes\\n- careful\"\n"},
		{"after that names no feature", "- Log out (after 30 minutes)\n- Warn (after 1 and 1)\n", "feature-1: Log out (after 30 minutes)\n" +
			"feature-2: Warn | after feature-1\n"},
		{"front matter", "---\ntitle: x\n---\n- Parser\n", "feature-1: Parser\n"},
		{"no list at all", "Add a cart to the shop.", "feature-1: Add a cart to the shop.\n"},
		{"none depends on nothing", "- A\n  depends on: none\n- B\n  depends on: なし\n", "feature-1: A\nfeature-2: B\n"},
		{"Japanese",
			"# 計画\n## 概要\n説明。\n## 機能1：解析器を作る\n役割：backend\n" +
				"ファイル：src/解析.go、src/字句.go\n## 機能2：印刷\n依存：1\n見積：45分\n検証：go test ./...\n",
			"feature-1: 解析器を作る | role backend | files src/解析.go src/字句.go\n" +
				"feature-2: 印刷 | after feature-1 | verify [\"go\" \"test\" \"./...\"] | 45m\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, problems := Read("plan.md", []byte(c.plan))
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := show(p); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestReadData(t *testing.T) {
	const want = "parser: Read the file | role backend | files src/a.go | verify [\"go\" \"test\" \"-run\" \"A B\"] | 30m\n" +
		"feature-2: Print it | after parser | skills printing | 90m | \"x\"\n"
	for file, data := range map[string]string{
		"plan.yaml": `features:
  - id: parser
    description: Read the file
    role: backend
    files: [src/a.go]
    validation: {verifyCommand: go test -run "A B", coverageTarget: 80}
    estimate: 30
  - description: Print it
    depends_on: [parser]
    skills: [printing]
    estimate: 1h30m
    details: x
    budget: {usd: 2.5, tokens: 1000}
`,
		"plan.json": `[{"id":"parser","description":"Read the file","role":"backend","files":["src/a.go"],
 "validation":{"verifyCommand":["go","test","-run","A B"],"coverageTarget":80},"estimate":30},
 {"description":"Print it","dependsOn":["parser"],"skills":["printing"],"estimate":"90m","details":"x",
 "budget":{"usd":2.5,"tokens":1000}}]`,
	} {
		p, problems := Read(file, []byte(data))
		if len(problems) > 0 {
			t.Fatal(file, problems)
		}
		if got := show(p); got != want {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
		v := p.Features[0].Validation
		if !v.Enabled || !v.TestPassRequired || !v.EnforceBlocking || v.CoverageTarget != 80 {
			t.Errorf("%s: validation %+v", file, v)
		}
		stored, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, problems := Read("stored.json", stored)
		if len(problems) > 0 || show(again) != want {
			t.Errorf("%s: what is stored is read as\n%s%v", file, show(again), problems)
		}
		var decoded Plan
		if err := json.Unmarshal(stored, &decoded); err != nil || show(decoded) != want {
			t.Errorf("%s: what is stored is decoded as\n%s%v", file, show(decoded), err)
		}
	}
}

// TestRefusals: each refusal says where, which feature and why.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("あ", 2001)
	for _, c := range []struct{ name, file, plan, want, hint string }{
		{"empty", "p.md", "", "p.md:1 the plan has no features", "a line for each"},
		{"circle", "p.md", "- A (after 3)\n- B (after 1)\n- C (after 2)\n", "p.md:1 feature feature-1: its dependencies go in a circle: " +
			"feature-1 → feature-3 → feature-2 → feature-1", "remove one"},
		{"circle behind a way", "p.yaml", "- {id: a, description: A, dependsOn: [b]}\n- {id: b, description: B, dependsOn: [c]}\n" +
			"- {id: c, description: C, dependsOn: [b]}\n", "p.yaml:2 feature b: its dependencies go in a circle: b → c → b", "remove one"},
		{"unknown", "p.yaml", "features:\n- {id: parser, description: A}\n- id: b\n  description: B\n  dependsOn: [parsr]\n",
			"p.yaml:5 feature b: it depends on parsr, which is not in the plan", `did you mean "parser"`},
		{"itself", "p.md", "- A\n- B\n  depends on: 2\n", "p.md:3 feature feature-2: it depends on itself", "remove it"},
		{"twice", "p.yaml", "- {id: a, description: A}\n- {id: b, description: B, dependsOn: [a, a]}\n",
			"p.yaml:2 feature b: it depends on a twice", "one of them"},
		{"long", "p.md", "- A\n- " + long + "\n", "p.md:2 feature feature-2: its description has 2001 characters, and 2000 is the limit",
			"shorten"},
		{"id", "p.yaml", "- {id: a/b, description: A}\n", `p.yaml:1 feature "a/b": the id is not valid`, "letters, digits"},
		{"id of Japanese", "p.yaml", "- {id: 解析, description: A}\n", `p.yaml:1 feature "解析": the id is not valid`, "letters, digits"},
		{"long id", "p.yaml", "- {id: " + strings.Repeat("a", 65) + ", description: A}\n", `p.yaml:1 feature "` + strings.Repeat("a", 63) +
			`…": the id is not valid`, "64"},
		{"duplicate", "p.yaml", "- {id: a, description: A}\n- {id: a, description: B}\n", "p.yaml:2 feature a: the id is used twice", "own id"},
		{"too many", "p.md", strings.Repeat("- A\n", 201), "p.md:201 the plan has 201 features, and 200 is the limit", "several sessions"},
		{"no description", "p.yaml", "- {id: a}\n", "p.yaml:1 feature a: it has no description", "a sentence"},
		{"file outside", "p.md", "- A\n  files: ../x.go\n", `p.md:2 feature feature-1: the file "../x.go" is not a path in the project`,
			"relative"},
		{"absolute file", "p.md", "- A\n  files: /etc/passwd\n",
			`p.md:2 feature feature-1: the file "/etc/passwd" is not a path in the project`, "relative"},
		{"bindings", "p.yaml", "- id: a\n  description: A\n  protocolBindings: [{protocolId: x}]\n",
			"p.yaml:3 feature a has protocolBindings: protocols do not exist yet, so nothing would follow them", "remove it"},
		{"includeProtocols", "p.yaml", "includeProtocols: false\nfeatures: [{description: A}]\n",
			"p.yaml:2 the plan has includeProtocols: protocols do not exist yet, so nothing would follow them", "remove it"},
		{"bindings in Markdown", "p.md", "- A\n  protocolBindings: x\n",
			"p.md:2 feature A: protocolBindings: x: protocols do not exist yet, so nothing would follow them", ""},
		{"shell", "p.md", "- A\n  verify: go vet && go test\n",
			`p.md:2 feature A: the command "go vet && go test" has "&", which only a shell understands: ` +
				"write one program and its arguments", ""},
		{"program", "p.md", "- A\n- B\n  verify: curl example.com\n",
			"p.md:3 feature feature-2: its verifyCommand: curl is not one of the programs that a verification runs", "--allow-program curl"},
		{"program in data", "p.yaml", "- id: a\n  description: A\n  validation: {verifyCommand: [sh, -c, x]}\n",
			"p.yaml:3 feature a: its verifyCommand: sh is not one of the programs that a verification runs", "--allow-program sh"},
		{"coverage of nothing", "p.yaml", "- {id: a, description: A, validation: {coverageTarget: 80}}\n",
			"p.yaml:1 feature a: its coverageTarget: coverageTarget needs a verifyCommand, whose coverage is measured", "go test"},
		{"coverage of a linter", "p.yaml", "- {id: a, description: A, validation: {coverageTarget: 80, verifyCommand: ruff check}}\n",
			"p.yaml:1 feature a: its coverageTarget: ruff check measures no coverage", "pytest"},
		{"estimate", "p.md", "- A\n  estimate: soon\n",
			`p.md:2 feature A: "soon" is no length of time: write minutes (30) or a duration (1h30m)`, ""},
		{"negative estimate", "p.yaml", "- {id: a, description: A, estimate: -1}\n", "p.yaml:1 feature a: its estimate is out of range: -1", ""},
		{"not a number", "p.yaml", "- {id: a, description: A, estimate: NaN}\n", "p.yaml:1 feature a: its estimate is out of range: NaN", ""},
		{"coverage", "p.yaml", "- {id: a, description: A, validation: {coverageTarget: 101}}\n",
			"p.yaml:1 feature a: its coverageTarget is out of range: 101", "percent"},
		{"unknown key", "p.yaml", "- {id: a, description: A, dependOn: [b]}\n", `p.yaml:1 unknown key "dependOn" in [0]`, "dependsOn"},
		{"container", "p.yaml", "- id: a\n  description: A\n  route: {isolationLevel: container}\n",
			"p.yaml:3 feature a: its isolationLevel is container, and no worker runs in a container of its own", "sandbox"},
		{"isolation", "p.yaml", "- {id: a, description: A, route: {isolationLevel: vm}}\n",
			"p.yaml:1 feature a: its isolationLevel vm is not known", "process"},
		{"parallel", "p.yaml", "- {id: a, description: A, route: {maxParallelism: 11}}\n",
			"p.yaml:1 feature a: its maxParallelism is 11, and it is from 1 to 10", ""},
		{"group", "p.yaml", "- {id: a, description: A, route: {affinityGroup: a b}}\n",
			"p.yaml:1 feature a: its affinityGroup is not valid", "letters"},
		{"both", "p.yaml", "- {id: a, description: A, route: {requiredCapabilities: [x], excludeCapabilities: [x]}}\n",
			"p.yaml:1 feature a: its route requires the skill x and excludes it", "one of them"},
		{"not UTF-8", "p.md", "- \xff\n", "p.md:0 the plan cannot be read", "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, problems := Read(c.file, []byte(c.plan))
			if len(problems) == 0 || len(p.Features) > 0 {
				t.Fatalf("accepted: %s", show(p))
			}
			got := fmt.Sprintf("%s:%d %s", problems[0].File, problems[0].Line, problems[0].Message)
			if got != c.want || !strings.Contains(problems[0].Hint, c.hint) {
				t.Errorf("got  %s (%s)\nwant %s (%s)", got, problems[0].Hint, c.want, c.hint)
			}
		})
	}
}

// TestLongPlans: a plan as long as a file may be has few problems and costs little, whatever it is made of.
func TestLongPlans(t *testing.T) {
	for name, line := range map[string]string{"items": "- a\n", "nested items": "  - a\n", "headings": "## 1. a\n",
		"text": "a\n", "estimates": "  estimate: x\n"} {
		_, problems := Read("p.md", []byte("- first\n"+strings.Repeat(line, (MaxSize-10)/len(line))))
		if name != "headings" && name != "estimates" && len(problems) != 1 || len(problems) == 0 {
			t.Errorf("%s: %d problems", name, len(problems))
		}
	}
}

func TestAdd(t *testing.T) {
	p, problems := FromTask("- A\n- B\n- C\n", nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p2, err := p.Add(Feature{Description: "D", DependsOn: []string{"feature-3"}}, "feature-1")
	if err != nil || show(p2) != "feature-1: A\nfeature-4: D | after feature-3\nfeature-2: B\nfeature-3: C\n" {
		t.Errorf("%s%v", show(p2), err)
	}
	if show(p) != "feature-1: A\nfeature-2: B\nfeature-3: C\n" {
		t.Errorf("the plan before has changed:\n%s", show(p))
	}
	for want, f := range map[string]Feature{
		"feature feature-2: the id is used twice":                                       {ID: "feature-2", Description: "D"},
		"feature feature-4: it has no description":                                      {},
		"feature feature-4: it depends on x, which is not in the plan":                  {Description: "D", DependsOn: []string{"x"}},
		"feature feature-4: its description has 2001 characters, and 2000 is the limit": {Description: strings.Repeat("d", 2001)},
	} {
		if _, err := p.Add(f, ""); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := p.Add(Feature{Description: "D"}, "feature-9"); err == nil || text.HintOf(err) == "" {
		t.Errorf("behind an unknown feature: %v", err)
	}
}

// TestDepend: row CX15 has no way into a circle.
func TestDepend(t *testing.T) {
	p, _ := FromTask("- A\n- B\n- C\n", nil)
	p, err := p.Depend("feature-2", []string{"feature-1"})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = p.Depend("feature-3", []string{"feature-2"}); err != nil {
		t.Fatal(err)
	}
	for want, on := range map[string]string{
		"feature feature-1: its dependencies go in a circle: feature-1 → feature-3 → feature-2 → feature-1": "feature-3",
		"feature feature-1: it depends on itself":                          "feature-1",
		"feature feature-1: it depends on other, which is not in the plan": "other",
	} {
		if _, err := p.Depend("feature-1", []string{on}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := p.Depend("feature-7", nil); err == nil {
		t.Error("an unknown feature may depend")
	}
	if p, err = p.Depend("feature-3", nil); err != nil || len(p.Features[2].DependsOn) > 0 {
		t.Errorf("an empty list does not clear: %v %v", p, err)
	}
	if f, ok := p.Feature("feature-2"); !ok || f.Description != "B" || !slices.Equal(f.DependsOn, []string{"feature-1"}) {
		t.Errorf("%+v", f)
	}
}

func TestComplexity(t *testing.T) {
	for _, c := range []struct {
		feature Feature
		want    Complexity
		advice  Advice
	}{
		{Feature{Description: "Fix a typo"}, Complexity{Total: 1, Length: 1}, Simple},
		{Feature{Description: "Allow small shops"}, Complexity{Total: 1, Length: 1}, Simple},
		{Feature{Description: "Refactor the authentication across the entire backend service"}, Complexity{Total: 38, Length: 6, Keywords: 12,
			Scope:       15,
			TouchPoints: 3, Dependencies: 0, Found: nil}, Simple},
		{Feature{Description: "Migrate the whole database schema to a distributed, encrypted, " +
			"concurrent store with transactions and rollback for every module",
			DependsOn: []string{"a", "b", "c"}, Files: []string{"db/", "store/x.go"}}, Complexity{Length: 12, Keywords: 30, Scope: 15,
			Dependencies: 9, TouchPoints: 9}, Compete},
		{Feature{Description: "認証と暗号を全体に移行する設計", DependsOn: []string{"1", "2", "3", "4", "5", "6"}},
			Complexity{Length: 3, Keywords: 18, Scope: 7, Dependencies: 15}, Review},
		{Feature{Description: "Touch src/a.go, src/b.go and UserService"}, Complexity{Length: 4, TouchPoints: 9}, Simple},
	} {
		got := Score(c.feature)
		c.want.Total, got.Found = c.want.Length+c.want.Keywords+c.want.Scope+c.want.Dependencies+c.want.TouchPoints, nil
		if fmt.Sprint(got) != fmt.Sprint(c.want) || got.Advise(Threshold) != c.advice {
			t.Errorf("%s: %+v %s, want %+v %s", c.feature.Description, got, got.Advise(Threshold), c.want, c.advice)
		}
	}
	for total, want := range map[int]Advice{60: Compete, 59: Review, 42: Review, 41: Simple} {
		if got := (Complexity{Total: total}).Advise(60); got != want {
			t.Errorf("%d: %s, want %s", total, got, want)
		}
	}
}

func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		a, b Feature
		want string
	}{
		{Feature{Files: []string{"src/a.go"}}, Feature{Files: []string{"src/a.go", "b.go"}}, "file src/a.go"},
		{Feature{Files: []string{"src/"}}, Feature{Files: []string{"src/x/a.go"}}, "file src/x/a.go"},
		{Feature{Files: []string{"src/**"}}, Feature{Description: "Change src/a.go."}, "file src/a.go"},
		{Feature{Files: []string{"./src/a.go"}}, Feature{Files: []string{"src/a.go"}}, "file src/a.go"},
		{Feature{Files: []string{"src/a.go"}}, Feature{Files: []string{"src/b.go"}}, "folder src"},
		{Feature{Files: []string{"a.go"}}, Feature{Files: []string{"b.go"}}, ""},
		{Feature{Description: "Test `package.json`"}, Feature{Description: "Add a script to package.json"}, "file package.json"},
		{Feature{Description: "Extend UserService"}, Feature{Description: "Document the user service"}, "component userservice"},
		{Feature{Description: "Add the login page"}, Feature{Description: "Translate the login page"}, "component loginpage"},
		{Feature{Description: "Add a page"}, Feature{Description: "Translate the page"}, ""},
		{Feature{Description: "Refactor the parser"}, Feature{Description: "Refactoring of the printer"}, "action refactor"},
		{Feature{Description: "Read and/or write"}, Feature{Description: "Read and/or print"}, ""},
		{Feature{Description: "注文画面を作る"}, Feature{Description: "新しい注文画面に色を付ける"}, "component 注文画面"},
		{Feature{Description: "src/解析.goを直す"}, Feature{Files: []string{"src/"}}, "file src/"},
		{Feature{Description: "認証を刷新する"}, Feature{Description: "印刷を刷新する"}, "action 刷新"},
	} {
		c.a.ID, c.b.ID = "a", "b"
		got := ""
		for _, f := range Conflicts([]Feature{c.a, c.b}) {
			got = string(f.Kind) + " " + strings.Join(f.What, " ")
			if f.SameFiles() != (f.Kind == SameFile || f.Kind == SameComponent) || f.A != "a" || f.B != "b" {
				t.Errorf("%+v", f)
			}
		}
		if got != c.want {
			t.Errorf("%+v and %+v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	three := []Feature{{ID: "a", Files: []string{"x.go"}}, {ID: "b", Files: []string{"x.go", "y.go"}}, {ID: "c", Files: []string{"y.go"}}}
	if got := Apart(three); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("apart: %v", got)
	}
}

// laws fails for a plan that breaks one.
func laws(t testing.TB, p Plan) {
	t.Helper()
	at := map[string]int{}
	for i, f := range p.Features {
		if _, twice := at[f.ID]; twice || !isID(f.ID) || strings.TrimSpace(f.Description) == "" || len([]rune(f.Description)) > maxDescription {
			t.Fatalf("feature %d breaks a law: %+v", i, f)
		}
		at[f.ID] = i
	}
	left := slices.Clone(p.Features) // a plan without a circle can be worked off
	for len(left) > 0 {
		n := len(left)
		left = slices.DeleteFunc(left, func(f Feature) bool {
			return !slices.ContainsFunc(f.DependsOn, func(on string) bool {
				if _, ok := at[on]; !ok {
					t.Fatalf("%s depends on %s", f.ID, on)
				}
				return slices.ContainsFunc(left, func(o Feature) bool { return o.ID == on })
			})
		})
		if len(left) == n {
			t.Fatalf("a circle among %v", left)
		}
	}
}

// TestPlanLaws: whatever is added and set, the plan keeps its laws or stays as it was.
func TestPlanLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "feature-1", "feature-3", "a/b"})
		p, problems := New([]Feature{{Description: "first"}})
		if len(problems) > 0 {
			rt.Fatal(problems)
		}
		for range rapid.IntRange(1, 25).Draw(rt, "acts") {
			var next Plan
			var err error
			if on := rapid.SliceOfN(id, 0, 3).Draw(rt, "on"); rapid.Bool().Draw(rt, "add") {
				next, err = p.Add(Feature{ID: id.Draw(rt, "id"), Description: "x", DependsOn: on}, id.Draw(rt, "after"))
			} else {
				next, err = p.Depend(id.Draw(rt, "id"), on)
			}
			if err == nil {
				p = next
			} else if err.Error() == "" || len(next.Features) > 0 {
				rt.Fatalf("%v %v", next, err)
			}
			laws(t, p)
		}
	})
}

// FuzzRead: no text panics, and what is read keeps the laws and can be stored and read again.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"- [ ] A\n  depends on: 2\n- B", "## 1. A\nrole: x\n## 2. B\nafter: 1",
		"features: [{id: a, description: b}]", "1. あ\n２．い（依存：1）",
		"Add a\nfix b", "```\n- a", "---\nx: y\n---\n- **a**: b", "[{\"description\": \"x\", \"estimate\": \"1h\"}]", "- a (after )",
		"#\n# \n##", "- verify: \"x"} {
		for i := range 4 {
			f.Add(s, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, s string, form byte) {
		p, problems := Read("p"+[]string{".md", ".yaml", ".json", ""}[form%4], []byte(s))
		if len(problems) > 0 {
			if len(p.Features) > 0 {
				t.Fatal("problems and features")
			}
			return
		}
		laws(t, p)
		Conflicts(p.Features)
		for _, f := range p.Features {
			if c := Score(f); c.Total < 0 || c.Total > 100 {
				t.Fatalf("%+v", c)
			}
		}
		stored, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again Plan
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		if _, problems := New(again.Features); len(problems) > 0 || show(again) != show(p) {
			t.Fatalf("stored and read again: %v\n%s\n%s", problems, show(again), show(p))
		}
	})
}

// What a shell would do more with is refused in a command that is written as a text, also at its end, which is not trimmed before. In a
// list it is an argument like others.
func TestCommandsHaveNoShell(t *testing.T) {
	for _, more := range []string{" && x", " || x", "; x", " | x", " $(x)", " `x`", " > x", " < x", " &", "\n", "\r\n", "\nrm x"} {
		if argv, err := ParseCommand("go test" + more); err == nil {
			t.Errorf("%q becomes %q", more, argv)
		}
	}
	p, problems := Read("p.yaml", []byte("- {id: a, description: A, validation: {verifyCommand: [named, 'A|B']}}\n"), "named")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if p, err := p.Add(Feature{Description: "B"}, ""); err != nil || len(p.Programs) != 1 { // the plan keeps what a person has allowed
		t.Errorf("%+v, %v", p, err)
	}
}
