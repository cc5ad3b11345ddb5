package project

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
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

// accept puts the files as they are in force.
func accept(t *testing.T, l *Loader) {
	t.Helper()
	p, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Candidate()
	if err == nil {
		err = c.Accept(time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
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

// TestKeyOfDaemon: a person's command makes the key of the daemon, once. What an agent starts makes none, and says who does.
func TestKeyOfDaemon(t *testing.T) {
	person, home := loader(t)
	agent := &Loader{Dir: person.Dir, Agent: true, StateDir: filepath.Join(home, ".local", "state", "mycelium")}
	var wg sync.WaitGroup
	for range 4 { // at once
		wg.Go(func() {
			if _, err := (&Loader{Dir: person.Dir, Environ: person.Environ}).Know(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	p, err := agent.Know()
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(p.DaemonKey())
	if err != nil || len(key) != daemon.KeySize || bytes.Equal(key, make([]byte, daemon.KeySize)) {
		t.Fatalf("%x %v", key, err)
	}
	if st, err := os.Stat(p.DaemonKey()); err != nil || st.Mode().Perm() != 0o600 || strings.HasPrefix(p.DaemonKey(), p.Folder()) {
		t.Errorf("%v %v %s", st.Mode(), err, p.DaemonKey())
	}
	if _, err := person.Know(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(p.DaemonKey()); err != nil || !bytes.Equal(again, key) {
		t.Errorf("it changed: %x, %v", again, err)
	}
	if err := os.Truncate(p.DaemonKey(), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.Know(); err == nil || failure.Of(err).Kind != failure.Denied || !strings.Contains(text.HintOf(err), "trust") {
		t.Errorf("an agent, with a damaged key: %v", err)
	}
	if _, err := person.Know(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(p.DaemonKey()); err != nil || len(again) != daemon.KeySize || bytes.Equal(again, key) {
		t.Errorf("made anew: %x, %v", again, err)
	}
}

// TestSocketOfAgents: an owner that an agent starts makes its socket where one of its person does.
func TestSocketOfAgents(t *testing.T) {
	person, home := loader(t)
	run, evil := filepath.Join(home, "r"), filepath.Join(home, "e")
	for _, dir := range []string{run, evil} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	person.Environ = append(person.Environ, "XDG_RUNTIME_DIR="+run)
	if _, err := person.Know(); err != nil {
		t.Fatal(err)
	}
	_, want, err := person.Paths()
	if err != nil || !strings.HasPrefix(want.Socket, run+"/") && len(run) < 60 {
		t.Fatalf("%s, %v", want.Socket, err)
	}
	agent := &Loader{Dir: person.Dir, Agent: true, StateDir: filepath.Join(home, ".local", "state", "mycelium"),
		Environ: []string{"HOME=/x", "XDG_RUNTIME_DIR=" + evil, "TMPDIR=" + evil}}
	if _, got, err := agent.Paths(); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// TestDiffering: what is told of an agent's environment, and what is not.
func TestDiffering(t *testing.T) {
	note := state.Note{Environ: []string{"HOME=/home/u", "XDG_CONFIG_HOME=/c", "XDG_SESSION_ID=3", "MYCELIUM_LOG=debug"}}
	for _, c := range []struct{ environ, want string }{
		{"HOME=/home/u XDG_CONFIG_HOME=/c MYCELIUM_LOG=debug MYCELIUM_TOKEN=t MYCELIUM_SERVER=s", ""},
		{"PATH=/x XDG_SESSION_ID=4 FOO=1 TMPDIR=", ""},
		{"HOME=/x", `HOME=/x (the person's is "/home/u")`},
		{"XDG_CONFIG_HOME=", `XDG_CONFIG_HOME= (the person's is "/c")`},
		{"TMPDIR=/t HOME=/home/u", `TMPDIR=/t (the person's is "")`},
		{"MYCELIUM_LOG=secret MYCELIUM_CONFIG_PATH=secret", "MYCELIUM_CONFIG_PATH, MYCELIUM_LOG"},
	} {
		if got := strings.Join(Differing(note, strings.Fields(c.environ)), ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.environ, got, c.want)
		}
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
	// A home folder may be a project. Whose home it is, an agent's environment does not say.
	l.Dir, l.StateDir = home, filepath.Join(home, ".local", "state", "mycelium")
	if _, err := l.State(); err != nil {
		t.Errorf("the state of a home folder: %v", err)
	}
	l.Agent = true
	if _, err := l.State(); err == nil || !strings.Contains(err.Error(), "lies in the project") {
		t.Errorf("a home that the environment of an agent names: %v", err)
	}
	l.Agent, l.Dir, l.StateDir = false, filepath.Join(home, "shop"), filepath.Join(home, "s")
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
	accept(t, l)
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
