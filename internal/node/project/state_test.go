package project

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/node/failure"
	"mycelium/internal/state"
)

// loader returns a loader of a new project whose person has a home.
func loader(t *testing.T) (*Loader, string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "shop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &Loader{Dir: dir, Environ: []string{"HOME=" + home, "PATH=/usr/bin", "HTTPS_PROXY=http://proxy.example", "LD_PRELOAD=/x.so",
		"SECRET=s3"}}, home
}

// TestStateOfAgents: what an agent starts looks in the pinned folder, whatever its environment says, and a folder that is not known there
// is denied.
func TestStateOfAgents(t *testing.T) {
	person, home := loader(t)
	root := filepath.Join(home, ".local", "state", "mycelium")
	agent := &Loader{Dir: person.Dir, Agent: true, StateDir: root, Environ: []string{"HOME=/tmp/other", "XDG_CONFIG_HOME=/tmp/other/c"}}
	_, err := agent.Know()
	if !errors.Is(err, state.ErrUnknown) || failure.Of(err).Kind != failure.Denied {
		t.Errorf("nobody accepted it: %v", err)
	}
	if _, err := agent.Load(); !errors.Is(err, state.ErrUnknown) {
		t.Errorf("it was read: %v", err)
	}
	if _, err := person.Know(); err != nil {
		t.Fatal(err)
	}
	p, err := agent.Load()
	if err != nil {
		t.Fatal(err)
	}
	if p.Home != home || p.UserDir != filepath.Join(home, ".config", "mycelium") || string(p.State.Root) != root {
		t.Errorf("home %s, files of the user %s, state %s", p.Home, p.UserDir, p.State.Root)
	}
	agent.StateDir = ""
	account, err := state.OfAccount()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := agent.State(); err != nil || s.Root != account {
		t.Errorf("without a pin: %s, %v; want %s", s.Root, err, account)
	}
}

// TestStateFlag: no state lies in the project, and none is named by a relative path or by an agent.
func TestStateFlag(t *testing.T) {
	l, home := loader(t)
	for dir, want := range map[string]string{
		filepath.Join(l.Dir, "state"): "lies in the project", "state": "no absolute path", filepath.Join(home, "s"): "",
		filepath.Join(home, "x", "..", "shop", "s"): "lies in the project",
	} {
		l.StateDir = dir
		_, err := l.State()
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || failure.Of(err).Kind != failure.Usage) {
			t.Errorf("--state %s: %v, want %q", dir, err, want)
		}
	}
	l.StateDir = filepath.Join(home, "s")
	l.Environ = append(l.Environ, "CLAUDECODE=1")
	if _, err := l.State(); err == nil || failure.Of(err).Kind != failure.Denied {
		t.Errorf("an agent names a state: %v", err)
	}
}

// TestNoteOfAnotherFolder: a state whose note names another folder is not known, also if somebody put it there.
func TestNoteOfAnotherFolder(t *testing.T) {
	l, _ := loader(t)
	p, err := l.Know()
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(p.Folder(), "project.json")
	text, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{strings.Replace(string(text), p.Project, "/other", 1), "{}", "", `{"version":99}`} {
		if err := os.WriteFile(note, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := p.ReadNote(); err == nil {
			t.Errorf("known by %q", bad)
		}
	}
}

// TestDaemonEnviron: a daemon has what the state keeps of the person's variables, and what the configuration names if a person starts it.
func TestDaemonEnviron(t *testing.T) {
	l, home := loader(t)
	if err := os.MkdirAll(filepath.Join(home, ".config", "mycelium"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".config", "mycelium", "mycelium.yaml"),
		[]byte("mcpServers: {x: {command: x, env: {T: '${SECRET}'}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"HOME=" + home, "HTTPS_PROXY=http://proxy.example", "PATH=/usr/bin", "SECRET=s3"}
	if got, err := l.DaemonEnviron(); err != nil || !slices.Equal(got, want) {
		t.Errorf("of a person: %q, %v", got, err)
	}
	agent := &Loader{Dir: l.Dir, Agent: true, StateDir: filepath.Join(home, ".local", "state", "mycelium"),
		Environ: []string{"HOME=/x", "PATH=/evil", "HTTPS_PROXY=http://evil.example", "SSL_CERT_FILE=/evil", "SECRET=evil"}}
	if got, err := agent.DaemonEnviron(); err != nil || !slices.Equal(got, want[:3]) {
		t.Errorf("of an agent: %q, %v", got, err)
	}
}
