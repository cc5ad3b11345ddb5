package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/op/failure"
)

// privateFiles gives an agent its configuration for this project, with our hook and the gateway, and has our program stand in the place of
// its commands.
func (a *app) privateFiles(ctx context.Context, l *Launch) error {
	version, err := l.agent.Version(ctx, l.program, a.Environ)
	if err != nil {
		return err
	}
	if !l.agent.Replaces(version) {
		return failure.Hint(fmt.Errorf("%s: the commands of %s %s cannot be put into the sandbox: it is older than %s, the first version that was tried",
			l.agent.Name, l.agent.Title, version, l.agent.ReplacesFrom), "update it: npm install -g "+l.agent.Package)
	}
	s, err := a.setup(l.agent, harness.User)
	if err != nil {
		return err
	}
	dir := "" // where the person is, below the project
	if !a.Found {
		dir = a.Dir
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("find the folder in which the agent works: %w", err)
	}
	if err := s.Displaced(l.Dir, dir); err != nil {
		return fileFailure(err)
	}
	paths := s.State.For(l.Dir)
	l.home, l.files = paths.Home(l.agent.Name), paths.Run(l.Session.ID)
	private, err := s.Private(l.home, a.Environ, gatewayCommand(s, paths))
	if err != nil {
		return err
	}
	for path, text := range private.Files {
		if err := written(path, text); err != nil {
			return fmt.Errorf("write the configuration of %s: %w", l.agent.Title, err)
		}
	}
	for path, own := range private.Logins {
		if err := linked(path, own); err != nil {
			return fmt.Errorf("sign %s in: %w", l.agent.Title, err)
		}
	}
	if err := os.MkdirAll(l.files, 0o700); err != nil {
		return fmt.Errorf("make a folder for this run: %w", err)
	}
	l.close = append(l.close, func() { _ = os.RemoveAll(l.files) })
	l.fixed, l.Options, l.Environ = private.Fixed, l.agent.Launch.Always, append(l.Environ, private.Environ...)
	n := a.shellNote(s, paths)
	n.Named = true
	return agentshell.Prepare(l.files, s.Myc, n, a.Environ)
}

// written writes a file that has another text. One with the same text stays: it may be mounted in the wall around another agent.
func written(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}

// linked makes a link to a file of the person's, so that a login that the agent renews is renewed for both.
func linked(path, own string) error {
	if to, err := os.Readlink(path); err == nil && to == own {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.Symlink(own, path)
}
