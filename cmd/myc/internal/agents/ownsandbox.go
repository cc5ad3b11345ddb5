package agents

import (
	"context"
	"slices"
	"strings"

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
		doctorLightWall(v.Project.State.Root, add)
	}
}

// doctorOwnSandbox tells of an agent whose own sandbox is switched on in a project whose rules use ours. Ours is not nested in another
// one: measured with Claude Code 2.1.197 and 2.1.330, the program before its shell and our hook are out of reach from there, so that no
// command runs.
func doctorOwnSandbox(a *base.App, v *project.View, add base.Report) {
	if !slices.ContainsFunc(v.Project.Rules, func(r policy.Rule) bool { return !r.Sandbox.None() }) {
		return
	}
	for _, agent := range harness.Agents() {
		if file := install.OwnSandbox(agent, v.Project.Dir, a.Environ); file != "" {
			add("warning", "sandbox of "+agent.Name, file+" switches on "+agent.Title+"'s own sandbox, in which ours is not built: under myc "+
				agent.Name+" its commands are refused", "take "+strings.Join(agent.OwnSandbox, ".")+" out of this file, or start "+
				agent.Name+" without myc, where the rule asks")
		}
	}
}
