package base

import (
	"context"

	"github.com/spf13/cobra"

	"mycelium/internal/op"
	"mycelium/internal/op/cli"
)

// Row returns the command of an operation, with its long help and examples. show prints the result for people; with --json it is printed as it
// is.
func Row[P, R any](a *App, o op.Op[P, R], long, example string, show func(ctx context.Context, p P, r R) error) *cobra.Command {
	c := cli.Command(o, func(c *cobra.Command, p P) error {
		r, err := Operate(c.Context(), a, o, p)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(r)
		}
		return show(c.Context(), p, r)
	})
	c.Long, c.Example = long, example
	return c
}
