package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

var began = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func feature(id, description string, state book.State, verify ...string) *book.Feature {
	f := plan.Feature{ID: id, Description: description}
	if len(verify) > 0 {
		f.Validation = &plan.Validation{Enabled: true, VerifyCommand: verify}
	}
	return &book.Feature{Feature: f, State: state}
}

func views(t *testing.T, s *book.Session, events []book.Event, at Place) map[string]string {
	t.Helper()
	files, err := Files(s, events, at)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		if out[f.Name] = f.Data; !strings.HasPrefix(f.Data, f.Head) || f.Head == "" || f.Program != (f.Name == Init) {
			t.Errorf("%s: head %q, program %v", f.Name, f.Head, f.Program)
		}
	}
	return out
}

func TestFiles(t *testing.T) {
	s := &book.Session{ID: "s1", State: book.Going, Changed: began}
	for _, state := range []book.State{book.Pending, book.Going, book.Designing, book.Queued, book.Waiting, book.Completed, book.Failed} {
		s.Features = append(s.Features, feature("f-"+string(state), "Add \"it\"\nnow", state))
	}
	events := []book.Event{}
	for i := range 150 {
		at := began.Add(time.Duration(i) * time.Second)
		events = append(events, book.Event{At: at, Feature: "f", Attempt: 1, Text: fmt.Sprint("entry\n", i)})
	}
	events = append(events, book.Event{At: began, Text: "the session is paused \x1b[2J"})
	got := views(t, s, events, Place{Repository: "/r"})

	lines := strings.Split(strings.TrimSuffix(got[Progress], "\n"), "\n")
	if len(lines) != 4+Entries || lines[4] != "2026-11-26T12:00:51Z  f#1: entry 51" ||
		lines[len(lines)-1] != `2026-11-26T12:00:00Z  the session is paused \x1b[2J` || !strings.Contains(lines[1], "1 of 7 features landed") {
		t.Errorf("%d lines:\n%s\n%s\n%s", len(lines), lines[1], lines[4], lines[len(lines)-1])
	}

	var list struct {
		GeneratedBy, Session string
		Features             []map[string]any
	}
	if err := json.Unmarshal([]byte(got[Features]), &list, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, f := range list.Features {
		states[f["id"].(string)] = fmt.Sprint(f["status"], " ", f["passes"])
		if len(f) != 4 || f["description"] != "Add \"it\"\nnow" {
			t.Errorf("%v", f)
		}
	}
	want := map[string]string{"f-pending": "pending false", "f-in_progress": "in_progress false", "f-planning": "in_progress false",
		"f-queued": "in_progress false", "f-waiting": "in_progress false", "f-completed": "completed true", "f-failed": "failed false"}
	if diff := cmp.Diff(want, states); diff != "" || list.Session != "s1" {
		t.Error(list.Session, diff)
	}
}

// hostile are texts that would run something, were they ever code: each would make a file named owned.
var hostile = []string{"a\ntouch owned", "a\r\ntouch owned", "a\u2028touch owned", "a\u0085touch owned", "a\x00\ntouch owned",
	"a\vtouch owned\ftouch owned", "\xff\ntouch owned", "a\\\ntouch owned", "a\\", "\n#\ntouch owned #", "}\ntouch owned\n{",
	"EOF\ntouch owned", "$(touch owned)", "`touch owned`", "';touch owned;'", "\";touch owned;\"", "'\\''\ntouch owned",
	"%s\\ntouch owned", "&& touch owned", "<(touch owned)", "!touch owned", "-n"}

// FuzzScript: whatever the texts of a plan are, init.sh is the same program: nothing but its comments and its words differs.
func FuzzScript(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, description, word string) {
		at := Place{Repository: "/r/" + strings.ToValidUTF8(strings.ReplaceAll(word, "\x00", ""), "?"), Revision: "refs/heads/swarm/s1"}
		s := &book.Session{ID: "s1", State: book.Going, Changed: began, Settings: book.Settings{Verify: [][]string{{"go", word}}},
			Features: []*book.Feature{feature("a", description, book.Going, "go", word)}}
		got := script(s, at)
		s.Settings.Verify[0][1], s.Features[0].Description, s.Features[0].Validation.VerifyCommand[1] = "x", "x", "x"
		if diff := cmp.Diff(shape(t, script(s, Place{Repository: "/r/x", Revision: at.Revision})), shape(t, got)); diff != "" {
			t.Error(diff)
		}
	})
}

// shape is what a parser of others finds in a script, with a W for each word, or part of one, that means itself. Names of commands stay.
func shape(t *testing.T, script string) string {
	t.Helper()
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), Init)
	if err != nil {
		t.Fatal(err)
	}
	mark := func(w *syntax.Word) {
		var parts []syntax.WordPart
		for _, p := range w.Parts {
			switch p.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
				if n := len(parts); n > 0 {
					if _, ok := parts[n-1].(*syntax.Lit); ok {
						continue
					}
				}
				p = &syntax.Lit{Value: "W"}
			}
			parts = append(parts, p)
		}
		w.Parts = parts
	}
	syntax.Walk(parsed, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, w := range n.Args[min(1, len(n.Args)):] {
				mark(w)
			}
		case *syntax.Assign:
			mark(n.Value)
		}
		return true
	})
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&b, parsed); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestScriptRuns: in a real repository, with each hostile text as description, argument and folder, init.sh makes the worktree that it
// names and runs nothing else: no text, no hook.
func TestScriptRuns(t *testing.T) {
	git := func(dir string, args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	base := t.TempDir()
	repo := filepath.Join(base, "it's $(touch owned) `touch owned`")
	if err := os.MkdirAll(filepath.Join(repo, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	git(repo, "init", "-q", "-b", "main")
	hook := "#!/bin/sh\ntouch " + filepath.Join(base, "owned") + "\n"
	for name, data := range map[string]string{"sub/a.txt": "a\n", ".hooks/post-checkout": hook} {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o700); err != nil { //nolint:gosec // a hook is a program
			t.Fatal(err)
		}
	}
	git(repo, "config", "core.hooksPath", ".hooks")
	git(repo, "add", "-A")
	git(repo, "commit", "-q", "-m", "first")
	git(repo, "branch", "swarm/s1")
	s := &book.Session{ID: "s1", State: book.Going, Changed: began}
	for i, h := range hostile {
		s.Settings.Verify = append(s.Settings.Verify, []string{"go", h})
		s.Features = append(s.Features, feature(fmt.Sprint("f", i), h, book.Pending, "go", h))
	}
	file := filepath.Join(base, Init)
	data := views(t, s, nil, Place{Repository: repo, Prefix: "sub/", Revision: "refs/heads/swarm/s1"})[Init]
	if err := os.WriteFile(file, []byte(data), 0o700); err != nil { //nolint:gosec // a script is a program
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		if out, err := exec.Command(shell, "-n", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s -n: %v %s", shell, err, out)
		}
		run := func(args ...string) (string, error) {
			c := exec.Command(shell, append([]string{file}, args...)...)
			c.Dir, c.Env = base, append(os.Environ(), "GIT_DIR=/nowhere")
			out, err := c.CombinedOutput()
			return string(out), err
		}
		tree := filepath.Join(base, "tree "+shell)
		out, err := run("tree " + shell)
		lines := strings.Split(out, "\n")
		if err != nil || !slices.Contains(lines, "The session stands in "+tree) || !slices.Contains(lines, "To verify it: cd "+tree+"/sub") ||
			!slices.Contains(lines, "  go '$(touch owned)'") || !slices.Contains(lines, "  go '$(touch owned)'   # f12") {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
		if git(tree, "rev-parse", "HEAD") != git(repo, "rev-parse", "main") || git(tree, "branch", "--show-current") != "" {
			t.Errorf("%s: the worktree is elsewhere", shell)
		}
		if out, err = run("tree " + shell); err == nil || !strings.Contains(out, "is there already") {
			t.Errorf("%s, again: %v\n%s", shell, err, out)
		}
		if out, err = run(); err != nil || !strings.Contains(out, "stands in "+repo+"-s1\n") {
			t.Errorf("%s, beside: %v\n%s", shell, err, out)
		}
		git(repo, "worktree", "remove", repo+"-s1")
	}
	for _, dir := range []string{base, repo} {
		if _, err := os.Lstat(filepath.Join(dir, "owned")); err == nil {
			t.Errorf("a text was run in %s", dir)
		}
	}
}
