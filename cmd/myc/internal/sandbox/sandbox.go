// Package sandbox has the commands of the sandbox.
package sandbox

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox/jail"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Quick runs the child of the sandbox or of the light wall, or a server in it, if the arguments ask for that, before anything else is set up.
func Quick(ctx context.Context, args []string) (code int, ok bool) {
	switch {
	case jail.IsChild(args):
		return jail.Main(), true
	case jail.IsAround(args):
		return jail.AroundMain(), true
	case sandboxed.IsServer(args):
		return sandboxed.Serve(ctx), true
	}
	return 0, false
}

// Check is what `myc doctor` says of the sandbox.
func Check(a *base.App) base.Check { return (&app{a}).doctor }

// Command is `myc sandbox`.
func Command(a *base.App) *cobra.Command {
	s := &app{a}
	c := &cobra.Command{
		Use: "sandbox", Short: "Run a command where it reaches only what it needs", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(s.execCmd(), s.profilesCmd(), s.capabilitiesCmd(), s.quarantineCmd(), s.warmCmd())
	return c
}

func (a *app) profilesCmd() *cobra.Command {
	return &cobra.Command{
		Use: "profiles", Short: "List what the profiles allow", Example: "  myc sandbox profiles --json", Args: base.NoArgs,
		Long: "The shipped ones, and those under sandbox.profiles in mycelium.yaml: yours, and the project's.",
		RunE: func(*cobra.Command, []string) error {
			in, err := a.config(a.Find(project.NeedsProject) != nil)
			if err != nil {
				return err
			}
			all := in.File.Sandbox.All()
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
