package swarm

import (
	"context"
	"os/exec"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/node/project"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/text"
)

// Check is what `myc doctor` says about the swarm: whether git, tmux and an agent are there. What is missing is no problem of a project
// that has no swarm.
func Check(b *base.App) base.Check {
	return func(ctx context.Context, v *project.View, add base.Report) {
		ready := true
		lacks := func(message, hint string) {
			ready = false
			add("ok", "swarm", "starts no workers here: "+message, hint)
		}
		if err := ground.Works(ctx, v.Project.Dir); err != nil {
			lacks(err.Error(), text.HintOf(err))
		}
		if _, err := exec.LookPath("tmux"); err != nil {
			lacks("there is no program tmux on the PATH", "install tmux")
		}
		claude, _ := harness.Named(runnerClaude)
		switch _, err := claude.Find(b.Environ); {
		case !ready:
		case err != nil:
			add("ok", "swarm", "git and tmux are there, and no agent", "install Claude Code, or have a program of yours work: myc swarm init "+
				"--runner command --command PROGRAM")
		default:
			add("ok", "swarm", "git, tmux and an agent are there: myc swarm init PLAN.md", "")
		}
	}
}
