package sandbox

import (
	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/project"
)

// doctorAgents tells of agents that run their commands in a sandbox of their own.
func (a *app) doctorAgents(v *project.View, add base.Report) {
	for _, agent := range harness.Agents() {
		if file := install.OwnSandbox(agent, v.Project.Dir, a.Environ); file != "" {
			add("warning", "sandbox", agent.Title+" has a sandbox of its own, and Mycelium's is not put into it: where a rule has sandbox, it asks",
				"to have its commands in Mycelium's, take sandbox.enabled out of "+file)
		}
	}
}
