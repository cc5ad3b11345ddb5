// Package sandbox has the commands of the sandbox.
package sandbox

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Quick runs the child of the sandbox, or a server in it, if the arguments ask for that, before anything else is set up.
func Quick(ctx context.Context, args []string) (code int, ok bool) {
	switch {
	case sandboxed.IsChild(args):
		return jail.Main(), true
	case sandboxed.IsServer(args):
		return sandboxed.Serve(ctx), true
	}
	return 0, false
}

// Command is `myc sandbox`.
func Command(a *base.App) *cobra.Command {
	s := &app{a}
	c := &cobra.Command{
		Use: "sandbox", Short: "Run a command where it reaches only what it needs", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.execCmd(), s.profilesCmd(), s.capabilitiesCmd())
	return c
}

func (a *app) profilesCmd() *cobra.Command {
	return &cobra.Command{
		Use: "profiles", Short: "List what the profiles allow", Example: "  myc sandbox profiles --json", Args: base.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all := sandbox.Profiles()
			if a.JSON {
				return a.PrintJSON(all)
			}
			var rows [][]string
			for _, p := range all {
				rows = append(rows, []string{p.Name, yes(p.Network, "machine", "own loopback"), number(p.Procs), number(p.Files),
					number(p.Memory >> 20), yes(p.Seconds > 0, p.Timeout().String(), "-"), p.Says})
			}
			a.Table(base.Column{Name: "NAME"}, base.Column{Name: "NETWORK"}, base.Column{Name: "PROCESSES", Drop: 1},
				base.Column{Name: "FILES", Drop: 2}, base.Column{Name: "MEMORY MiB", Drop: 1}, base.Column{Name: "TIME", Drop: 1},
				base.Column{Name: "WHAT IT IS FOR", Least: 20}).Print(rows...)
			return nil
		},
	}
}

func (a *app) capabilitiesCmd() *cobra.Command {
	return &cobra.Command{
		Use: "capabilities", Short: "Build every wall on this machine, now, and say which ones stand", Args: base.NoArgs,
		Long:    "Exit 0: all stand, and commands may run in the sandbox. Exit 1: one of them cannot be built, so that the sandbox refuses.",
		Example: "  myc sandbox capabilities",
		RunE: func(c *cobra.Command, _ []string) error {
			argv, err := sandboxed.Self()
			if err != nil {
				return err
			}
			found := sandbox.Probe(c.Context(), argv)
			if a.JSON {
				err = a.PrintJSON(found)
			} else {
				a.printCapabilities(found)
			}
			if err == nil && !found.Holds {
				return base.Exit{Code: 1}
			}
			return err
		},
	}
}

func (a *app) printCapabilities(c *sandbox.Capabilities) {
	a.Facts([][]string{{"system", c.System + ", kernel " + c.Kernel}, {"user", c.User},
		{"Landlock ABI", number(uint64(c.ABI))}}) //nolint:gosec // a small number
	var rows [][]string
	for _, l := range c.Layers {
		why := l.Cause
		if l.Doing != "" {
			why = l.Doing + ": " + l.Cause
		}
		if l.Mend != "" {
			why += ". " + l.Mend
		}
		rows = append(rows, []string{string(l.Layer), yes(l.Holds, "holds", yes(l.Tried, "fails", "not tried")), base.OrDash(why)})
	}
	a.Table(base.Column{Name: "LAYER"}, base.Column{Name: "STATE"}, base.Column{Name: "WHY", Least: 20}).Print(rows...)
	fmt.Fprintln(a.Out, "\n"+yes(c.Holds, "The sandbox holds here.", "The sandbox refuses to run anything here."))
}

func yes(is bool, then, otherwise string) string {
	if is {
		return then
	}
	return otherwise
}

func number(n uint64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatUint(n, 10)
}
