package sandbox

import (
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/project"
	"mycelium/internal/sandbox"
)

// ofProject lets a command work on the project: its tree, with the repository of a linked worktree, and the folders that the state keeps.
func (a *app) ofProject(c *sandbox.Command) error {
	if err := a.Find(project.NeedsProject); err != nil {
		return err
	}
	dir, err := a.Folder()
	if err != nil {
		return err
	}
	paths, err := a.Know()
	if err != nil {
		return err
	}
	ground, err := agentshell.GroundOf(dir, paths)
	if err != nil {
		return err
	}
	ground.Put(c)
	return nil
}
