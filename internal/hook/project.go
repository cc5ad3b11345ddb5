package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"mycelium/internal/harness"
	"mycelium/internal/rawjson"
	"mycelium/internal/state"
	"mycelium/internal/worktree"
)

// mainFile is the file that makes a folder a project before anybody has accepted it.
const mainFile = "mycelium.yaml"

// ProjectDir returns the project folder, absolute and with links resolved: the one that is given, else the nearest project, from the
// agent's start folder upwards. The search ends at the home of the account. If it finds none, dir is the start folder, and found is false.
// A folder of a linked working tree of git stands for one of the main working tree, also if it is given.
func (f Flags) ProjectDir(getenv func(string) string) (dir string, found bool, err error) {
	dir = f.Dir
	search := dir == "" || dir == "."
	if search {
		a, _ := harness.Named(f.Agent)
		if dir = getenv(a.ProjectVar); a.ProjectVar == "" || !filepath.IsAbs(dir) {
			dir = "."
		}
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", false, fmt.Errorf("find the project folder: %w", err)
	}
	root, err := f.Root()
	if err == nil {
		f.State = root // looked up once
	}
	workers := root.WorkersAt(abs)
	main := worktree.Main(abs, workers)
	if !search {
		return main, true, nil
	}
	if at := Nearest(abs, workers, "", f.isProject); at != "" {
		return at, true, nil
	}
	return main, f.ID != "", nil
}

// Nearest returns the nearest project from a folder upwards, or "". The folder is absolute, with links resolved. The search ends at the
// home of the account, and at another home folder ("": none), after a look at them. is reports whether a folder, the main working tree of
// its repository, is a project; beyond says that it lies on another file system than the first folder. workers is as in [worktree.Of].
func Nearest(dir, workers, otherHome string, is func(dir string, beyond bool) bool) string {
	if other, err := filepath.EvalSymlinks(otherHome); err == nil && otherHome != "" {
		otherHome = other
	}
	home := sync.OnceValue(accountHome)
	ends := func(at string) bool { return at == home() || at == otherHome }
	for _, from := range []string{dir, worktree.Main(dir, workers)} { // a project above the main working tree is found from there only
		if at := nearest(from, workers, ends, is); at != "" {
			return at
		}
	}
	return ""
}

// nearest is the search of [Nearest] from one folder.
func nearest(dir, workers string, ends func(dir string) bool, is func(dir string, beyond bool) bool) string {
	device, beyond := deviceOf(dir), false
	for at := dir; ; at = filepath.Dir(at) {
		beyond = beyond || deviceOf(at) != device
		if main := worktree.Main(at, workers); is(main, beyond) {
			return main
		}
		if at == filepath.Dir(at) || ends(at) {
			return ""
		}
	}
}

// deviceOf returns the file system that a folder is on, or 0 if it cannot be told.
func deviceOf(dir string) uint64 {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return 0
	}
	return uint64(st.Dev) //nolint:gosec,unconvert,nolintlint // an int32 on some systems; it is only compared
}

// accountHome returns the home folder of the account with links resolved, or "".
func accountHome() string {
	home, err := state.AccountHome()
	if err == nil {
		home, err = filepath.EvalSymlinks(home)
	}
	if err != nil {
		return ""
	}
	return home
}

// isProject reports whether a folder is a project. Without a state folder only its files count.
func (f Flags) isProject(dir string, beyond bool) bool {
	p, err := f.Paths(dir, true)
	if err != nil {
		p = state.Paths{}
	}
	return IsNearest(p.For(dir), beyond)
}

// IsNearest is [IsProject] for a search. Beyond a mount point only a project counts that a person has accepted: another file system may be
// anybody's, but a mount in a project does not end its policy.
func IsNearest(p state.Paths, beyond bool) bool {
	return IsProject(p) && (!beyond || p.Root != "" && accepted(p))
}

// IsProject reports whether a folder is a project of its own: it has a mycelium.yaml, or a person has accepted files of it, or the state
// knows it and it has rules or roles. That the state knows it is not enough, because any command of a person makes it known; and other
// files of a policy have names that folders of any kind have.
func IsProject(p state.Paths) bool {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(p.Project, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if there(mainFile) {
		return true
	}
	if p.Root == "" {
		return false
	}
	if accepted(p) {
		return true
	}
	_, err := p.ReadNote()
	return err == nil && (there("rules.yaml") || there("roles"))
}

// accepted reports whether a person has accepted files of a project, or it cannot be told. That there are none makes no project.
func accepted(p state.Paths) bool {
	list, err := os.ReadDir(p.Accepted())
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	for _, d := range list {
		data, err := os.ReadFile(filepath.Join(p.Accepted(), d.Name(), state.ManifestName))
		if !errors.Is(err, fs.ErrNotExist) && string(rawjson.Member(data, "files")) != "[]" {
			return true
		}
	}
	return err != nil
}
