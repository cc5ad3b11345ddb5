package agentshell

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/approval"
	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/sandbox/light"
)

// TestPrepare: the small program stands before the shell of an agent whose commands another process starts, if it is there; before every
// other shell stands the whole program.
func TestPrepare(t *testing.T) {
	bin := t.TempDir()
	myc, small := filepath.Join(bin, "myc"), filepath.Join(bin, hook.Small)
	for _, test := range []struct {
		small, served bool
		want          string
	}{{false, true, myc}, {true, false, myc}, {true, true, small}} {
		if test.small {
			if err := os.WriteFile(small, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		folder := t.TempDir()
		n := Note{Agent: "claude", Folder: bin, Project: bin, State: t.TempDir(), Served: test.served}
		if err := Prepare(folder, myc, n, nil); err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(shim.Path(folder)); got != test.want {
			t.Errorf("%+v: %s %v", test, got, err)
		}
	}
}

// TestServer: the program before the shell asks the process that started the agent, which takes the ticket; the program is told what to
// become. The environment for a sandbox is not the one that the program names.
func TestServer(t *testing.T) {
	folder, dir := t.TempDir(), t.TempDir()
	if err := Prepare(folder, "/bin/true", Note{Agent: "claude", Folder: dir, Project: dir, State: t.TempDir(), Served: true}, nil); err != nil {
		t.Fatal(err)
	}
	var refused []string
	s := &Server{Folder: folder, Shell: func() Shell {
		return Shell{Environ: []string{"PATH=/own"}, Refused: func(_ *Note, command string, _ error) { refused = append(refused, command) },
			Lacked: func(*Note, string, string, approval.Lacked) error { return nil }}
	}}
	end, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	t.Chdir(dir)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	line := `source /h/.claude/shell-snapshots/snapshot-bash-1-x.sh 2>/dev/null || true && eval 'true x' < /dev/null && pwd -P >| ` +
		dir + "/claude-1-cwd"
	ask := func() (shim.Answered, error) {
		r := shim.Run{Program: shim.Path(folder), Args: []string{line}, Environ: []string{"PATH=/theirs", "A=1"}, In: null, Out: said, Err: said}
		return r.Ask()
	}
	a, err := ask()
	if err != nil || a.Exit != shim.Refused || len(a.Argv) > 0 {
		t.Errorf("without a ticket: %+v %v", a, err)
	}
	if err := leave(folder, "true x", "t1", Ticket{Dir: dir, Until: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	a, err = ask()
	if err != nil || len(a.Argv) != 3 || a.Argv[2] != line || !slices.Equal(a.Environ, []string{"PATH=/theirs", "A=1"}) {
		t.Errorf("with a ticket: %+v %v", a, err)
	}
	if a, err = ask(); err != nil || a.Exit != shim.Refused {
		t.Errorf("with a ticket that was used: %+v %v", a, err)
	}
	line = strings.Replace(line, "true x", "cd . && sudo true", 1)
	for _, none := range []string{"it is off", ""} {
		if err := (light.Note{None: none, Child: os.Getpid()}).Keep(folder); err != nil {
			t.Fatal(err)
		}
		if err := leave(folder, "cd . && sudo true", "t2", Ticket{Dir: dir, Until: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		a, err = ask()
		if text, rerr := os.ReadFile(said.Name()); err != nil || rerr != nil || len(a.Argv) != 3 ||
			strings.Contains(string(text), "sudo does not work behind the light wall") != (none == "") {
			t.Errorf("without a wall %q: %+v %v\n%s", none, a, err, text)
		}
	}
	if diff := cmp.Diff([]string{"true x", "true x"}, refused); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(said.Name())
	if err != nil || !strings.Contains(string(text), "did not admit it") {
		t.Errorf("it was told %q %v", text, err)
	}
}

// TestOver: a command in the sandbox has the variables that the agent sets, and the PATH of whoever prepares the sandbox.
func TestOver(t *testing.T) {
	got := over([]string{"PATH=/usr/bin", "TZ=UTC", "CI=1"}, []string{"PATH=/evil", "TZ=Asia/Tokyo", "GOFLAGS=-mod=mod"})
	if want := []string{"PATH=/usr/bin", "CI=1", "TZ=Asia/Tokyo", "GOFLAGS=-mod=mod"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestMakeFile: the file for the folder in which a command ends is a plain file, and lies nowhere in the state, whatever leads there.
func TestMakeFile(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state, dir := filepath.Join(top, "state"), filepath.Join(top, "tmp")
	for _, d := range []string{filepath.Join(state, "keys"), dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(filepath.Join(state, "keys"), filepath.Join(top, "way")), os.Symlink(filepath.Join(state, "new"),
		filepath.Join(dir, "linked")), os.WriteFile(filepath.Join(dir, "there"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{filepath.Join(dir, "new"): true, filepath.Join(dir, "there"): true, filepath.Join(dir, "linked"): false,
		filepath.Join(state, "new"): false, filepath.Join(top, "way", "new"): false, filepath.Join(top, "none", "new"): false} {
		if err := makeFile(path, state); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if made, err := filepath.Glob(filepath.Join(state, "*", "new")); err != nil || len(made) > 0 || exists(filepath.Join(state, "new")) {
		t.Errorf("the state has %v: %v", made, err)
	}
}
