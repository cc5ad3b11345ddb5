package swarmed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/state"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// Inside runs programs of ours within the walls of the workers of a project: they find the tree of the worker and the objects of the session.
// Where no wall can be built, workers run without one, because a person has accepted that; so do these programs.
func Inside(paths state.Paths) git.Inside {
	return func(ctx context.Context, dir string, in io.Reader, out io.Writer, argv []string) error {
		tree, ok := worktree.Worker(dir, paths.Workers())
		if !ok {
			return fmt.Errorf("%s is in no tree of a worker", dir)
		}
		self, err := sandboxed.Self()
		if err != nil {
			return err
		}
		c, err := sandboxed.Command(tree.Dir, paths, "", os.Environ())
		if err != nil {
			return err
		}
		p, _ := sandbox.Find("project")
		p.Project = false
		c.Argv, c.Dir, c.Profile, c.Quarantine, c.In, c.Out, c.Err = argv, dir, p, "", in, out, io.Discard
		r, err := sandbox.Run(ctx, self, &c)
		switch stage, unbuilt := errors.AsType[*jail.StageError](err); {
		case unbuilt:
			if err := git.Bare(ctx, dir, in, out, argv); err != nil {
				return errors.Join(stage, err)
			}
		case err != nil:
			return err
		case r.ExitCode != 0:
			return git.StatusError(r.ExitCode)
		}
		return nil
	}
}
