package swarm

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/drive"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/swarm/book"
)

func attachCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "attach FEATURE", Short: "See the terminal of a worker", Args: base.ArgRange(1, 1, "a feature"),
		Long: "Opens the terminal of the worker, in tmux. Ctrl-b d leaves it (in a tmux of yours: Ctrl-b Ctrl-b d), and the worker goes\non.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "see a worker", func(o *open.Swarm, s *book.Session) error {
				cmd, err := a.attach(c.Context(), o, s, args[0])
				if err != nil {
					return err
				}
				cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
				return cmd.Run()
			})
		}}
}

func messageCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "message FEATURE TEXT", Short: "Tell a worker something", Args: base.ArgRange(2, 2, "a feature and a text"),
		Long: "A Claude Code hears it while it works, after the call that is under way; other workers hear it when their turn is over, and\n" +
			"those of the runner command never. myc swarm logs FEATURE shows when it was heard.",
		Example: "  myc swarm message parser \"Dates have no time of day.\"",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "tell a worker something", func(o *open.Swarm, s *book.Session) error {
				return o.Tell(c.Context(), s, args[0], args[1])
			})
		}}
}

func pauseCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "pause", Short: "Stop the workers; what they did is kept", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "pause the swarm", func(o *open.Swarm, s *book.Session) error {
				if err := o.Pause(c.Context(), s.ID); err != nil {
					return err
				}
				return drive.Halt(c.Context(), a.App, o, s.ID)
			})
		}}
}

func resumeCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "resume", Short: "Go on with a paused session", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "resume the swarm", func(o *open.Swarm, s *book.Session) error {
				if err := o.Resume(c.Context(), s.ID); err != nil {
					return err
				}
				return a.next(c.Context(), o, s)
			})
		}}
}

func retryCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "retry FEATURE", Short: "Try a feature again that failed or waits", Args: base.ArgRange(1, 1, "a feature"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "try a feature again", func(o *open.Swarm, s *book.Session) error {
				if err := o.Retry(c.Context(), s.ID, args[0], true); err != nil {
					return err
				}
				return a.next(c.Context(), o, s)
			})
		}}
}

// next says how a session goes on that has something to do again.
func (a *app) next(ctx context.Context, o *open.Swarm, s *book.Session) error {
	driver, err := o.Driver(ctx, s.ID)
	if err == nil && driver == "" && !a.JSON {
		fmt.Fprintln(a.Out, "Next: myc swarm auto goes on with it")
	}
	return err
}
