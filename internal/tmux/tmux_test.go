package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// private is a tmux server of the test's own.
func private(t *testing.T) Server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is missing; run scripts/setup-test")
		}
		t.Skip("tmux is missing; scripts/setup-test installs it")
	}
	dir, err := os.MkdirTemp("", "tmux") // short: the path of a socket has 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	s := Server{Socket: filepath.Join(dir, "s"), Config: "/dev/null", Env: append(os.Environ(), "TMUX=", "LC_ALL=C")}
	t.Cleanup(func() {
		if err := s.Kill(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		exec.Command("tmux", "-S", s.Socket, "kill-server").Run() // the test's context has ended
		os.RemoveAll(dir)
	})
	return s
}

// file waits until a file has a text.
func file(t *testing.T, path, want string) {
	t.Helper()
	var got []byte
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got, _ = os.ReadFile(path); string(got) == want {
			return
		}
	}
	t.Errorf("%s has %q, want %q", path, got, want)
}

// TestOpenMeanwhile: windows are opened while the server ends with its last window, and others begin it again.
func TestOpenMeanwhile(t *testing.T) {
	s, ctx := private(t), t.Context()
	dir := t.TempDir()
	var parts sync.WaitGroup
	for n := range 3 {
		parts.Go(func() {
			for i := range 30 {
				_, err := s.Open(ctx, Window{Session: fmt.Sprint("s", n%2), Name: "short", Dir: dir, Command: []string{"/bin/true"}})
				if err != nil && !strings.Contains(err.Error(), "no current target") { // the command has ended before tmux named the window
					t.Errorf("window %d of %d: %v", i, n, err)
				}
			}
		})
	}
	parts.Wait()
}

// TestWindows: what is started runs in its folder with its arguments, whatever characters they have, and nothing of a name is run.
func TestWindows(t *testing.T) {
	s, ctx := private(t), t.Context()
	if _, err := s.Panes(ctx); !errors.Is(err, ErrNoServer) {
		t.Errorf("before it runs: %v", err)
	}
	base := t.TempDir()
	dir := filepath.Join(base, "a #(touch pwned) b;")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	name := "日本語 #(touch pwned)\t#{pane_id};"
	script := `printf '%s|' "$PWD" "$X" "$@" >out; exec cat`
	for i := range 2 { // the first makes the session, the second joins it
		out := filepath.Join(dir, "out")
		p, err := s.Open(ctx,
			Window{Session: "agents", Name: name, Dir: dir, Command: []string{"sh", "-c", script, "sh", "a b;", "$(touch pwned)", "; touch pwned"},
				Env: []string{"X=v;"}})
		if err != nil {
			t.Fatal(err)
		}
		file(t, out, dir+"|v;|a b;|$(touch pwned)|; touch pwned|")
		os.Remove(out)
		panes, err := s.Panes(ctx)
		if err != nil || len(panes) != i+1 {
			t.Fatalf("%v, %v", panes, err)
		}
		if got := panes[i]; got.ID != p.ID || got.Window != p.Window || got.Name != name || got.Dir != dir || got.Session != "agents" ||
			got.PID < 2 || got.Dead || got.Marked || got.Socket != s.Socket {
			t.Errorf("%+v", got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(base, "*", "pwned")); left != nil {
		t.Errorf("a name was run: %v", left)
	}
	if _, err := s.Open(ctx, Window{Session: "agents", Name: "x", Dir: dir, Command: []string{"sh ; touch pwned"}}); err != nil {
		t.Error(err) // one argument is a program's name, not a command line: the window opens and ends
	}
}

// typed pastes a text and presses Enter.
func typed(ctx context.Context, s Server, pane, text string) error {
	if err := s.Paste(ctx, pane, text); err != nil {
		return err
	}
	return s.Keys(ctx, pane, "Enter")
}

// TestType: texts arrive as they were written.
func TestType(t *testing.T) {
	s, ctx := private(t), t.Context()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	p, err := s.Open(ctx, Window{Session: "t", Name: "w", Dir: dir, Command: []string{"sh", "-c", "stty -echo; : >ready; cat >out"}})
	if err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(dir, "ready"), "")
	want := ""
	for _, text := range []string{"hello", "-l Enter C-c", "ends in ;", `and in \;`, "日本語で続けて 🙂",
		"#(touch x) $(touch x) `id` ~",
		"two\nlines;", "a\ttab", ""} {
		if err := typed(ctx, s, p.ID, text); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		want += text + "\n"
		file(t, out, want)
	}
	if err := typed(ctx, s, p.ID, "with a return\r\nof old\n\n"); err != nil {
		t.Error(err)
	}
	file(t, out, want+"with a return\nof old\n")
	for _, bad := range []string{"\x03", "a\x1b[201~b", "x\ry", "\u009b"} {
		if err := typed(ctx, s, p.ID, bad); err == nil || !strings.Contains(err.Error(), "control character") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, pane := range []string{"", "%", "%99", "=t:w", "t", "%0;kill-server", "-a"} {
		if err := typed(ctx, s, pane, "x"); err == nil {
			t.Errorf("pane %q was typed into", pane)
		}
	}
	file(t, out, want+"with a return\nof old\n")
}

// TestDeadPane: the pane tells how its program ended, also where tmux has not noticed it, and typing into it fails.
func TestDeadPane(t *testing.T) {
	s, ctx := private(t), t.Context()
	if _, err := s.Open(ctx, Window{Session: "t", Name: "keeps", Dir: t.TempDir(), Command: []string{"cat"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run(ctx, "", "set-option", "-g", "remain-on-exit", "on"); err != nil {
		t.Fatal(err)
	}
	for i, end := range []struct {
		script string
		status int
	}{{"exit 7", 7}, {"kill -TERM $$", 128 + 15}, {"exit 0", 0}} {
		p, err := s.Open(ctx, Window{Session: "t", Name: "ends", Dir: t.TempDir(), Command: []string{"sh", "-c", end.script}})
		if err != nil {
			t.Fatal(err)
		}
		for late := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			panes, err := s.Panes(ctx)
			if err != nil || time.Now().After(late) {
				t.Fatalf("%s: %+v, %v", end.script, panes, err)
			}
			if panes[i+1].Dead {
				if panes[i+1].Status != end.status {
					t.Errorf("%s: %+v", end.script, panes[i+1])
				}
				break
			}
		}
		if err := typed(ctx, s, p.ID, "x"); !errors.Is(err, ErrNoPane) {
			t.Errorf("%v", err)
		}
	}
}

// TestBell: the mark shows, keeps the name that people know, and is gone without a trace.
func TestBell(t *testing.T) {
	s, ctx := private(t), t.Context()
	name := "api #(touch pwned);"
	p, err := s.Open(ctx, Window{Session: "t", Name: name, Dir: t.TempDir(), Command: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		out, err := s.run(ctx, "", "list-windows", "-t", "=t", "-F", "#{window_name}|#{"+nameOption+"}|#{automatic-rename}")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	before := shown()
	for range 2 {
		if err := s.Mark(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := shown(); !strings.HasPrefix(got, bell+name+"|"+name) {
		t.Errorf("marked: %s", got)
	}
	if panes, err := s.Panes(ctx); err != nil || !panes[0].Marked || panes[0].Name != name {
		t.Errorf("%+v, %v", panes, err)
	}
	for range 2 {
		if err := s.Clear(ctx, p.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := shown(); got != before {
		t.Errorf("cleared: %s, before: %s", got, before)
	}
	// A window that tmux names by itself is named so again.
	if _, err := s.run(ctx, "", "set-option", "-w", "-t", p.ID, "-u", "automatic-rename"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Mark(ctx, p.ID), s.Clear(ctx, p.ID)); err != nil {
		t.Fatal(err)
	}
	if got := shown(); !strings.HasSuffix(got, "|1") {
		t.Errorf("automatic names are off: %s", got)
	}
	if err := s.Mark(ctx, "%99"); !errors.Is(err, ErrNoPane) {
		t.Errorf("a pane that is gone: %v", err)
	}
	if err := s.Clear(ctx, "%99"); err != nil && !errors.Is(err, ErrNoPane) {
		t.Errorf("a pane that is gone: %v", err)
	}
}
