package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/daemon"
	"mycelium/internal/keeper"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
)

func (a *app) stopCmd() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "stop", Short: "Stop the project's daemon", Example: "  myc stop", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.stop(c.Context(), force) },
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "kill the daemon if it does not answer")
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

// awaitEnd waits until a daemon has ended, and says who has taken its place.
func (a *app) awaitEnd(ctx context.Context, paths daemon.Paths, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
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
	patience := base.AnswerWithin
	if force {
		patience = 2 * time.Second // with -f, the person has probably waited already
	}
	greeting, done := context.WithTimeout(ctx, patience)
	defer done()
	_, paths, err := a.Paths()
	if err != nil {
		return err
	}
	c, err := a.Running(greeting)
	if err == nil && c == nil {
		if err := a.Find(project.NeedsProject); err != nil {
			return err
		}
		fmt.Fprintln(a.Err, "myc: no daemon runs for this project")
		return nil
	}
	if err == nil {
		defer c.Close()
		short, cancel := context.WithTimeout(ctx, base.AnswerWithin)
		defer cancel()
		_, err = base.Call(short, c, api.Stop, api.None{})
		if err == nil {
			err = a.awaitEnd(ctx, paths, c.Owner)
		} else if a.awaitEnd(short, paths, c.Owner) == nil { // it ended before it could answer
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

// kill kills a daemon that does not answer. The keeper then ends its servers.
func (a *app) kill(ctx context.Context, paths daemon.Paths) error {
	b, err := os.ReadFile(paths.Info)
	if errors.Is(err, fs.ErrNotExist) {
		return failure.Hint(fmt.Errorf("stop: the process id of the daemon is not known"), "find it with: fuser "+paths.Lock)
	}
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	var i api.DaemonFile
	if err := json.Unmarshal(b, &i); err != nil || i.PID <= 1 {
		return fmt.Errorf("stop: %s holds no process id", paths.Info)
	}
	if !daemon.Holds(i.PID, paths.Lock) {
		return failure.Hint(fmt.Errorf("stop: %s names process %d, which is not this project's daemon", paths.Info, i.PID),
			"find the daemon with: fuser "+paths.Lock)
	}
	if err := syscall.Kill(i.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop: kill %d: %w", i.PID, err)
	}
	return a.awaitEnd(ctx, paths, i.PID)
}
