package swarm

import (
	"context"
	"os/exec"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/runner"
	"mycelium/internal/text"
)

// Check is what `myc doctor` says about the swarm: whether git, tmux and the programs of runners are there. What is missing is no
// problem of a project that has no swarm.
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
		if !ready {
			return
		}
		var here, absent []string
		for _, name := range runner.Names() {
			if swarmed.Present(b.Environ, name) == nil {
				here = append(here, name)
			} else {
				absent = append(absent, name)
			}
		}
		said := "git and tmux are there, and workers can be " + strings.Join(here, ", ")
		if len(absent) > 0 {
			said += "; what these need is not here (a program, or a key for api): " + strings.Join(absent, ", ")
		}
		add("ok", "swarm", said, "")
	}
}
