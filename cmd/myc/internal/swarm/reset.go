package swarm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
)

func resetCmd(a *app) *cobra.Command {
	var confirm bool
	c := &cobra.Command{Use: "reset", Short: "Give the session up: stop its workers and end it", Args: base.NoArgs,
		Long: "What has landed stays on the branch of the session, and what workers committed or left stays under refs/mycelium/.",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), "reset the swarm", func(o *opened, s *book.Session) error {
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
func (a *app) reset(ctx context.Context, o *opened, s *book.Session) error {
	if _, err := o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		s.State, s.GivenUp = book.Paused, true
		return []book.Event{{Kind: "session", Text: "a person gives it up"}}, nil
	}); err != nil {
		return err
	}
	if err := a.halted(ctx, o, s.ID); err != nil {
		return err
	}
	_, err := o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		for _, f := range s.Features {
			if f.Taking != nil { // what has landed stays
				f.State, f.Taking = f.Taking.From, nil
			}
			if f.State != book.Completed {
				f.State, f.Reason = book.Failed, "the session was given up"
			}
		}
		s.State, s.Ended, s.Closed = book.Faulty, time.Now(), true
		return []book.Event{{Kind: "session", Text: "the session was given up"}}, nil
	})
	if err != nil {
		return err
	}
	g, err := o.ground(ctx, s.ID)
	if err != nil {
		return err
	}
	for _, f := range s.Features { // the worktrees of what waited to be merged
		if err := swarm.Clear(ctx, g, f); err != nil {
			return err
		}
	}
	return g.End(ctx)
}
