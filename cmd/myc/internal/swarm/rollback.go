package swarm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

func rollbackCmd(a *app) *cobra.Command {
	var to string
	c := &cobra.Command{Use: "rollback FEATURE [FILE]...",
		Short: "Take the worktree of a feature back to its beginning, or some of its files",
		Args:  base.ArgRange(1, 1000, "a feature, and files"),
		Long: "Takes back what has not landed, committed or not, in the worktree of the last attempt; the next worker goes on\n" +
			"from there. What is taken back is kept: the command prints the undo point, and --to takes the worktree there again.",
		Example: "  myc swarm rollback parser\n  myc swarm rollback parser internal/parse/lexer.go\n  myc swarm rollback parser --to " +
			"4f2a9c01d3e7",
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), "roll back", func(o *opened, s *book.Session) error {
				return a.rollback(c.Context(), o, s, args[0], args[1:], to)
			})
		}}
	c.Flags().StringVar(&to, "to", "", "the undo point or snapshot to go to (default: the beginning of the attempt)")
	return c
}

// rollback takes a worktree back, and has its feature wait for a worker again.
func (a *app) rollback(ctx context.Context, o *opened, s *book.Session, feature string, files []string, to string) error {
	f, t, err := attempt(s, feature)
	if err != nil {
		return err
	}
	if t.Live() {
		return failure.Hint(fmt.Errorf("a worker works on %s now", f.ID), "stop it first: myc swarm pause")
	}
	g, err := o.ground(ctx, s.ID)
	if err != nil {
		return err
	}
	tree, err := swarm.TreeOf(g, f.ID, t.N)
	if err != nil {
		return err
	}
	if tree == nil {
		return fmt.Errorf("feature %s has no worktree: what it did has landed, or was given up", f.ID)
	}
	if to == "" {
		to = string(tree.Snapshotted(swarm.Start))
	}
	if err := a.warn(ctx, g, s, f, files); err != nil {
		return err
	}
	point, err := tree.Undo(ctx, "undo-"+strconv.FormatInt(time.Now().UnixMilli(), 36), ground.Commit(to), files...)
	if err != nil {
		return err
	}
	if _, err := o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		now, err := s.Feature(f.ID)
		if err != nil {
			return nil, err
		}
		now.State, now.Reason, now.Tried, now.Last().State = book.Pending, "", 0, book.Stopped
		return []book.Event{{Kind: "feature", Feature: f.ID, Attempt: t.N,
			Text: fmt.Sprintf("a person rolled it back; the undo point is %.12s", point)}}, nil
	}); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "rolled back. To take that back: myc swarm rollback %s --to %.12s\n", f.ID, point)
	return nil
}

// warn says who else has touched the files that go back.
func (a *app) warn(ctx context.Context, g *ground.Repo, s *book.Session, of *book.Feature, files []string) error {
	touched := map[string][]string{}
	for _, f := range s.Features {
		t := f.Last()
		if t == nil {
			continue
		}
		tree, err := swarm.TreeOf(g, f.ID, t.N)
		if err != nil || tree == nil {
			continue
		}
		facts, err := tree.Facts(ctx, ground.Commit(t.Base))
		if err != nil {
			return err
		}
		for _, file := range facts.Touched {
			touched[f.ID] = append(touched[f.ID], file.Path)
		}
	}
	for _, with := range ground.Overlaps(of.ID, touched, files...) {
		fmt.Fprintf(a.Err, "myc: %s has changed the same files: %s\n", with.With, text.Cell(strings.Join(with.Files, ", "), 200))
	}
	return nil
}
