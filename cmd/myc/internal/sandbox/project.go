package sandbox

import (
	"fmt"
	"os"

	"mycelium/internal/node/project"
	"mycelium/internal/sandbox"
	"mycelium/internal/worktree"
)

// ofProject lets a command work on the project: its tree, with the repository of a linked worktree, and the folders that the state keeps.
func (a *app) ofProject(c *sandbox.Command) error {
	if err := a.Find(project.NeedsProject); err != nil {
		return err
	}
	var err error
	if c.Project, err = a.Folder(); err != nil {
		return err
	}
	paths, err := a.Know()
	if err != nil {
		return err
	}
	if t, ok := worktree.Of(c.Project); ok {
		own, common := worktree.Repository(t.Dir)
		c.Worktree = &sandbox.Worktree{Own: own, Common: common}
	}
	c.Caches, c.Scratch, c.Quarantine = paths.Sandbox("cache"), paths.Sandbox("scratch"), paths.Sandbox("quarantine")
	for _, dir := range []string{c.Caches, c.Scratch, c.Quarantine} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder of the sandbox: %w", err)
		}
	}
	return nil
}

// say tells what the command left that did not stay.
func (a *app) say(c *sandbox.Command, left sandbox.Left) {
	for _, path := range left.Quarantined {
		fmt.Fprintf(a.Err, "myc: the command made %s, which would govern agents: it is in %s now\n", path, c.Quarantine)
	}
	for _, key := range left.Settings {
		fmt.Fprintf(a.Err, "myc: the command set %s in the configuration of git: git may run what it says, so it was not kept\n", key)
	}
}
