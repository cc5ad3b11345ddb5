package swarm

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/drive"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
)

func resetCmd(a *app) *cobra.Command {
	var confirm bool
	c := &cobra.Command{Use: "reset", Short: "Give the session up: stop its workers and end it", Args: base.NoArgs,
		Long: "What has landed, and what workers committed or left, stays under refs/mycelium/. myc swarm gc removes what is needed no more.",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "reset the swarm", func(o *open.Swarm, s *book.Session) error {
				if !s.Open() {
					return fmt.Errorf("session %s has ended: %s", s.ID, words(s.State))
				}
				if !confirm && !a.Confirm("Give up session "+s.ID+"?") {
					return failure.Hint(errors.New("nothing was changed"), "--yes gives it up without a question")
				}
				return a.reset(c.Context(), o, s)
			})
		}}
	c.Flags().BoolVarP(&confirm, "yes", "y", false, "do not ask")
	return c
}

// reset stops the workers, and ends the session.
func (a *app) reset(ctx context.Context, o *open.Swarm, s *book.Session) error {
	if err := o.Abandon(ctx, s.ID); err != nil {
		return err
	}
	if err := drive.Halt(ctx, a.App, o, s.ID); err != nil {
		return err
	}
	if err := o.GiveUp(ctx, s.ID); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "session %s is given up. What it made stays under refs/mycelium/ (myc swarm gc)\n", s.ID)
	return nil
}
