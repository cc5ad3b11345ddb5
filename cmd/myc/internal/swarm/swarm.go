// Package swarm has the commands of the swarm: many coding agents on one repository.
package swarm

import (
	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/serve"
	"mycelium/cmd/myc/internal/swarm/drive"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/cmd/myc/internal/swarm/work"
	"mycelium/internal/policy/worker"
)

type app struct{ *open.App }

// Command is `myc swarm`.
func Command(b *base.App) *cobra.Command {
	a := &app{&open.App{App: b}}
	c := &cobra.Command{
		Use: "swarm", Short: "Have several coding agents work on one repository at once", Args: base.NoArgs,
		Long: "Each feature of a plan is given to a worker of its own, in a git worktree of its own. What it commits is verified in the\n" +
			"sandbox, merged onto the branch of the session, and verified there again, as the commit that lands. Your own checkout is\n" +
			"not touched until `myc swarm merge`.",
		Example: "  myc swarm init plan.md --verify \"go test ./...\"\n  myc swarm auto --dry-run\n  myc swarm auto\n  myc swarm status\n" +
			"  myc swarm merge",
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(initCmd(a), planCmd(a), autoCmd(a), drive.StartCommand(a.App), statusCmd(a), featureCmd(a), statsCmd(a), watchCmd(a),
		logsCmd(a),
		attachCmd(a), messageCmd(a), pauseCmd(a), resumeCmd(a), retryCmd(a), reviewCmd(a), verificationCmd(a), rollbackCmd(a), mergeCmd(a),
		resetCmd(a), exportCmd(a), gcCmd(a), work.Command(b), drive.Command(a.App), serve.Front(b, worker.Server))
	return c
}
