package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSurroundings: nothing of the environment leads git elsewhere, no hook and no monitor runs, and what it says is said in
// English. It is not parallel, because it changes the environment.
func TestSurroundings(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	ran := filepath.Join(home, "ran")
	script := "#!/bin/sh\ntouch " + ran + "\n"
	if err := os.WriteFile(filepath.Join(home, "program"), []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "program"), filepath.Join(home, "post-checkout")); err != nil {
		t.Fatal(err)
	}
	settings := "[core]\n\thooksPath = " + home + "\n\tfsmonitor = " + home + "/program\n[diff]\n\texternal = " + home + "/program\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"GIT_DIR": "/nowhere", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare",
		"GIT_CONFIG_VALUE_0": "true", "GIT_TRACE": ran, "GIT_EXTERNAL_DIFF": home + "/program", "LC_ALL": "de_DE.UTF-8", "HOME": "/nowhere"} {
		t.Setenv(name, value)
	}
	g := Git{Dir: dir, Home: home, Env: []string{"GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x", "GIT_AUTHOR_NAME=x",
		"GIT_AUTHOR_EMAIL=x"}}
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "one"}, {"checkout", "-q", "-b", "other"},
		{"status"},
		{"diff", "HEAD"}} {
		if _, err := g.Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program has run, or git has written its trace")
	}
	if line, err := g.Line(t.Context(), "config", "gc.auto"); line != "0" {
		t.Errorf("gc.auto is %q: %v", line, err)
	}
	_, err := g.Run(t.Context(), "rev-parse", "--verify", "absent")
	if e, ok := errors.AsType[*Error](err); !ok || Code(err) != 128 || e.Command != "rev-parse" ||
		err.Error() != "git rev-parse: fatal: Needed a single revision" {
		t.Errorf("%v", err)
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	g := Git{Dir: t.TempDir(), Most: 10}
	if _, err := g.Run(t.Context(), "var", "-l"); !errors.Is(err, bytes.ErrTooLarge) {
		t.Errorf("a long output: %v", err)
	}
	_, err := g.Run(t.Context(), "--no-such-option", strings.Repeat("x", 9000))
	if e, ok := errors.AsType[*Error](err); !ok || len(e.Text) > mostErrors || e.Text == "" {
		t.Errorf("a long complaint: %v", err)
	}
	var out bytes.Buffer
	if err := g.Pipe(t.Context(), strings.NewReader("x\n"), &out, "hash-object", "--stdin"); err != nil || out.Len() != 41 {
		t.Errorf("%q: %v", out.String(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Run(ctx, "version"); !errors.Is(err, context.Canceled) || Code(err) != -1 {
		t.Errorf("%v", err)
	}
	if _, err := (Git{Dir: "/absent"}).Run(t.Context(), "version"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if Code(nil) != 0 || Code(errors.New("x")) != -1 {
		t.Error("the status of what is no error of git's")
	}
	if got := Names([]byte("a\x00\nb c\x00\x00日\n本\x00")); !slices.Equal(got, []string{"a", "b c", "日\n本"}) {
		t.Errorf("%q", got)
	}
}
