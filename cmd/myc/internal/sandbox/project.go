package sandbox

import (
	"fmt"

	"mycelium/internal/config/profiles"
	"mycelium/internal/node/failure"
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

// profiles are those of the project, or of the user's own files alone.
func (a *app) profiles(outside bool) (profiles.Section, error) {
	l := a.Loader
	l.Outside, l.Snapshot = outside, true
	p, err := l.Load()
	if err != nil {
		return profiles.Section{}, err
	}
	if p.Broken.All != "" {
		return profiles.Section{}, failure.New(failure.Config,
			fmt.Errorf("it cannot be told what the profiles of the sandbox are: %s", p.Broken.All), "myc doctor says what is wrong")
	}
	return p.File.Sandbox, nil
}
