package sandbox

import (
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
)

// ofProject is what a command on the project has.
func (a *app) ofProject() (sandbox.Command, error) {
	if err := a.Find(project.NeedsProject); err != nil {
		return sandbox.Command{}, err
	}
	folder, err := a.Folder()
	if err != nil {
		return sandbox.Command{}, err
	}
	paths, err := a.Know()
	if err != nil {
		return sandbox.Command{}, err
	}
	return sandboxed.Command(folder, paths, a.Getenv("HOME"), a.Environ)
}
