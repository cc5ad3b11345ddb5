package swarm

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm/book"
)

func mergeCmd(a *app) *cobra.Command {
	var into, session string
	c := &cobra.Command{Use: "merge [FEATURE]", Short: "Take what has landed into your branch, or let a feature land that waits",
		Args: base.ArgRange(0, 1, "a feature"),
		Long: "Without an argument your branch is moved forward to that of the session, if it has not moved since. A session that has\n" +
			"ended is closed by that. With a feature that waits because it changes files that govern agents, that feature may land.",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "merge", func(o *open.Swarm, s *book.Session) error {
				if session != "" {
					var err error
					if s, err = o.Read(c.Context(), session); err != nil {
						return failure.New(failure.NotFound, err, "")
					}
				}
				if err := s.CheckClosed(); err != nil {
					return err
				}
				if len(args) > 0 {
					return o.Accept(c.Context(), s, args[0], "")
				}
				return a.handOver(c.Context(), o, s, into)
			})
		}}
	c.Flags().StringVar(&session, "session", "", "the `ID` of a session that has ended, if another one has begun since")
	c.Flags().StringVar(&into, "into", "", "the `BRANCH` that is moved (default: the one that was checked out at init)")
	return c
}

// handOver moves the person's branch forward.
func (a *app) handOver(ctx context.Context, o *open.Swarm, s *book.Session, into string) error {
	if into == "" {
		into = s.Target
	}
	if into == "" {
		return failure.Usagef("no branch was checked out at init: name one with --into")
	}
	tip, moved, err := o.HandOver(ctx, s, into)
	switch {
	case moved:
		fmt.Fprintf(a.Out, "%s is at %.12s now\n", into, tip)
	case err == nil:
		fmt.Fprintf(a.Out, "%s has everything that has landed: it stays at %.12s\n", into, tip)
	}
	return err
}
