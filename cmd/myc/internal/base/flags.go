package base

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mycelium/internal/op/failure"
)

// nameFlags are the flags that take names. They mean the same in every command.
var nameFlags = []string{"role", "may", "skill", "token", "tool", "template"}

// strictName is the value of a flag that refuses what cannot be a name. An empty name is an error: `--role "$ROLE"` without that variable
// must not become the default role. So is a line break, because only the first line of a list would be read.
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

// StrictNames makes the name flags of a command and of its subcommands strict.
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

// TakeFlag sets the flag at the beginning of args, for a command that reads its arguments itself. It returns how many arguments it has
// used: 0 if args do not begin with one of the flags.
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

// GlobalFlags adds the flags that every command has.
func (a *App) GlobalFlags(root *cobra.Command) {
	pf := root.PersistentFlags()
	pf.StringVarP(&a.Dir, "dir", "C", "", "project folder (default: the nearest project from this folder upwards)")
	pf.StringVar(&a.StateDir, "state", "", "folder of the state (default: $XDG_STATE_HOME/mycelium, else\n~/.local/state/mycelium)")
	pf.StringVar(&a.ID, "project-id", "",
		"id of the project in the state folder, for containers\n(default: from the path of the project folder)")
	pf.StringVar(&a.Config, "config", "", "configuration file (default: mycelium.yaml in the project folder)")
	pf.BoolVar(&a.JSON, "json", false, "print JSON")
	pf.BoolVarP(&a.Verbose, "verbose", "v", false, "log more")
	pf.BoolVar(&a.NoColor, "no-color", false, "no colours (NO_COLOR does the same)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return failure.New(failure.Usage, fmt.Errorf("%s%w", CommandName(c), err), "see "+c.CommandPath()+" --help")
	})
}
