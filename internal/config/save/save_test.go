package save

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"mycelium/internal/config/accept"
)

// writer is the variable that makes the test binary write files and then kill itself.
const writer = "MYCELIUM_TEST_SAVE"

// TestMain lets the test binary play a process that is killed while it saves.
func TestMain(m *testing.M) {
	if dir := os.Getenv(writer); dir != "" {
		err := files(dir).save(os.Getenv(writer+"_AT") == "accepted", func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// files is a folder with what was accepted of it.
type files string

func (f files) lock() string        { return filepath.Join(string(f), "state", "edit.lock") }
func (f files) folder() string      { return filepath.Join(string(f), "project") }
func (f files) store() accept.Store { return accept.At(filepath.Join(string(f), "state", "accepted")) }

// edits are a change of one file, a new file, and one that goes.
var edits = []File{{"a.yaml", []byte("a1"), []byte("a2")}, {"roles/b.yaml", nil, []byte("b2")}, {"c.yaml", []byte("c1"), nil}}

func (f files) save(accepted bool, kill func()) error {
	return f.store().Amend(time.Now(), func(copied string) error {
		err := Write(f.lock(), []string{copied, f.folder()}, edits)
		if !accepted {
			kill()
		}
		return err
	})
}

// TestKill: a process that is killed while it saves leaves all files as they were, or all of them new.
func TestKill(t *testing.T) {
	for _, at := range []string{"written", "accepted"} {
		t.Run(at, func(t *testing.T) {
			f := files(t.TempDir())
			for _, dir := range []string{f.folder(), filepath.Dir(f.lock())} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			set := accept.Set{}
			for _, e := range edits {
				if e.Was != nil {
					set[e.Name] = accept.File{Data: e.Was}
					if err := os.WriteFile(filepath.Join(f.folder(), e.Name), e.Was, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := f.store().Write(set, time.Now()); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), writer+"="+string(f), writer+"_AT="+at)
			if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			if _, err := os.Stat(Journal(f.lock())); err != nil {
				t.Fatal("there is no journal: is the test wrong?")
			}
			// as if it had ended before this file was written
			if err := os.WriteFile(filepath.Join(f.folder(), "a.yaml"), []byte("a1"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Mend(f.lock(), f.folder(), f.store()); err != nil {
				t.Fatal(err)
			}
			for _, e := range edits {
				want := e.Was
				if at == "accepted" {
					want = e.Is
				}
				if got, err := Read(f.folder(), e.Name); err != nil || !same(got, want) {
					t.Errorf("%s: %q %v, want %q", e.Name, got, err, want)
				}
			}
			if err := Mend(f.lock(), f.folder(), f.store()); err != nil { // nothing is left to do
				t.Error(err)
			}
		})
	}
}

// TestPlaces: nothing is read or written through a link out of the folder, nor in the place of what is no file.
func TestPlaces(t *testing.T) {
	t.Parallel()
	f := files(t.TempDir())
	outside := t.TempDir()
	for _, dir := range []string{f.folder(), filepath.Dir(f.lock())} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for to, at := range map[string]string{outside: "roles", filepath.Join(outside, "x"): "rules.yaml"} {
		if err := os.Symlink(to, filepath.Join(f.folder(), at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"roles/a.yaml", "rules.yaml", "../x", "/etc/hosts"} {
		if err := Write(f.lock(), []string{f.folder()}, []File{{name, nil, []byte("x")}}); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if made, err := os.ReadDir(outside); err != nil || len(made) > 0 {
		t.Errorf("%v %v", made, err)
	}
}
