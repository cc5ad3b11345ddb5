package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/node/project"
	"mycelium/internal/policy"
	"mycelium/internal/run"
	"mycelium/internal/text"
)

// seesAgentTools reports whether a role sees any of an agent's own tools when its session starts. If it sees none, the hook refuses every
// call.
func seesAgentTools(v *project.View, role string) bool {
	scope := policy.Scope{Principal: policy.Principal{ID: "local", Role: role}, Skills: v.Policy.StartSkills(role)}
	return run.Hands(func(it policy.Item) bool { return v.Policy.Visible(scope, it) })
}

// agentToolsHidden returns what is wrong with a role that sees none of an agent's own tools, and how to mend it; "" if the role sees one.
// An empty role is that of a session without a credential.
func agentToolsHidden(v *project.View, role string) (message, hint string) {
	role = cmp.Or(role, v.Project.File.Session.RoleOfAgent())
	if seesAgentTools(v, role) {
		return "", ""
	}
	message = run.NoHands(role)
	var able []string
	for _, r := range v.Policy.Roles() {
		if seesAgentTools(v, r) {
			able = append(able, r)
		}
	}
	if len(able) == 0 {
		return message, "no role sees these tools; the skill coding-agent, which myc init writes, grants them"
	}
	return message, fmt.Sprintf("%s can see them: use myc claude --role %s, or set session.agentRole in mycelium.yaml for an agent "+
		"that you start yourself", strings.Join(able, ", "), preferred(able))
}

// preferred returns the role to suggest: developer, which myc init makes for coding agents, or else the first.
func preferred(roles []string) string {
	if slices.Contains(roles, "developer") {
		return "developer"
	}
	return roles[0]
}

// warnAgentTools warns on stderr, before an agent is started or hooked, if its role sees none of its tools.
func (a *app) warnAgentTools(role string) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	if message, hint := agentToolsHidden(v, role); message != "" {
		fmt.Fprintf(a.Err, "myc: warning: %s\nhint: %s\n", text.Flatten(message), text.Flatten(hint))
	}
	return nil
}
