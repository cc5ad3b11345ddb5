package swarm

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/worker"
)

// tailShown is how many lines are shown if nobody says how many.
const tailShown = 50

func logsCmd(a *app) *cobra.Command {
	var n int
	var follow bool
	c := &cobra.Command{Use: "logs [FEATURE]", Short: "Show what happened, or what the worker of a feature did", Args: base.ArgRange(0,
		1, "a feature"),
		Long: "With --follow, what happens is printed as it does: to the end of the session, or of the feature's worker. With --json, each\n" +
			"event is a line of JSON.",
		Example: "  myc swarm logs\n  myc swarm logs parser -n 100\n  myc swarm logs --follow --json | jq .text",
		RunE: func(c *cobra.Command, args []string) error {
			if n < 1 {
				return failure.Usagef("-n is at least 1")
			}
			return a.With(c.Context(), "see the swarm", func(o *open.Swarm, s *book.Session) error {
				switch {
				case len(args) > 0:
					return a.workerLog(c.Context(), s, args[0], n, follow)
				case follow:
					return a.Tail(c.Context(), o, s.ID, n)
				}
				return a.From(c.Context(), o, s.ID, n, func() bool { return true })
			})
		}}
	c.Flags().IntVarP(&n, "lines", "n", tailShown, "the last lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "print what happens from now on, too")
	return c
}

// workerLog prints what the last worker of a feature did, and with follow what it does until it has ended.
func (a *app) workerLog(ctx context.Context, s *book.Session, feature string, n int, follow bool) error {
	t, err := ops.Last(s, feature)
	if err != nil {
		return err
	}
	folder, offset := worker.Folder(t.Folder), int64(0)
	look := time.NewTicker(open.FollowEvery)
	defer look.Stop()
	for {
		ended := !follow || ctx.Err() != nil || !folder.Alive() // before its stream, which is whole once it is dead
		var events []worker.Event                               // the last n
		if offset, err = folder.Follow(offset, func(e worker.Event) {
			events = append(events, e)
			events = events[max(0, len(events)-n):]
		}); err != nil {
			return err
		}
		for _, e := range events {
			if err := a.did(e); err != nil {
				return err
			}
		}
		if ended {
			return nil
		}
		n = math.MaxInt
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
}

// did prints what a worker did, as a line.
func (a *app) did(e worker.Event) error {
	if a.JSON {
		return a.PrintLine(e)
	}
	what := a.Line(strings.TrimSpace(e.What()), 20)
	fmt.Fprintln(a.Out, strings.TrimRight(a.Paint(base.Faint, e.At.Local().Format(time.TimeOnly))+"  "+open.Pad(e.Kind, 9)+what, " "))
	return nil
}
