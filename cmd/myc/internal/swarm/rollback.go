package swarm

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
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
	touched, err := o.Touched(ctx, s)
	if err != nil {
		return err
	}
	point, err := o.Rollback(ctx, s, feature, files, to)
	if err != nil {
		return err
	}
	for _, with := range ground.Overlaps(feature, touched, files...) {
		fmt.Fprintf(a.Err, "myc: %s has changed the same files: %s\n", with.With, text.Cell(strings.Join(with.Files, ", "), 200))
	}
	fmt.Fprintf(a.Out, "rolled back. To take that back: myc swarm rollback %s --to %.12s\n", feature, point)
	return nil
}
