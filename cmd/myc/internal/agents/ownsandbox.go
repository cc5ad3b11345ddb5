package agents

import (
	"context"
	"slices"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/harness"
	"mycelium/internal/hook/install"
	"mycelium/internal/node/project"
	"mycelium/internal/policy"
)

// Check is what `myc doctor` says about the hooks and the agents.
func Check(a *base.App) base.Check {
	return func(ctx context.Context, v *project.View, add base.Report) {
		(&app{a}).doctorHooks(ctx, v, add)
		doctorOwnSandbox(a, v, add)
	}
}

// doctorOwnSandbox tells of an agent whose own sandbox is switched on in a project whose rules use ours. The program before its shell finds
// no ticket inside of the agent's sandbox, so that no command runs: ours is not nested in another one.
func doctorOwnSandbox(a *base.App, v *project.View, add base.Report) {
	if !slices.ContainsFunc(v.Project.Rules, func(r policy.Rule) bool { return r.Sandbox != "" }) {
		return
	}
	for _, agent := range harness.Agents() {
		if file := install.OwnSandbox(agent, v.Project.Dir, a.Environ); file != "" {
			add("warning", "sandbox of "+agent.Name, file+" switches on "+agent.Title+"'s own sandbox, in which ours is not built: under myc "+
				agent.Name+" its commands are refused", "take sandbox.enabled out of this file, or start "+agent.Name+" without Mycelium's sandbox")
		}
	}
}
