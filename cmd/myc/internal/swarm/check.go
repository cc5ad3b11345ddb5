package swarm

import (
	"context"
	"strings"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/project"
	"mycelium/internal/swarm/runner"
)

// Check is what `myc doctor` says about the runners of workers.
func Check(a *base.App) base.Check {
	return func(_ context.Context, _ *project.View, add base.Report) {
		var here, absent []string
		for _, name := range runner.Names() {
			if present(a.Environ, name) == nil {
				here = append(here, name)
			} else {
				absent = append(absent, name)
			}
		}
		said := "workers of myc swarm can be " + strings.Join(here, ", ")
		if len(absent) > 0 {
			said += "; the programs of these are not installed: " + strings.Join(absent, ", ")
		}
		add("ok", "swarm", said, "")
	}
}
