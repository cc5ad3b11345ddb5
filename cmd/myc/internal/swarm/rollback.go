package swarm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/text"
)

func rollbackCmd(a *app) *cobra.Command {
	var r rollback
	c := &cobra.Command{Use: "rollback FEATURE [FILE]...",
		Short: "Take back the work of a feature: its worktree, some of its files, or what has landed",
		Args:  base.ArgRange(1, 1000, "a feature, and files"),
		Long: "What has not landed, committed or not, is taken back in the worktree of the last attempt; the next worker goes on\n" +
			"from there. What is taken back is kept: the command prints the undo point, and --to takes the worktree there again.\n" +
			"What has landed is taken back by a commit on the branch of the session, verified like every other; --to with that\n" +
			"commit has the work land again. --check only says which features have changed the same files.",
		Example: "  myc swarm rollback parser\n  myc swarm rollback parser internal/parse/lexer.go\n  myc swarm rollback parser --to " +
			"4f2a9c01d3e7",
		RunE: func(c *cobra.Command, args []string) error {
			return a.With(c.Context(), "roll back", func(o *open.Swarm, s *book.Session) error {
				return a.rollback(c.Context(), o, s, args[0], args[1:], r)
			})
		}}
	f := c.Flags()
	f.StringVar(&r.to, "to", "", "the undo point or snapshot to go to (default: the beginning of the attempt)")
	f.BoolVar(&r.check, "check", false, "say who else has changed the same files, and change nothing")
	f.BoolVar(&r.giveUp, "give-up", false, "what has landed: the feature has failed then, and is not worked on anew")
	return c
}

// rollback is what `myc swarm rollback` was asked for.
type rollback struct {
	to            string
	check, giveUp bool
}

// rollback takes a worktree back, and has its feature wait for a worker again; or it has the driver take back what has landed.
func (a *app) rollback(ctx context.Context, o *open.Swarm, s *book.Session, feature string, files []string, r rollback) error {
	others, err := ops.Others(ctx, o.Ops, s, feature, files)
	if err != nil {
		return err
	}
	if r.check {
		return a.others(feature, others)
	}
	a.warn(others)
	done, err := ops.Undo(ctx, o.Ops, s, feature, files, r.to, r.giveUp)
	if errors.Is(err, ops.ErrWhole) {
		return failure.New(failure.Usage, err, "")
	}
	if err != nil {
		return err
	}
	if !done.Queued {
		fmt.Fprintf(a.Out, "rolled back. To take that back: myc swarm rollback %s --to %.12s\n", feature, done.Point)
		return nil
	}
	driver, err := o.Driver(ctx, s.ID)
	next := "the driver lands it when the branch is green with it"
	if driver == "" {
		next = "Next: myc swarm auto lands it when the branch is green with it"
	}
	fmt.Fprintf(a.Out, "%s waits in the merge queue\n%s\n", feature, next)
	return err
}

// Bounds of who else has changed the same files (requirements, C12).
const (
	mostOverlaps = 20 // files in all
	mostOfOne    = 5  // of one feature
)

// warn says who else has changed the files that go back.
func (a *app) warn(others []ground.Overlap) {
	left := mostOverlaps
	for _, o := range others {
		n := min(len(o.Files), mostOfOne, left)
		left -= n
		more := ""
		if n < len(o.Files) {
			more = fmt.Sprintf(" and %d more", len(o.Files)-n)
		}
		fmt.Fprintf(a.Err, "myc: %s has changed the same files: %s%s\n", o.With, text.OneLine(strings.Join(o.Files[:n], ", ")), more)
	}
}

// others answers --check.
func (a *app) others(feature string, others []ground.Overlap) error {
	if a.JSON {
		if others == nil {
			others = []ground.Overlap{}
		}
		return a.PrintJSON(others)
	}
	a.warn(others)
	if len(others) == 0 {
		fmt.Fprintf(a.Out, "no other feature has changed the files of %s\n", feature)
	}
	return nil
}
