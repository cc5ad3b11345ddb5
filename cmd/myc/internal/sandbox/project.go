package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/op/failure"
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

// config is what is in force in the project, or in the user's own files alone.
func (a *app) config(outside bool) (*config.Project, error) {
	l := a.Loader
	l.Outside, l.Snapshot = outside, true
	p, err := l.Load()
	if err != nil {
		return nil, err
	}
	if p.Broken.All != "" {
		return nil, failure.New(failure.Config,
			fmt.Errorf("it cannot be told what the profiles of the sandbox are: %s", p.Broken.All), "myc doctor says what is wrong")
	}
	return p, nil
}

// resolve returns the absolute path of what exists, without links.
func resolve(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		var at *os.PathError
		if errors.As(err, &at) {
			err = at.Err
		}
		return "", failure.Usagef("%s: %w", name, err)
	}
	return path, nil
}
