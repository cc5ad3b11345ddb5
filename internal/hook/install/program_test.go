package install

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

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
		watched := func() []*Setup { return Watched(s.Root, s.Dir, s.Environ) }
		if got := watched(); len(got) != 1 || len(Watched(s.Root, "/another", s.Environ)) != map[bool]int{true: 1}[s.Scope == harness.User] {
			t.Fatalf("watched: %v", got)
		}
		installed := get(t, file)
		for i, harm := range []string{"", "{}", strings.Replace(installed, "myc-hook", "myc-hooked", 1), "{}"} {
			if put(t, file, harm, 0o600); harm == "" {
				os.Remove(file)
			}
			r, err := watched()[0].Restore()
			if want := (Restored{file, true, i < maxRestored, min(i+1, maxRestored)}); err != nil || r != want {
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
		text, err := addElement([]byte(get(t, file)), s.Agent.Hooks.Comments, []string{"mine"}, jsontext.Value(`"x"`))
		if err != nil {
			t.Fatal(err)
		}
		put(t, file, string(text), 0o600)
		if r, err := watched()[0].Restore(); err != nil || r.Changed || r.Times != 0 {
			t.Errorf("with an element of a person: %+v %v", r, err)
		}
		put(t, file, "{", 0o600)
		if _, err := watched()[0].Restore(); err == nil || get(t, file) != "{" {
			t.Errorf("a broken file: %v %q", err, get(t, file))
		}
		put(t, file, string(text), 0o600)
		changes, err = s.Uninstall()
		must(t, changes, err)
		if got := watched(); len(got) != 0 {
			t.Errorf("after uninstall: %v", got)
		}
	})
}
