package ungoverned

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/state"
)

// world is a project with an installed hook, and the folder with the transcripts of its agents.
type world struct {
	Watch
	t       *testing.T
	folder  string
	decided map[string]bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	project := filepath.Join(home, "p")
	w := &world{t: t, decided: map[string]bool{}, folder: filepath.Join(home, ".claude", "projects",
		regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(project, "-"))}
	root := state.Root(filepath.Join(home, "state"))
	w.Paths, w.Environ = root.Of(project), []string{"HOME=" + home}
	w.Undecided = func(_ context.Context, _ time.Time, ids []string) ([]string, error) {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return w.decided[id] }), nil
	}
	agent, _ := harness.Named("claude")
	s := install.Setup{Agent: agent, Dir: project, Environ: w.Environ, Myc: "/opt/myc", Small: "/opt/myc-hook",
		Gateway: "gate", State: w.Paths}
	if _, err := s.Install(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.Paths.Folder(), 0o700); err != nil {
		t.Fatal(err)
	}
	return w
}

// says appends lines to a transcript.
func (w *world) says(name string, lines ...string) {
	w.t.Helper()
	path := filepath.Join(w.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "")); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) begins(dir string) string { return fmt.Sprintf(`{"type":"user","cwd":%q}`+"\n", dir) }

func (w *world) call(id, tool string, at time.Time) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"sessionId":"s","message":{"content":[{"type":"tool_use",`+
		`"id":%q,"name":%q}]}}`+"\n", at.UTC().Format(time.RFC3339Nano), id, tool)
}

func (w *world) result(id string) string {
	return fmt.Sprintf(`{"type":"user","timestamp":"2026-01-01T00:00:00Z","sessionId":"s","message":{"content":[{"type":"tool_result",`+
		`"tool_use_id":%q,"content":"x"}]}}`+"\n", id)
}

// looks looks a few times and returns the calls by which sessions were found.
func (w *world) looks() (calls []string) {
	w.t.Helper()
	for range 6 {
		found, err := w.Look(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range found {
			calls = append(calls, s.Call)
		}
	}
	return calls
}

// TestNoFalseAlarm: none of these is a call that no hook decided.
func TestNoFalseAlarm(t *testing.T) {
	now := func() time.Time { return time.Now().Add(time.Second) }
	for name, play := range map[string]func(w *world){
		"decided":            func(w *world) { w.decided["c"] = true; w.says("s.jsonl", w.call("c", "Bash", now()), w.result("c")) },
		"under way":          func(w *world) { w.says("s.jsonl", w.call("c", "Bash", now())) },
		"before the install": func(w *world) { w.says("s.jsonl", w.call("c", "Bash", time.Now().Add(-time.Hour)), w.result("c")) },
		"of the gateway":     func(w *world) { w.says("s.jsonl", w.call("c", "mcp__gate__x", now()), w.result("c")) },
		"half a line":        func(w *world) { w.says("s.jsonl", w.call("c", "Bash", now()), strings.TrimSuffix(w.result("c"), "\n")) },
		"no time": func(w *world) {
			w.says("s.jsonl", strings.Replace(w.call("c", "Bash", now()), "T", "x", 1), w.result("c"))
		},
		"a project below": func(w *world) {
			sub := filepath.Join(w.Paths.Project, "sub")
			if err := os.MkdirAll(sub, 0o700); err != nil {
				w.t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(sub, "mycelium.yaml"), nil, 0o600); err != nil {
				w.t.Fatal(err)
			}
			w.says("../"+filepath.Base(w.folder)+"-sub/o.jsonl", w.begins(sub), w.call("c", "Bash", now()), w.result("c"))
		},
		"another folder with the same name": func(w *world) {
			w.says("o.jsonl", w.begins(strings.Replace(w.Paths.Project, "/p", ".p", 1)), w.call("c", "Bash", now()), w.result("c"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.says("s.jsonl", w.begins(w.Paths.Project))
			play(w)
			if got := w.looks(); len(got) > 0 {
				t.Errorf("found %v", got)
			}
			w.says("another.jsonl", w.begins(w.Paths.Project), w.call("loose", "Bash", now()), w.result("loose")) // it does look
			if got := w.looks(); !slices.Equal(got, []string{"loose"}) {
				t.Errorf("a call that no hook decided: %v", got)
			}
		})
	}
}

// TestNextWatchGoesOn: a daemon that starts later neither tells again what is known nor overlooks what ran meanwhile; a decision that is
// found at the second look is one; who installs the hook again ends the warning.
func TestNextWatchGoesOn(t *testing.T) {
	w := newWorld(t)
	at := time.Now().Add(time.Second)
	w.says("s.jsonl", w.begins(w.Paths.Project), w.call("a", "Bash", at), w.result("a"), w.call("b", "Bash", at))
	if got := w.looks(); !slices.Equal(got, []string{"a"}) || len(w.Found()) != 1 {
		t.Fatalf("found %v", got)
	}
	w.Watch = Watch{Paths: w.Paths, Environ: w.Environ, Undecided: w.Undecided}
	w.says("s.jsonl", w.result("b"))
	w.says("t.jsonl", w.begins(w.Paths.Project), strings.ReplaceAll(w.call("c", "Bash", at)+w.result("c"), `"s"`, `"t"`))
	if _, err := w.Look(t.Context()); err != nil || !w.Missing() {
		t.Fatalf("%v", err)
	}
	w.decided["c"] = true
	if got := w.looks(); len(got) > 0 || len(Found(w.Paths, w.Environ)) != 1 {
		t.Errorf("told again: %v; %v", got, Found(w.Paths, w.Environ))
	}
	agent, _ := harness.Named("claude")
	s := install.Setup{Agent: agent, Dir: w.Paths.Project, Environ: w.Environ, Myc: "/opt/myc", Small: "/opt/myc-hook", Gateway: "gate",
		State: w.Paths}
	if _, err := s.Install(); err != nil {
		t.Fatal(err)
	}
	if got := w.looks(); len(got) > 0 || len(w.Found()) > 0 || len(Found(w.Paths, w.Environ)) > 0 {
		t.Errorf("after a new installation: %v", got)
	}
}

// TestHostileTranscripts: what an agent can put in the place of transcripts blocks nothing, and hides no other transcript.
func TestHostileTranscripts(t *testing.T) {
	w := newWorld(t)
	at := time.Now().Add(time.Second)
	w.says("empty.jsonl", "")
	if err := syscall.Mkfifo(filepath.Join(w.folder, "pipe.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.folder, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.folder, filepath.Join(w.folder, "circle")); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		w.says(fmt.Sprintf("%d.jsonl", i), w.begins(w.Paths.Project), "{\n", "\xff\x00\n", strings.Repeat("[", 10_000)+"\n")
	}
	w.says("long.jsonl", w.begins(w.Paths.Project), strings.Repeat("x", 20<<20), "\n", w.call("loose", "Bash", at), w.result("loose"))
	if got := w.looks(); !slices.Equal(got, []string{"loose"}) {
		t.Errorf("found %v", got)
	}
	w.says("sparse.jsonl", w.begins(w.Paths.Project))
	if err := os.Truncate(filepath.Join(w.folder, "sparse.jsonl"), 1<<40); err != nil {
		t.Fatal(err)
	}
	w.says("late.jsonl", w.begins(w.Paths.Project), strings.ReplaceAll(w.call("more", "Bash", at)+w.result("more"), `"s"`, `"late"`))
	if got := w.looks(); !slices.Equal(got, []string{"more"}) {
		t.Errorf("beside a file of a terabyte: %v", got)
	}
}

// TestSessionsInWorktrees: a session in a linked working tree works on the project, and one in a folder that only says so does not.
func TestSessionsInWorktrees(t *testing.T) {
	w := newWorld(t)
	own := filepath.Join(w.Paths.Project, ".git", "worktrees", "x")
	tree, forged := w.Paths.Project+"-tree", w.Paths.Project+"-forged"
	for file, text := range map[string]string{
		filepath.Join(tree, ".git"): "gitdir: " + own, filepath.Join(own, "gitdir"): tree + "/.git", filepath.Join(own, "commondir"): "../..",
		filepath.Join(forged, ".git"): "gitdir: " + own,
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now().Add(time.Second)
	for i, dir := range []string{tree, forged} {
		id := fmt.Sprint("c", i)
		w.folder = filepath.Join(filepath.Dir(w.folder), regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(dir, "-"))
		w.says(id+".jsonl", w.begins(dir), w.call(id, "Bash", at), w.result(id))
	}
	if got := w.looks(); !slices.Equal(got, []string{"c0"}) {
		t.Errorf("found: %q", got)
	}
}
