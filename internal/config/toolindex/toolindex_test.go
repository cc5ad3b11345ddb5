package toolindex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mycelium/internal/backend"
	"mycelium/internal/config/source"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/yamlfile"
)

func tool(id string) policy.Item {
	it, err := policy.ParseTool(id)
	if err != nil {
		panic(err)
	}
	return it
}

func writeCategories(t *testing.T, dir, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(state.Categories))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// indexedTool is a tool as an index file has it.
type indexedTool struct {
	ID          string         `yaml:"id" json:"id"`
	Name        string         `yaml:"name" json:"name"`
	Description string         `yaml:"description" json:"description"`
	Category    string         `yaml:"category" json:"category"`
	Mutates     bool           `yaml:"mutates" json:"mutates"`
	Parameters  map[string]any `yaml:"parameters" json:"parameters,omitempty"`
}

// index is a tool index as it was read.
type index struct {
	GeneratedAt time.Time     `yaml:"generatedAt" json:"generatedAt"`
	SourceHash  string        `yaml:"sourceHash" json:"sourceHash"`
	Tools       []indexedTool `yaml:"tools" json:"tools"`
}

// readIndex reads an index file, ours or one of the founding documents'.
func readIndex(file string, data []byte) (index, []policy.Problem) {
	var x index
	problems := yamlfile.Decode(file, data, &x)
	if source.Faulty(problems) {
		return index{}, problems
	}
	return x, problems
}

// TestFoundingIndex: the index in the founding documents has the form of ours.
func TestFoundingIndex(t *testing.T) {
	data, err := os.ReadFile("../testdata/seeds/003-tools-index.yaml")
	if err != nil {
		t.Fatal(err)
	}
	x, problems := readIndex("index.yaml", data)
	if len(problems) > 0 || len(x.Tools) != 2 || x.SourceHash != "abc123..." || x.Tools[1].ID != "write_file" || !x.Tools[1].Mutates ||
		x.GeneratedAt.Year() != 2025 {
		t.Errorf("%+v %+v", problems, x)
	}
}

func definition(id, raw string, readOnly bool) policy.Definition {
	d := policy.Definition{Item: tool(id), Raw: []byte(raw)}
	if readOnly {
		d.Annotations = map[string]bool{"readOnlyHint": true}
	}
	return d
}

func TestHumanise(t *testing.T) {
	for id, want := range map[string]string{
		"chain:status": "Chain Status", "files__read_file": "Read File", "readFile": "Read File", "a__get-URL": "Get URL",
		"read_file": "Read File", "x__": "X", "a__b.c": "B C", "日本__語": "語",
	} {
		if got := Humanise(id); got != want {
			t.Errorf("Humanise(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestCategoryOfATool(t *testing.T) {
	dir := t.TempDir()
	writeCategories(t, dir, "categories:\n  - {id: mine, name: Mine, order: 1, tools: [\"files__read_*\"]}\n")
	c, err := Read(dir, []backend.Server{{Name: "pg", Category: "database"}})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"files__read_file": "mine", "files__write_file": "filesystem", "files__search_files": "search", "pg__read_file": "database",
		"x__run_command": "command", "x__git_diff": "vcs", "x__fetch": "network", "x__task_list": "task", "x__chain_status": "chain",
		"x__spawn_session": "session", "x__execute": "execution", "x__greet": "general", "x__profile": "general",
	} {
		if got := c.Describe(definition(id, `{"name":"x"}`, false)).Category; got != want {
			t.Errorf("%s is in %s, want %s", id, got, want)
		}
	}
	if got := c.Describe(definition("x__do", `{"description":"Downloads a page."}`, false)).Category; got != "general" {
		t.Errorf("only whole words count: %s", got)
	}
	if got := c.Describe(definition("x__do", `{"description":"Sends a request to a server."}`, false)).Category; got != "network" {
		t.Errorf("by description: %s", got)
	}
}

// TestEveryGroupHasACategory: what policy says that a tool is about is the id of a category.
func TestEveryGroupHasACategory(t *testing.T) {
	for _, word := range []string{"git", "grep", "chain", "todo", "session", "shell", "exec", "browser", "folder", "frobnicate"} {
		group := policy.GroupOf(word)
		if !slices.ContainsFunc(defaultCategories, func(c Category) bool { return c.ID == group }) {
			t.Errorf("%s is about %s, which is no category", word, group)
		}
	}
}

func TestDescribe(t *testing.T) {
	c := &Categories{}
	d := c.Describe(definition("a__b", `{"name":"b","title":"Bee","description":"Does b.","inputSchema":{"type":"object"}}`, true))
	want := Entry{ID: "a__b", Name: "B", Title: "Bee", Description: "Does b.", Category: "general", Parameters: []byte(`{"type":"object"}`)}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if d := c.Describe(definition("a__b", `not JSON`, false)); !d.Mutates || d.Title != "B" {
		t.Errorf("%+v", d)
	}
	claims := `{"annotations":{"readOnlyHint":true}}`
	if d := c.Describe(definition("a__b", claims, false)); Does(d.Mutates, d.SaysReads) != "says reads" {
		t.Errorf("a server that is not trusted: %+v", d)
	}
	if d := c.Describe(definition("a__b", claims, true)); Does(d.Mutates, d.SaysReads) != "reads" {
		t.Errorf("a server that is trusted: %+v", d)
	}
}

func TestToolIndex(t *testing.T) {
	defs := []policy.Definition{
		definition("z__last", `{}`, false),
		definition("files__read_file", `{"description":"Read: the \"contents\"\n# of a `+
			`file","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"yes"},"n":{"type":"integer","minimum":0,`+
			`"maximum":1e3}},"required":["path"],"additionalProperties":false}}`, true),
		{Item: policy.Item{Kind: policy.Prompt, Server: "a", Name: "p"}},
	}
	c := &Categories{list: defaultCategories}
	data, hash, err := c.Index(defs, time.Date(2026, 11, 21, 1, 2, 3, 4, time.FixedZone("", 3600)))
	if err != nil {
		t.Fatal(err)
	}
	want := `# AUTO-GENERATED by ` + "`myc tools sync`" + `
# Do not edit manually - changes will be overwritten

generatedAt: 2026-11-21T00:02:03Z
sourceHash: ` + yamlfile.Text(hash) + `

tools:
  - id: files__read_file
    name: Read File
    description: "Read: the \"contents\"\n# of a file"
    category: filesystem
    mutates: false
    parameters:
      type: object
      properties:
        path:
          type: string
          description: "yes"
        "n":
          type: integer
          minimum: 0
          maximum: 1e3
      required:
        - path
      additionalProperties: false

  - id: z__last
    name: Last
    description: ""
    category: general
    mutates: true
`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
	x, problems := readIndex("index.yaml", data)
	if len(problems) > 0 || x.SourceHash != hash || len(x.Tools) != 2 || x.Tools[0].Description != "Read: the \"contents\"\n# of a file" {
		t.Errorf("%+v %+v", problems, x)
	}
	if empty, _, err := c.Index(nil, time.Now()); err != nil || !strings.HasSuffix(string(empty), "tools: []\n") {
		t.Errorf("%s %v", empty, err)
	}
	if _, _, err := c.Index([]policy.Definition{definition("a__b", `{"inputSchema":{"a":1,"a":2}}`, false)}, time.Now()); err != nil {
		t.Errorf("a definition that cannot be read must not stop the rest: %v", err)
	}
}

func TestSourceHash(t *testing.T) {
	a, b := definition("a__b", `{"x":1,"y":[1,2]}`, false), definition("a__c", `{}`, false)
	base := SourceHash([]policy.Definition{a, b})
	same := SourceHash([]policy.Definition{b, definition("a__b", `{ "y": [1, 2], "x": 1.0 }`, false)})
	if base != same {
		t.Error("order and spacing changed the hash")
	}
	for _, other := range [][]policy.Definition{
		{a}, {a, definition("a__c", `{"d":1}`, false)}, {a, definition("a__c", `{}`, true)}, {a, definition("a__d", `{}`, false)},
		{a, definition("a__c", `[`, false)},
	} {
		if SourceHash(other) == base {
			t.Errorf("%v has the same hash", other)
		}
	}
}

// TestParametersRoundTrip: any JSON object comes back from the index as it was.
func TestParametersRoundTrip(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] { return anyJSON(3) })
	rapid.Check(t, func(t *rapid.T) {
		params := rapid.MapOfN(rapid.String(), value, 0, 4).Draw(t, "parameters")
		raw, err := json.Marshal(map[string]any{"inputSchema": params})
		if err != nil {
			t.Fatal(err)
		}
		data, _, err := (&Categories{}).Index([]policy.Definition{definition("a__b", string(raw), false)}, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		x, problems := readIndex("x", data)
		if len(problems) > 0 {
			t.Fatalf("%+v\n%s", problems, data)
		}
		got, err := json.Marshal(x.Tools[0].Parameters)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(params)
		if len(params) > 0 && string(got) != string(want) {
			t.Fatalf("got %s, want %s\n%s", got, want, data)
		}
	})
}

func anyJSON(depth int) *rapid.Generator[any] {
	leaves := []*rapid.Generator[any]{
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Map(rapid.Int32(), func(i int32) any { return i }),
	}
	if depth > 0 {
		inner := anyJSON(depth - 1)
		leaves = append(leaves,
			rapid.Map(rapid.SliceOfN(inner, 0, 3), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 3), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(leaves...)
}

func TestCategoriesAreKeptAndExtended(t *testing.T) {
	dir, servers := t.TempDir(), []backend.Server{{Name: "pg", Category: "database"}}
	render := func() string {
		t.Helper()
		c, err := Read(dir, servers)
		if err != nil {
			t.Fatal(err)
		}
		data, err := c.Render()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	first := render()
	for _, s := range []string{"# Categories of tools", "- id: filesystem\n", "- id: command\n", "order: 6\n", "- id: database\n",
		"order: 11\n"} {
		if !strings.Contains(first, s) {
			t.Errorf("%q is missing in\n%s", s, first)
		}
	}
	writeCategories(t, dir, first)
	if again := render(); again != first {
		t.Errorf("not stable:\n%s", again)
	}
	mine := "# mine\ncategories:\n    # the only one that matters\n    - id: search   # first\n      name: Suche\n      order: 20"
	writeCategories(t, dir, mine)
	got := render()
	if !strings.HasPrefix(got, mine+"\n    - id: filesystem\n      name: Filesystem\n") || strings.Count(got, "id: search") != 1 ||
		!strings.Contains(got, "    - id: database\n      name: Database\n      order: 21\n") {
		t.Errorf("extended to\n%s", got)
	}
	for _, comments := range []string{"", "# nothing yet\n"} {
		writeCategories(t, dir, comments)
		if got := render(); !strings.HasPrefix(got, comments) || !strings.Contains(got, "- id: filesystem") {
			t.Errorf("from %q:\n%s", comments, got)
		}
	}
	for _, odd := range []string{"categories: [{id: a, name: A, order: 1}]\n", "categories: []\n"} {
		writeCategories(t, dir, odd)
		c, err := Read(dir, servers)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := c.Render(); err == nil {
			t.Errorf("%q was extended to\n%s", odd, data)
		}
	}
	for text, want := range map[string]string{
		"categories:\n  - id: A b\n":          `.mycelium/tools/categories.yaml:2: category id is "A b"`,
		"categories:\n  - id: a\n  - id: a\n": `.mycelium/tools/categories.yaml:3: category "a" is there twice`,
		"categories:\n  - {id: a, oder: 1}\n": `.mycelium/tools/categories.yaml:2: unknown key "oder" in ` +
			`categories[0]`,
		"categories:\n  - {id: a, name: A, order: 1, tools: [read file]}\n": `.mycelium/tools/categories.yaml:2: tool name "read file"`,
	} {
		writeCategories(t, dir, text)
		if _, err := Read(dir, servers); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestControlToolsAreOfTheSession: their words (file, list) say nothing about what they touch.
func TestControlToolsAreOfTheSession(t *testing.T) {
	c := &Categories{}
	for _, name := range []string{"get_resource", "list_commands", "set_thinking"} {
		d := policy.Definition{Item: policy.Item{Server: policy.SkillsServer, Name: name}, Raw: []byte(`{"description":"Reads one file."}`)}
		if got := c.Describe(d).Category; got != "session" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// FuzzCategories: any categories.yaml is either refused or kept, extended and then stable.
func FuzzCategories(f *testing.F) {
	f.Add([]byte("categories:\n  - {id: a, name: A, order: 1}\n"))
	f.Add([]byte("# x\n"))
	f.Add([]byte("categories:\n- id: a\n  tools:\n  - a__b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, problems := parseCategories(data)
		if source.Faulty(problems) {
			return
		}
		out, err := (&Categories{list: list, text: data}).Render()
		if err != nil {
			return
		}
		again, problems := parseCategories(out)
		if source.Faulty(problems) {
			t.Fatalf("extended to what cannot be read: %+v\n%s", problems, out)
		}
		stable, err := (&Categories{list: again, text: out}).Render()
		if err != nil || string(stable) != string(out) {
			t.Fatalf("not stable: %v\n%s", err, stable)
		}
	})
}
