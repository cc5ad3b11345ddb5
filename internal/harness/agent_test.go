package harness

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// install writes a program into a folder.
func install(t *testing.T, dir, name, script string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), mode); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	install(t, first, "codex", "", 0o600) // no program
	install(t, second, "codex", "", 0o700)
	if err := os.MkdirAll(filepath.Join(second, "gemini"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(second)
	environ := []string{"PATH=/nowhere", "PATH=" + strings.Join([]string{"", ".", first, second}, ":")}
	codex, _ := Named("codex")
	if path, err := codex.Find(environ); err != nil || path != filepath.Join(second, "codex") {
		t.Errorf("%s %v", path, err)
	}
	for _, name := range []string{"gemini", "claude"} {
		a, _ := Named(name)
		if path, err := a.Find(environ); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %s %v", name, path, err)
		}
	}
	if _, err := codex.Find([]string{"PATH=:."}); !errors.Is(err, ErrMissing) {
		t.Errorf("the working folder is on the PATH: %v", err)
	}
	if _, ok := Named("cloude"); ok {
		t.Error("there is an agent cloude")
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	for said, want := range map[string]string{"2.1.197 (Claude Code)": "2.1.197", "codex-cli 0.169.0": "0.169.0", "crush version v0.96.1": "0.96.1", "who knows": "who knows", "": ""} {
		install(t, dir, "claude", "env > "+dir+"/env\necho 'a warning' >&2\necho '"+said+"'\n", 0o700)
		a, _ := Named("claude")
		got, err := a.Version(t.Context(), filepath.Join(dir, "claude"), []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/somebody", "ANTHROPIC_API_KEY=secret"})
		if err != nil || got != want {
			t.Errorf("%q: %q %v", said, got, err)
		}
	}
	seen, err := os.ReadFile(filepath.Join(dir, "env"))
	if err != nil || strings.Contains(string(seen), "somebody") || strings.Contains(string(seen), "secret") || !strings.Contains(string(seen), "CLAUDE_CONFIG_DIR=") {
		t.Errorf("it was asked with %s %v", seen, err)
	}
	a, _ := Named("codex")
	if _, err := a.Version(t.Context(), filepath.Join(dir, "none"), nil); err == nil {
		t.Error("a program that is not there has a version")
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	home := "HOME=/h"
	for _, c := range []struct {
		agent, more string
		user        bool
		want        Files
	}{
		{"claude", "", true, Files{Hooks: "/h/.claude/settings.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=/c", true, Files{Hooks: "/c/settings.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=c", true, Files{Hooks: "/h/.claude/settings.json"}},
		{"claude", "CLAUDE_CONFIG_DIR=/c", false, Files{Hooks: dir + "/.claude/settings.local.json"}},
		{"codex", "", true, Files{Hooks: "/h/.codex/hooks.json", Trust: "/h/.codex/config.toml"}},
		{"codex", "CODEX_HOME=/c", false, Files{Hooks: dir + "/.codex/hooks.json", Trust: "/c/config.toml"}},
		{"gemini", "GEMINI_CLI_HOME=/c", true, Files{Hooks: "/c/.gemini/settings.json"}},
		{"gemini", "", false, Files{Hooks: dir + "/.gemini/settings.json"}},
		{"crush", "XDG_CONFIG_HOME=/c", true, Files{Hooks: "/c/crush/crush.json"}},
		{"crush", "", true, Files{Hooks: "/h/.config/crush/crush.json"}},
		{"crush", "", false, Files{Hooks: dir + "/crush.json"}},
	} {
		a, _ := Named(c.agent)
		if got, err := a.Files(c.user, dir, []string{home, c.more}); err != nil || got != c.want {
			t.Errorf("%s %s user=%t: %+v %v, want %+v", c.agent, c.more, c.user, got, err, c.want)
		}
	}
	install(t, dir, ".crush.json", "", 0o600)
	crush, _ := Named("crush")
	if got, err := crush.Files(false, dir, []string{home}); err != nil || got.Hooks != dir+"/.crush.json" {
		t.Errorf("with .crush.json: %+v %v", got, err)
	}
	if _, err := crush.Files(true, dir, nil); err == nil {
		t.Error("without HOME there are files")
	}
	if _, err := (Agent{Name: "x"}).Files(true, dir, []string{home}); err == nil {
		t.Error("an unknown agent has files")
	}
}

func TestQuiet(t *testing.T) {
	got := Quiet([]string{"HOME=/a", "PATH=/bin", "MYCELIUM_TOKEN=x", "CLAUDECODE=1", "OPENAI_API_KEY=y", "LANG=C"}, "/b")
	if !slices.Equal(got, []string{"HOME=/b", "PATH=/bin", "LANG=C"}) {
		t.Errorf("%v", got)
	}
}
