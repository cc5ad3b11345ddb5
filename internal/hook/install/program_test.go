package install

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"mycelium/internal/harness"
	"mycelium/internal/hook"
)

// TestProgramIsInstalled: the program is copied with a note of the whole one, replaced when a newer one lies beside that, and status sees
// what somebody did to it.
func TestProgramIsInstalled(t *testing.T) {
	home := t.TempDir()
	p := Program{Folder: filepath.Join(home, "state", "bin"), Myc: filepath.Join(home, "bin", "myc"), Dir: "/p", Anywhere: true}
	put(t, p.Myc, "the whole", 0o700)
	var fe *FileError
	if err := p.Install(); !errors.As(err, &fe) || !strings.Contains(fe.Hint, "make build") {
		t.Fatalf("without the small program: %v", err)
	}
	for _, text := range []string{"old", "new"} {
		put(t, p.Source(), text, 0o700)
		if err := p.Install(); err != nil || get(t, p.Path()) != text {
			t.Fatalf("%v: %q", err, get(t, p.Path()))
		}
	}
	if st, err := os.Stat(p.Path()); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	if note, err := hook.ReadInstalled(p.Path()); err != nil || note.Myc != p.Myc {
		t.Errorf("the note: %+v %v", note, err)
	}
	if got := p.Problems("x"); got != nil {
		t.Errorf("problems: %v", got)
	}
	for want, spoil := range map[string]func() error{
		"is not the one":     func() error { return os.WriteFile(p.Path(), nil, 0o700) },
		"cannot be executed": func() error { return os.Chmod(p.Path(), 0o600) },
		"cannot be read":     func() error { return os.Remove(p.Path()) },
		"the note":           func() error { return os.WriteFile(hook.NotePath(p.Path()), []byte("{"), 0o600) },
		"decides where no":   func() error { return os.Rename(p.Myc, p.Myc+"2") },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got := p.Problems("x"); len(got) != 1 || !strings.Contains(got[0].Message, want) || got[0].Hint != "x" {
			t.Errorf("%s: %v", want, got)
		}
		put(t, p.Myc, "the whole", 0o700)
		_ = os.Remove(p.Path())
		if err := p.Install(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProgramIsNotForAgents: a program in a place where an agent may write is refused, with a way out.
func TestProgramIsNotForAgents(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	put(t, filepath.Join(other, "mycelium.yaml"), "", 0o600)
	for program, want := range map[string]string{
		filepath.Join(dir, "bin", "myc"):   "a folder for temporary files",
		"/work/shop/bin/myc":               "in the project /work/shop",
		"/var/tmp/myc":                     "a folder for temporary files",
		filepath.Join(other, "bin", "myc"): "a folder for temporary files",
		"/usr/local/bin/myc":               "",
		"/work/shop2/bin/myc":              "",
	} {
		if got := exposed(program, "/work/shop"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
	t.Setenv("TMPDIR", "/work/else/tmp")
	p := Program{Folder: filepath.Join(dir, "state"), Myc: "/work/shop/bin/myc", Dir: "/work/shop"}
	var fe *FileError
	if err := p.Install(); !errors.As(err, &fe) || !strings.Contains(fe.Hint, "/usr/local/bin") ||
		!strings.Contains(fe.Hint, "--unsafe-program") {
		t.Errorf("%v", err)
	}
}

// TestRestore: entries that somebody changes are put back three times, until a person installs them again. What a person uninstalls stays
// away, and what others add is no change.
func TestRestore(t *testing.T) {
	eachScope(t, func(t *testing.T, s *Setup, file string) {
		changes, err := s.Install()
		must(t, changes, err)
		watched := func() []*Setup { return Watched(s.State, s.Environ) }
		if got := watched(); len(got) != 1 || len(Watched(s.State.Of("/another"), s.Environ)) != map[bool]int{true: 1}[s.Scope == harness.User] {
			t.Fatalf("watched: %v", got)
		}
		installed := get(t, file)
		for i, harm := range []string{"", "{}", strings.ReplaceAll(installed, "myc-hook", "true"), "{}"} {
			if put(t, file, harm, 0o600); harm == "" {
				os.Remove(file)
			}
			r, err := watched()[0].Restore()
			if want := (Restored{file, true, i < maxRestored, min(i+1, maxRestored), ""}); err != nil || r != want {
				t.Fatalf("harm %d: %+v %v, want %+v", i, r, err, want)
			}
			if r, err := watched()[0].Restore(); i < maxRestored && (err != nil || r.Changed) {
				t.Errorf("after harm %d: %+v %v", i, r, err)
			}
		}
		if st := s.Status(); !slices.ContainsFunc(st.Problems, func(p Problem) bool { return strings.Contains(p.Message, "again and again") }) {
			t.Errorf("status: %+v", st)
		}
		changes, err = s.Install()
		must(t, changes, err)
		text, err := addElements([]byte(get(t, file)), s.Agent.Hooks.Comments, []string{"mine"}, jsontext.Value(`"x"`))
		if err != nil {
			t.Fatal(err)
		}
		put(t, file, string(text), 0o600)
		if r, err := watched()[0].Restore(); err != nil || r.Changed || r.Times != 0 {
			t.Errorf("with an element of a person: %+v %v", r, err)
		}
		changes, err = s.Uninstall()
		must(t, changes, err)
		if got := watched(); len(got) != 0 {
			t.Errorf("after uninstall: %v", got)
		}
	})
}

// TestWatchedInWorktrees: the daemon of a project guards the entries in its linked working trees, which are for the project. A working tree
// that was removed is no longer guarded: its files are not made again.
func TestWatchedInWorktrees(t *testing.T) {
	s, _ := newSetup(t, "claude", false)
	main, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.Dir = main + "-tree"
	s.State = s.State.Of(main)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", main, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + main, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "a")
	git("worktree", "add", "-q", "--detach", s.Dir)
	changes, err := s.Install()
	must(t, changes, err)
	file := filepath.Join(s.Dir, ".claude", "settings.local.json")
	if text := get(t, file); !strings.Contains(text, `"`+main+`"`) || !strings.Contains(text, "Edit(/"+main+"/rules.yaml)") ||
		!strings.Contains(text, "Edit(/"+s.Dir+"/rules.yaml)") {
		t.Errorf("not for the project: %s", text)
	}
	if st := s.Status(); len(st.Problems) > 0 {
		t.Errorf("status: %v", st.Problems)
	}
	got := Watched(s.State, s.Environ)
	if len(got) != 1 || got[0].Dir != s.Dir {
		t.Fatalf("watched: %+v", got)
	}
	if r, err := got[0].Restore(); err != nil || r.Changed {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if r, err := got[0].Restore(); err != nil || !r.Back {
		t.Errorf("not put back: %+v, %v", r, err)
	}
	git("worktree", "remove", "--force", s.Dir)
	if got := Watched(s.State, s.Environ); len(got) != 0 {
		t.Errorf("still watched: %+v", got)
	}
}

// TestRestoreWhatCannotBeRead: a file that neither we nor the agent can read is put aside, and what was installed is there again. A file
// that somebody is just writing is left alone.
func TestRestoreWhatCannotBeRead(t *testing.T) {
	for age, want := range map[time.Duration]bool{-time.Hour: false, 0: true, settle / 2: true, settle: false} {
		if now := time.Now(); writing(now.Add(-age), now) != want {
			t.Errorf("a file that was written %s ago is being written: %t", age, !want)
		}
	}
	for name, harm := range map[string]func(t *testing.T, file string){
		"broken": func(t *testing.T, file string) { put(t, file, "{", 0o600) },
		"a folder": func(t *testing.T, file string) {
			os.Remove(file)
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"a pipe": func(t *testing.T, file string) {
			os.Remove(file)
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"a link to nothing": func(t *testing.T, file string) {
			os.Remove(file)
			if err := os.Symlink("nowhere", file); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, file := newSetup(t, "claude", false)
			changes, err := s.Install()
			must(t, changes, err)
			installed := get(t, file)
			harm(t, file)
			old := unix.NsecToTimeval(time.Now().Add(-time.Minute).UnixNano())
			if err := unix.Lutimes(file, []unix.Timeval{old, old}); err != nil {
				t.Fatal(err)
			}
			r, err := s.Restore()
			if err != nil || !r.Back || r.Kept == "" || get(t, file) != installed {
				t.Fatalf("%+v %v: %q", r, err, get(t, file))
			}
			if _, err := os.Lstat(r.Kept); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRestoreSwitch: hooks that were on are switched on again, and the switch in a project's file is set, because it stands above others.
func TestRestoreSwitch(t *testing.T) {
	eachScope(t, func(t *testing.T, s *Setup, file string) {
		for _, sw := range s.Agent.Hooks.Switches {
			off := `{"` + strings.Join(sw.Path, `": {"`) + `": ` + map[string]string{"true": "false", "false": "true"}[sw.On] +
				strings.Repeat("}", len(sw.Path))
			put(t, file, off, 0o600)
			changes, err := s.Install()
			must(t, changes, err)
			if r, err := s.Restore(); err != nil || r.Changed || len(s.off([]byte(get(t, file)))) != 1 {
				t.Fatalf("what a person has off: %+v %v, %s", r, err, get(t, file))
			}
			changes, err = s.Uninstall()
			must(t, changes, err)
			if get(t, file) != off {
				t.Errorf("after uninstall: %s", get(t, file))
			}
			put(t, file, "{}", 0o600)
			changes, err = s.Install()
			must(t, changes, err)
			text := get(t, file)
			if pinned := exists([]byte(text), true, sw.Path); pinned != (sw.Pin && s.Scope == harness.Project) {
				t.Errorf("the switch is set: %t\n%s", pinned, text)
			}
			put(t, file, off, 0o600)
			if r, err := s.Restore(); err != nil || !r.Back || len(s.off([]byte(get(t, file)))) != 0 {
				t.Fatalf("what somebody switched off: %+v %v, %s", r, err, get(t, file))
			}
			changes, err = s.Uninstall()
			must(t, changes, err)
		}
	})
}
