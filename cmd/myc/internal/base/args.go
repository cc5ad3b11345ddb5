package base

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mycelium/internal/node/failure"
)

// CommandName is how an error names a command: its path without the program, which every error begins with.
func CommandName(c *cobra.Command) string {
	if !c.HasParent() {
		return ""
	}
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ") + ": "
}

// NoArgs refuses arguments, and says which command the word may have meant.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see " + c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &failure.Error{Code: failure.ExitUsage, Err: fmt.Errorf("%sunknown command %q", CommandName(c), args[0]), Hint: hint}
}

// ArgRange accepts min to max arguments; usage names them.
func ArgRange(lo, hi int, usage string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < lo || len(args) > hi {
			return &failure.Error{Code: failure.ExitUsage, Err: fmt.Errorf("%swants %s", CommandName(c), usage), Hint: "see " + c.CommandPath() + " --help"}
		}
		return nil
	}
}
