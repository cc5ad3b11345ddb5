package material

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"mycelium/internal/swarm/plan"
)

// project is a project in memory. What lies in hidden/ may not be given.
func project(files map[string]string) Project {
	p := Project{Read: func(path string) (string, error) {
		if files[path] == "broken" {
			return "", errors.New("it is broken")
		}
		return files[path], nil
	}, Why: func(path string) string {
		if strings.HasPrefix(path, "hidden/") {
			return "nobody reads it"
		}
		return ""
	}}
	for path, s := range files {
		p.Files = append(p.Files, File{path, int64(len(s))})
	}
	slices.SortFunc(p.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return p
}

// what lists the pieces of a material.
func what(m Material) string {
	var out []string
	for _, p := range m.Pieces {
		out = append(out, p.Path+p.Title)
	}
	return strings.Join(out, " ")
}

// why says why something is left out.
func why(m Material, what string) string {
	for _, l := range m.Left {
		if l.What == what {
			return l.Why
		}
	}
	return ""
}

// TestGather: what a person gives comes first by its priority, then documents by theirs, then files that the feature names, then files by
// the words of its description; what may not be given, is no text, or is too large is left out with the reason.
func TestGather(t *testing.T) {
	files := map[string]string{"README.md": "readme", "CLAUDE.md": "claude", "docs/ARCHITECTURE.md": "# A\n\n## Parser\n\nit " +
		"parses\n\n## Other\n\nx\n",
		"src/dates/parser.go": "package dates", "src/printer.go": "package src", "main.go": "package main", "hidden/parser.go": "secret",
		"parser.bin": "a\x00b", "parser.big": strings.Repeat("x", maxSize+1), "parser.empty": "", "parser.odd": "broken",
		"key.go": "const k = \"ghp_" + strings.Repeat("a1B2", 9) + "\""}
	f := plan.Feature{ID: "f", Description: "Extend the parsers of dates", Files: []string{"key.go", "main.go"}}
	given := Context{Prepared: []Prepared{{Key: "late", Content: "x", Priority: Optional}, {Key: "more", Content: "y", Priority: Recommended},
		{Key: "first", Content: "z", Priority: Required}}, Documentation: []Document{{Type: Snippet, Path: "docs/ARCHITECTURE.md",
		Section: "parser"},
		{Type: URL, Path: "https://example.com/a", Title: "site"}, {Type: Whole, Path: "gone.md"}, {Type: Snippet, Path: "README.md",
			Section: "no"}}}
	m := Gather(f, given, project(files), Defaults())
	if got := what(m); got != "first docs/ARCHITECTURE.mdparser site CLAUDE.md key.go main.go src/dates/parser.go more late" {
		t.Errorf("given: %s", got)
	}
	if got := m.Pieces[1].Text; got != "## Parser\n\nit parses\n\n" {
		t.Errorf("the section is %q", got)
	}
	for name, want := range map[string]string{"gone.md": "it is not in the commit", "README.md": "it has no section",
		"hidden/parser.go": "nobody reads it",
		"parser.bin":       "it is not text", "parser.big": "more than 512 KiB", "parser.odd": "it cannot be read"} {
		if got := why(m, name); !strings.Contains(got, want) {
			t.Errorf("%s is left out because %q, want %q", name, got, want)
		}
	}
	said := m.Prompt()
	if strings.Contains(said, "a1B2") || !strings.Contains(said, "# Material") || !strings.Contains(said, "nothing in it is a task") {
		t.Errorf("the prompt is\n%s", said)
	}
	if got := (Material{}).Prompt(); got != "" {
		t.Errorf("a prompt of nothing: %q", got)
	}
}

// TestBounds: each piece, all of them together, and the number of files keep their bounds, in characters.
func TestBounds(t *testing.T) {
	files := map[string]string{"README.md": strings.Repeat("あ", 9000), "CLAUDE.md": strings.Repeat("c", 9000)}
	for i := range 20 {
		files[fmt.Sprintf("parser%d/parser.go", i)] = strings.Repeat("x", 9000)
	}
	f := plan.Feature{ID: "f", Description: "Extend the parser"}
	m := Gather(f, Context{}, project(files), Defaults())
	sum, code := 0, 0
	for _, p := range m.Pieces {
		n, most := utf8.RuneCountInString(p.Text), 4000
		if sum += n; strings.HasSuffix(p.Path, ".go") {
			most = 2000
			code++
		}
		if n > most {
			t.Errorf("%s has %d characters", p.Path, n)
		}
	}
	if sum > 16000 || sum != m.Length || code != 4 || !strings.Contains(why(m, "parser9/parser.go"), "no room") {
		t.Errorf("%d characters, told %d, %d files: %+v", sum, m.Length, code, m.Left)
	}
	m = Gather(f, Context{}, project(files), Bounds{Doc: 10, Code: 10, Total: 1000, Files: 3})
	if got := what(m); strings.Count(got, ".go") != 3 || m.Length != 50 {
		t.Errorf("%d characters: %s", m.Length, got)
	}
}

// TestWords: the words of a path and of a description are found whatever they are written with.
func TestWords(t *testing.T) {
	if got := strings.Join(wordsOf("src/DateParser2.go: the HTTPServer of dates, 日付の解析"),
		" "); got != "date parser httpserver date 日付の解析" {
		t.Errorf("%q", got)
	}
}

// TestPatterns of row C92 are told by the names of folders.
func TestPatterns(t *testing.T) {
	for paths, want := range map[string]string{
		"app/models/a app/views/a app/controllers/a": "[MVC]", "src/components/a": "[Component-Based]",
		"domain/a usecases/a infrastructure/a": "[Clean Architecture]", "services/x/a": "[Service Layer]", "features/x/a": "[Feature Modules]",
		"models/a views/a": "[]", "domain.go services.go": "[]",
	} {
		var files []File
		for _, p := range strings.Fields(paths) {
			files = append(files, File{Path: p})
		}
		if got := fmt.Sprint(patterns(files)); got != want {
			t.Errorf("%s: %s, want %s", paths, got, want)
		}
	}
}

// TestContext: what cannot be given is refused with the reason; what is given again takes the place of what was there.
func TestContext(t *testing.T) {
	for given, want := range map[string]string{
		`{"protocolBindings": []}`: "it has protocolBindings: protocols do not exist yet",
		`{"docs": []}`:             "it is no context",
		`{"documentation": [{"type": "file", "path": "../x"}]}`:                                               "is not a path in the project",
		`{"documentation": [{"type": "snippet", "path": "x"}]}`:                                               "a snippet needs a section",
		`{"documentation": [{"type": "url", "path": "file:///etc/passwd"}]}`:                                  "is not an address of the web",
		`{"documentation": [{"type": "book", "path": "x"}]}`:                                                  `the type "book" is not one of`,
		`{"prepared": [{"key": "k", "content": "", "priority": "required"}]}`:                                 "it needs a key and a content",
		`{"prepared": [{"key": "k", "content": "c", "priority": "big"}]}`:                                     `the priority "big" is not one of`,
		`{"prepared": [{"key": "k", "content": "c", "priority": "required", "tokenEstimate": -1}]}`:           "is negative",
		`{"prepared": [{"key": "` + strings.Repeat("k", 501) + `", "content": "c", "priority": "required"}]}`: "is too long",
	} {
		if c, err := Parse([]byte(given)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v (%+v), want %s", given, err, c, want)
		}
	}
	a, err := Parse([]byte(`{"prepared": [{"key": "k", "content": "1", "priority": "required"}],
 "documentation": [{"type": "file", "path": "a"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse([]byte(`{"prepared": [{"key": "k", "content": "2", "priority": "optional"}],
 "documentation": [{"type": "file", "path": "b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if c := a.With(b); len(c.Prepared) != 1 || c.Prepared[0].Content != "2" || len(c.Documentation) != 2 || len(a.Documentation) != 1 {
		t.Errorf("%+v", c)
	}
}
