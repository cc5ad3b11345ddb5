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
	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
	"mycelium/internal/keeper"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
)

func (a *app) stopCmd() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "stop", Short: "Stop the project's daemon", Example: "  myc stop", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.stop(c.Context(), force) },
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "kill it if it does not answer")
	return c
}

func (a *app) keeperCmd() *cobra.Command {
	return &cobra.Command{
		Use: "keeper", Short: "Own the processes of backends (started by the daemon)", Hidden: true, Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error { return keeper.Run() },
	}
}

// waitFree waits until nobody owns the project.
func waitFree(ctx context.Context, paths daemon.Paths) error {
	patience := 10 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline)
	}
	l, err := atomicfile.LockWait(paths.Lock, patience)
	if err != nil {
		return fmt.Errorf("wait for the daemon to end: %w", err)
	}
	return l.Unlock()
}

func (a *app) stop(ctx context.Context, force bool) error {
	if err := a.NeedPerson("stop the daemon"); err != nil {
		return err
	}
	patience := base.AnswerWithin
	if force {
		patience = 2 * time.Second // whoever forces has waited already
	}
	greeting, done := context.WithTimeout(ctx, patience)
	defer done()
	c, paths, err := a.Running(greeting)
	if err == nil && c == nil {
		fmt.Fprintln(a.Err, "myc: no daemon runs for this project")
		return nil
	}
	if err == nil {
		defer c.Close()
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err = base.Answered(c.Call(short, "stop", nil, nil)); err == nil {
			err = waitFree(short, paths)
		}
	}
	if err == nil {
		return nil
	}
	if !force {
		return failure.Hint(fmt.Errorf("stop: the daemon does not end: %w", err), "myc stop -f kills it")
	}
	return kill(ctx, paths)
}

// kill ends a daemon that does not answer. Its servers end with their keeper.
func kill(ctx context.Context, paths daemon.Paths) error {
	b, err := os.ReadFile(paths.Info)
	if errors.Is(err, fs.ErrNotExist) {
		return failure.Hint(fmt.Errorf("stop: nothing says which process the daemon is"), "find it with: fuser "+paths.Lock)
	}
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	var i api.Info
	if err := json.Unmarshal(b, &i); err != nil || i.PID <= 1 {
		return fmt.Errorf("stop: %s holds no process id", paths.Info)
	}
	if err := syscall.Kill(i.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop: kill %d: %w", i.PID, err)
	}
	return waitFree(ctx, paths)
}
