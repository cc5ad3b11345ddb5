package serve

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/daemon"
	"mycelium/internal/keeper"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

func (a *app) stopCmd() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "stop", Short: "Stop the project's daemon", Example: "  myc stop", Args: base.NoArgs,
		Long: "Stop the process that owns the project. Calls that run get 20 seconds to end. A myc call that waits for an approval ends with an\n" +
			"error and has not run. Requests are kept for the next daemon: who makes the same call again there waits for the same request. With\n" +
			"-f the process is killed if it has not ended after a few seconds.",
		RunE: func(c *cobra.Command, _ []string) error { return a.stop(c.Context(), force) },
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "kill the daemon if it does not end soon")
	return c
}

func (a *app) keeperCmd() *cobra.Command {
	return &cobra.Command{
		Use: "keeper", Short: "Keep the processes of servers (started by the daemon)", Hidden: true, Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error { return keeper.Run() },
	}
}

// endWithin is how long a daemon that agreed to stop may take. It ends its servers one after the other, each with a grace period. For a
// daemon that never ends there is `myc stop -f`.
const endWithin = time.Minute

// forceWithin is how long `myc stop -f` waits before it kills a daemon that agreed to stop.
const forceWithin = 5 * time.Second

// awaitEnd waits until a daemon has ended, and says who has taken its place.
func (a *app) awaitEnd(ctx context.Context, paths daemon.Paths, pid int, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	said := time.AfterFunc(sayWaiting, func() {
		fmt.Fprintf(a.Err, "myc: waiting for the end of process %d, whose calls may still run; myc stop -f kills it\n", pid)
	})
	defer said.Stop()
	next, err := daemon.AwaitEnd(ctx, paths, pid)
	if err != nil {
		return fmt.Errorf("wait for the daemon to end: %w", err)
	}
	if next != 0 {
		fmt.Fprintf(a.Err, "myc: the daemon has ended (pid %d), and an attached client has started the next one (pid %d)\n", pid, next)
	}
	return nil
}

func (a *app) stop(ctx context.Context, force bool) error {
	if err := a.NeedPerson("stop the daemon"); err != nil {
		return err
	}
	patience, within := base.AnswerWithin, endWithin
	if force {
		patience, within = 2*time.Second, forceWithin // with -f, the person has probably waited already
	}
	greeting, done := context.WithTimeout(ctx, patience)
	defer done()
	_, paths, err := a.Paths()
	if err != nil {
		return err
	}
	c, leaving, err := a.settled(greeting, paths)
	switch {
	case err != nil:
	case leaving != 0:
		err = a.awaitEnd(ctx, paths, leaving, within)
	case c == nil:
		if err := a.Find(project.NeedsProject); err != nil {
			return err
		}
		fmt.Fprintln(a.Err, "myc: no daemon runs for this project")
		return nil
	default:
		short, cancel := context.WithTimeout(ctx, base.AnswerWithin)
		defer cancel()
		_, err = base.Call(short, c, api.Stop, op.None{})
		c.Close()
		if err == nil {
			err = a.awaitEnd(ctx, paths, c.Owner, within)
		} else if a.awaitEnd(short, paths, c.Owner, within) == nil { // it ended before it could answer
			err = nil
		}
	}
	var stranger *daemon.StrangerError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stranger) && (!force || !daemon.Owned(paths)):
		return err // its hint says more; without an owner there is nothing to kill
	case !force:
		return failure.Hint(fmt.Errorf("stop: the daemon does not end: %w", err), "myc stop -f kills it")
	}
	return a.kill(ctx, paths)
}

// settled attaches to the owner of the project, and waits for a daemon that starts until it answers. leaving is an owner that takes no
// connection any more. Without a client and without one that leaves, nobody owns the project.
func (a *app) settled(ctx context.Context, paths daemon.Paths) (c *base.Client, leaving int, err error) {
	for {
		if c, err = a.Running(ctx); c != nil || err != nil {
			return c, 0, err
		}
		pid, _, leaves := daemon.Owning(paths)
		switch {
		case pid == 0:
			return nil, 0, nil
		case leaves:
			return nil, pid, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, fmt.Errorf("process %d does not answer: %w", pid, ctx.Err())
		case <-time.After(settlePoll):
		}
	}
}

// settlePoll is how often a daemon that starts is looked for.
const settlePoll = 20 * time.Millisecond

// kill kills a daemon that does not answer. The keeper then ends its servers.
func (a *app) kill(ctx context.Context, paths daemon.Paths) error {
	if !daemon.Owned(paths) {
		return nil // it has ended meanwhile
	}
	pid, _, _ := daemon.Owning(paths)
	if pid <= 1 || !daemon.Holds(pid, paths.Lock) {
		return failure.Hint(fmt.Errorf("stop: %s does not name the process that holds it", paths.Lock),
			"find it with: fuser "+paths.Lock)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop: kill %d: %w", pid, err)
	}
	return a.awaitEnd(ctx, paths, pid, endWithin)
}
