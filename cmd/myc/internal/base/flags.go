package base

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mycelium/internal/node/failure"
)

// nameFlags are the flags that take names. Which command has which does not matter: they mean the same everywhere.
var nameFlags = []string{"role", "may", "skill", "token", "tool", "template"}

// strictName is a flag's value that refuses at once what can be no name. An empty one does not count as none given: `--role "$ROLE"` with the
// variable missing must not become the default role. And of a list with a line break only the first line would be read.
type strictName struct{ pflag.Value }

func (s strictName) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		switch {
		case strings.TrimSpace(name) == "":
			return errors.New("a name is empty (write one, or leave the flag out)")
		case strings.ContainsFunc(name, unicode.IsControl):
			return errors.New("a name contains a control character")
		}
	}
	return s.Value.Set(text)
}

// StrictNames makes the flags of a command, and of those below it, strict.
func StrictNames(c *cobra.Command) {
	for _, name := range nameFlags {
		f := c.Flags().Lookup(name)
		if f == nil {
			continue
		}
		f.Value = strictName{f.Value}
		if f.DefValue == "[]" {
			f.DefValue = "" // the help would show it
		}
	}
	for _, sub := range c.Commands() {
		StrictNames(sub)
	}
}

// TakeFlag sets the flag with which args begin, for a command that reads its arguments by itself, and returns how many arguments it
// is: 0, where they begin with none of the flags.
func TakeFlag(flags *pflag.FlagSet, args []string) (int, error) {
	name, value, given := strings.Cut(args[0], "=")
	var f *pflag.Flag
	if long, ok := strings.CutPrefix(name, "--"); ok {
		f = flags.Lookup(long)
	} else if len(name) == 2 && name[0] == '-' && !given {
		f = flags.ShorthandLookup(name[1:])
	}
	switch {
	case f == nil:
		return 0, nil
	case given:
		return 1, f.Value.Set(value)
	case f.NoOptDefVal != "":
		return 1, f.Value.Set(f.NoOptDefVal)
	case len(args) == 1:
		return 0, errors.New("flag needs an argument: " + name)
	default:
		return 2, f.Value.Set(args[1])
	}
}

// GlobalFlags are those of every command.
func (a *App) GlobalFlags(root *cobra.Command) {
	pf := root.PersistentFlags()
	pf.StringVarP(&a.Dir, "dir", "C", ".", "project folder")
	pf.StringVar(&a.Config, "config", "", "configuration file (default: mycelium.yaml in the project folder)")
	pf.BoolVar(&a.JSON, "json", false, "print JSON")
	pf.BoolVarP(&a.Verbose, "verbose", "v", false, "log more")
	pf.BoolVar(&a.NoColor, "no-color", false, "no colours (NO_COLOR does the same)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &failure.Error{Code: failure.ExitUsage, Err: fmt.Errorf("%s%w", CommandName(c), err), Hint: "see " + c.CommandPath() + " --help"}
	})
}
