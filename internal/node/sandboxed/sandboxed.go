// Package sandboxed says what a command of the sandbox has on a project: its tree, the repository of a linked worktree, and the folders
// that the state keeps.
package sandboxed

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/config"
	"mycelium/internal/gate/facts"
	"mycelium/internal/hook"
	"mycelium/internal/policy"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/sandbox/served"
	"mycelium/internal/sandbox/warm"
	"mycelium/internal/state"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/worktree"
)

// Find finds a profile by its name, as the files of now have it.
type Find func(name string) (sandbox.Profile, bool)

// Self says how the sandbox's child is started: by the small program beside this one, which starts in a fourth of the time, else by this
// one.
func Self() (jail.Self, error) {
	program, err := os.Executable()
	if err != nil {
		return jail.Self{}, fmt.Errorf("find this program: %w", err)
	}
	return jail.Self{Argv: []string{program, jail.ChildName}, Small: filepath.Join(filepath.Dir(program), hook.Small)}, nil
}

// Command is what every command on a project has. folder is the project's, or that of a linked worktree of it.
func Command(folder string, paths state.Paths, home string, environ []string) (sandbox.Command, error) {
	c := sandbox.Command{Project: folder, Dir: folder, Environ: environ,
		Caches: paths.Sandbox("cache"), Seeds: warm.Seeds(paths.Seeds()), Taken: warm.Taken(paths.Sandbox("taken")),
		Scratch: paths.Sandbox("scratch"), Quarantine: paths.Sandbox("quarantine"),
		History: paths.Sandbox("history"),
		Hide:    []string{string(paths.Root)}}
	if home != "" {
		resolved, err := filepath.EvalSymlinks(home)
		if err != nil {
			return c, fmt.Errorf("find the home folder: %w", err)
		}
		c.Home = resolved
	}
	if t, ok := worktree.Worker(folder, paths.Workers()); ok {
		session, _, _ := strings.Cut(filepath.Base(t.Dir), ".")
		c.Untrusted, c.Read = true, append(c.Read, ground.Pool(filepath.Dir(t.Dir), session))
		c.Locks.Folder = t.Main // the worker may write its own repository, and no git outside runs in it
	} else if t, ok := worktree.Of(folder, ""); ok {
		own, common := worktree.Repository(t.Dir)
		c.Worktree = &sandbox.Worktree{Own: own, Common: common}
	}
	for _, dir := range []string{c.Caches, c.Scratch, c.Quarantine, c.History} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return c, fmt.Errorf("make a folder of the sandbox: %w", err)
		}
	}
	return c, nil
}

// Server is the built-in server mycelium-sandbox of a project. law is as in [served.New].
func Server(folder string, paths state.Paths, home string, environ []string, law func() (served.Law, bool)) (*served.Server, error) {
	self, err := Self()
	if err != nil {
		return nil, err
	}
	return served.New(self, facts.Interpreters, func(tree string) (sandbox.Command, error) {
		if tree == "" {
			return Command(folder, paths, home, environ)
		}
		c, err := Command(tree, paths, home, environ)
		if _, ok := worktree.Of(tree, paths.Workers()); err == nil && !ok {
			err = errors.New("the folder in which this session works is no worktree of the project any more")
		}
		c.GitConfig = paths.Sandbox("gitconfig")
		Identify("git", c.GitConfig, environ) // who works there commits
		return c, err
	}, law)
}

// Wanted reports whether the files of a project want a sandbox: they have profiles of their own, or a rule that names one.
func Wanted(p *config.Project) bool {
	return p.Walled() || len(p.File.Sandbox.Profiles) > 0 || slices.ContainsFunc(p.Rules, func(r policy.Rule) bool { return !r.Sandbox.None() })
}
