package exchange

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mycelium/internal/memory"
)

// TestRead: the files of each tool become notes, with their type and where they stood.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		format, name, data string
		want               []Note
	}{
		{"claude", "/x/CLAUDE.md", "# Shop\n\nUse tabs\nand no spaces.\n\n## Preferences\n- Short answers\n" +
			"  in English\n\n  second part\n- Tests first\n" +
			"```sh\ngo test ./...\n\nmake\n```\n<!-- a comment -->\nlast\n", []Note{
			{Content: "Use tabs\nand no spaces.", Source: "claude:CLAUDE.md#Shop"},
			{Content: "Short answers\nin English\n\nsecond part", Type: "preference", Source: "claude:CLAUDE.md#Preferences"},
			{Content: "Tests first\n```sh\ngo test ./...\n\nmake\n```", Type: "preference", Source: "claude:CLAUDE.md#Preferences"},
			{Content: "last", Type: "preference", Source: "claude:CLAUDE.md#Preferences"},
		}},
		{"claude", "user_role.md", "---\nname: user-role\ndescription: \"Who it is\"\ntype: user\n---\n" +
			"\nA data scientist.\n\n- new to Go\n", []Note{
			{Content: "A data scientist.\n\n- new to Go", Type: "preference", Tags: []string{"user-role"}, Source: "claude:user_role.md"}}},
		{"codex", "AGENTS.md", "- Run make lint.\r\n- 日本語で答える。\r\n", []Note{{Content: "Run make lint.", Source: "codex:AGENTS.md"},
			{Content: "日本語で答える。", Source: "codex:AGENTS.md"}}},
		{"gemini", "GEMINI.md", "# Rules\n- a rule\n\n## Gemini Added Memories\n- likes tea\n" +
			"- lives in Kyoto\n\n# More\n- not a memory\n", []Note{
			{Content: "likes tea", Source: "gemini:GEMINI.md#Gemini Added Memories"},
			{Content: "lives in Kyoto", Source: "gemini:GEMINI.md#Gemini Added Memories"}}},
		{"mcp", "memory.json", `{"type":"entity","name":"Ann","entityType":"person","observations":["speaks Go","is in Oslo"]}` + "\n" +
			`{"type":"relation","from":"Ann","to":"Shop","relationType":"owns"}`, []Note{
			{Content: "Ann: speaks Go", Source: "mcp:memory.json"}, {Content: "Ann: is in Oslo", Source: "mcp:memory.json"},
			{Content: "Ann owns Shop", Type: "fact", Source: "mcp:memory.json"}}},
		{"claude", "empty.md", "", nil},
	} {
		got, err := Read(c.format, c.name, []byte(c.data))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
		}
	}
	for format, data := range map[string]string{"mcp": "{", "claud": ""} {
		if _, err := Read(format, "x", []byte(data)); err == nil {
			t.Errorf("%s %q is read", format, data)
		}
	}
}

// TestLawImportOfAnExport: what is exported and imported again adds nothing, and a second export changes nothing in the file around it.
func TestLawImportOfAnExport(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		own := filepath.Join(dir, rapid.StringMatching("[a-z]{12}").Draw(t, "dir"))
		f := memory.Folder{Dir: own, Locks: filepath.Join(own, "locks")}
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"one thing", "日本語の設定", "a: b", "x - y", "it's (so)", "#1 of them", "v1.2"}), 1, 3)
		now := time.UnixMilli(1e12)
		var notes []Note
		for _, text := range rapid.SliceOfN(lines, 1, 5).Draw(t, "notes") {
			notes = append(notes, Note{Content: strings.Join(text, rapid.SampledFrom([]string{"\n", "\n\n"}).Draw(t, "between")),
				Type: rapid.SampledFrom(memory.Types()).Draw(t, "type")})
		}
		if _, err := Add(f, "r", notes, now); err != nil {
			t.Fatal(err)
		}
		d, _, err := f.Read("r")
		if err != nil {
			t.Fatal(err)
		}
		format := rapid.SampledFrom(Formats()).Draw(t, "format")
		written, err := Write(format, d.Entries())
		if err != nil {
			t.Fatal(err)
		}
		around := "# Mine\n\nmy own text\n"
		if format == "mcp" {
			around = `{"type":"relation","from":"a","to":"b","relationType":"is"}` + "\n"
		}
		file := Merge(format, []byte(around), written)
		if !strings.HasPrefix(string(file), around) || string(Merge(format, file, written)) != string(file) {
			t.Fatalf("the file is not as it was:\n%s", Merge(format, file, written))
		}
		again, err := Read(format, "x", written)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Add(f, "r", again, now)
		if err != nil || got.Added != 0 || got.Known != len(again) || len(again) != len(d.Entries()) {
			t.Fatalf("%+v, %v; %d notes of %d entries\n%s\n%+v", got, err, len(again), len(d.Entries()), written, again)
		}
	})
}

// FuzzRead: no file makes it panic, and what it reads can be kept or is refused.
func FuzzRead(f *testing.F) {
	f.Add("claude", "---\nname: x\n---\n- a\n```\n")
	f.Add("mcp", `{"type":"entity","observations":[""]}`)
	f.Add("gemini", "## Gemini Added Memories\n-")
	f.Fuzz(func(t *testing.T, format, data string) {
		notes, err := Read(format, "x", []byte(data))
		if err != nil && notes != nil {
			t.Fatal("an error with notes")
		}
		for _, n := range notes {
			if n.Content != memory.Clean(n.Content) {
				t.Fatalf("%q is not clean", n.Content)
			}
		}
	})
}
