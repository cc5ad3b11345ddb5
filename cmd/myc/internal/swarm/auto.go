package swarm

import (
	"context"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/drive"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/swarm/book"
)

func autoCmd(a *app) *cobra.Command {
	var dry, unsandboxed bool
	c := &cobra.Command{Use: "auto", Short: "Drive the session to its end", Args: base.NoArgs,
		Long: "Starts workers as features become ready, merges what is done and verified, tries again what failed, and ends when\n" +
			"nothing more becomes of the session by itself. Ctrl-C ends the driver only: the workers go on, and the next\n" +
			"`myc swarm auto` finds them. `myc swarm pause` stops them.",
		Example: "  myc swarm auto --dry-run\n  myc swarm auto --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "drive the swarm", func(o *open.Swarm, s *book.Session) error {
				if dry {
					return a.picture(s)
				}
				return a.auto(c.Context(), o, s, unsandboxed)
			})
		}}
	c.Flags().BoolVar(&dry, "dry-run", false, "show the schedule, and start nothing")
	drive.WorkerFlags(a.App, c)
	c.Flags().BoolVar(&unsandboxed, "unsandboxed", false, "run workers without the sandbox; only a person at a terminal, on record")
	return c
}

// auto drives the session, and says what became of it.
func (a *app) auto(ctx context.Context, o *open.Swarm, s *book.Session, unsandboxed bool) error {
	if err := drive.Auto(ctx, a.App, o, s, unsandboxed); err != nil {
		return err
	}
	return a.outcome(ctx, o, s.ID)
}
