package base

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// CommandName returns the name of a command for the beginning of an error: its path without the program.
func CommandName(c *cobra.Command) string {
	if !c.HasParent() {
		return ""
	}
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") + ": "
}

// NoArgs refuses arguments, and suggests the command that may have been meant.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + c.CommandPath() + " --help"
	near := c.SuggestionsFor(args[0])
	if len(near) == 0 {
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		if one := text.Nearest(args[0], names); one != "" {
			near = []string{one}
		}
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return failure.New(failure.Usage, fmt.Errorf("%sunknown command %q", CommandName(c), args[0]), hint)
}

// ArgRange accepts lo to hi arguments. usage describes them in the error.
func ArgRange(lo, hi int, usage string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < lo || len(args) > hi {
			return failure.New(failure.Usage, fmt.Errorf("%swants %s", CommandName(c), usage), "see "+c.CommandPath()+" --help")
		}
		return nil
	}
}
