package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/config/source"
	"mycelium/internal/hook"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/worktree"
)

// Need says what a command needs to know of a project.
type Need int

// What commands need.
const (
	NeedsProject Need = iota // it is about a project, and fails without one
	MayHave                  // it uses a project if there is one
	NeedsFolder              // it is about a folder, which need not be a project yet
)

// Find sets Dir to the folder that a command is about. If -C names one, it is that folder. Else it is the nearest project from the current
// folder upwards, as a hook finds it, or the current folder. Find creates nothing.
func (l *Loader) Find(need Need) error {
	named := l.Dir != ""
	if !named {
		l.Dir = "."
	}
	if need == NeedsFolder {
		return nil
	}
	folder, err := l.Folder()
	if err != nil {
		if need == MayHave {
			return nil // whoever uses the folder reports it
		}
		return err
	}
	workers := l.workers(folder)
	main := worktree.Main(folder, workers)
	if l.ID != "" || l.Config != "" || l.isProject(main) {
		return nil
	}
	above := hook.Nearest(folder, workers, l.Getenv("HOME"), l.isNearest)
	switch {
	case above != "" && !named:
		l.Dir, l.Found = folderOf(folder, workers, above), true
		fmt.Fprintf(l.Err, "myc: the project is %s, above this folder\n", above)
		return nil
	case hasDeclarations(main), need == MayHave:
		return nil
	case above != "":
		return failure.New(failure.Usage, fmt.Errorf("%s is not a Mycelium project of its own", folder),
			"the project is "+above+": run this with -C "+above)
	}
	return failure.New(failure.Usage, fmt.Errorf("%s is not a Mycelium project, and no folder above it is one", folder),
		"myc init sets one up in this folder; -C names another")
}

// folderOf returns the folder at or above another that stands for a project: the project itself, or its counterpart in the linked working
// tree of git in which that folder lies.
func folderOf(dir, workers, project string) string {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if worktree.Main(at, workers) == project {
			return at
		}
	}
	return project
}

// isProject reports whether a folder is a project, as for a hook.
func (l *Loader) isProject(dir string) bool { return l.isNearest(dir, false) }

func (l *Loader) isNearest(dir string, beyond bool) bool {
	p := state.Paths{Project: dir}
	if root, err := l.root(dir, l.ofAgent()); err == nil {
		p = root.Of(dir)
	}
	return hook.IsNearest(p, beyond)
}

// hasDeclarations reports whether a folder has files that would govern it, such as the .mcp.json of a clone: a person can look at them and
// accept them. It is no project for the folders below it.
func hasDeclarations(dir string) bool {
	for _, name := range []string{source.RulesFile, source.RolesFolder, source.SkillsFolder, source.ClientFile, source.ConfigFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}
