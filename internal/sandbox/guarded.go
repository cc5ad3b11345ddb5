package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Guarded are the paths of a project that a command inside finds otherwise than the rest, although the project is writable.
type Guarded struct {
	Fixed  []string // read-only: what governs agents, hooks of git, and the settings of every agent's hook
	Hidden []string // they look empty: what no agent may open
	Git    []string // folders of git repositories, each with the configuration that git reads
}

// mostEntries bounds the files that are looked at. A project beyond it has to be narrowed by the caller.
const mostEntries = 500_000

// Guard looks for what is guarded in a project. It reads the whole tree, because git and archives bring such files into any folder.
func Guard(project, home string) (*Guarded, error) {
	forms := guardedForms(project, home)
	var out Guarded
	entries := 0
	err := filepath.WalkDir(project, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return skip(d)
		}
		if entries++; entries > mostEntries {
			return fmt.Errorf("%s has more than %d files: the sandbox cannot tell which of them govern agents", project, mostEntries)
		}
		if form, ok := forms.of(path); ok {
			if form.ChangeOnly {
				out.Fixed = append(out.Fixed, path)
			} else {
				out.Hidden = append(out.Hidden, path)
			}
			return skip(d)
		}
		if d.IsDir() && isGit(path) {
			out.Git = append(out.Git, path)
			out.Fixed = append(out.Fixed, gitFixed(path)...)
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &out, nil
}

// skip passes over a folder.
func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return filepath.SkipDir
	}
	return nil
}

// forms are the protected paths of the policy, as they are looked for in one project.
type forms struct {
	exact map[string]policy.BasePath   // absolute
	ends  map[string][]policy.BasePath // "**/a/b", by the last component
}

func guardedForms(project, home string) forms {
	out := forms{map[string]policy.BasePath{}, map[string][]policy.BasePath{}}
	for _, b := range policy.BasePaths() {
		first, rest, _ := strings.Cut(b.Path, "/")
		switch first {
		case "**":
			name := filepath.Base(rest)
			out.ends[name] = append(out.ends[name], b)
		case ".":
			out.exact[filepath.Join(project, rest)] = b
		case "~":
			out.exact[filepath.Join(home, rest)] = b
		case "":
			if b.Path != "/root" { // the home of root is empty inside, and a project may lie in it
				out.exact[b.Path] = b
			}
		}
	}
	return out
}

// of returns the form that a path has.
func (f forms) of(path string) (policy.BasePath, bool) {
	if b, ok := f.exact[path]; ok {
		return b, true
	}
	for _, b := range f.ends[filepath.Base(path)] {
		if strings.HasSuffix(path, strings.TrimPrefix(b.Path, "**")) {
			return b, true
		}
	}
	return policy.BasePath{}, false
}

// isGit reports whether a folder is what git calls a git directory: that of a repository, a bare repository or a submodule.
func isGit(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// gitFixed are the parts of a git directory that git runs or that name what it runs. Those of submodules lie below modules.
func gitFixed(dir string) []string {
	var out []string
	for _, name := range []string{"hooks", "config.worktree", "worktrees"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			out = append(out, filepath.Join(dir, name))
		}
	}
	_ = filepath.WalkDir(filepath.Join(dir, "modules"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || !isGit(path) {
			return skipUnread(err)
		}
		for _, name := range []string{"hooks", "config"} {
			if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
				out = append(out, filepath.Join(path, name))
			}
		}
		return filepath.SkipDir
	})
	return out
}

func skipUnread(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return filepath.SkipDir
	}
	return err
}

// Since returns what a later look finds that was not there before: governed names that a command has made.
func (g *Guarded) Since(before *Guarded) []string {
	var out []string
	for _, lists := range [][2][]string{{g.Fixed, before.Fixed}, {g.Hidden, before.Hidden}} {
		for _, path := range lists[0] {
			if !slices.Contains(lists[1], path) {
				out = append(out, path)
			}
		}
	}
	return out
}
