package swarmed

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/state"
	"mycelium/internal/swarm/ground"
)

// inside runs a program of ours within the walls of a worker: it finds the tree of the worker and the objects of the session, and changes
// nothing. Where no wall can be built, workers run without one, because a person has accepted that; so does this program, and nothing is
// in its environment then.
func inside(paths state.Paths) func(ctx context.Context, tree string, in io.Reader, out io.Writer, argv []string) error {
	return func(ctx context.Context, tree string, in io.Reader, out io.Writer, argv []string) error {
		self, err := sandboxed.Self()
		if err != nil {
			return err
		}
		c, err := sandboxed.Command(tree, paths, "", os.Environ())
		if err != nil {
			return err
		}
		p, _ := sandbox.Find("project")
		p.Project = false
		c.Argv, c.Dir, c.Profile, c.Quarantine, c.In, c.Out, c.Err = argv, tree, p, "", in, out, io.Discard
		r, err := sandbox.Run(ctx, self, &c)
		switch stage, unbuilt := errors.AsType[*jail.StageError](err); {
		case unbuilt:
			if err := bare(ctx, tree, in, out, argv); err != nil {
				return errors.Join(stage, err)
			}
		case err != nil:
			return err
		case r.ExitCode != 0:
			return ground.StatusError(r.ExitCode)
		}
		return nil
	}
}

// bare runs a program without walls.
func bare(ctx context.Context, tree string, in io.Reader, out io.Writer, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // of our own
	cmd.Dir, cmd.Stdin, cmd.Stdout = tree, in, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1"}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return ground.StatusError(exit.ExitCode())
	}
	return err
}
