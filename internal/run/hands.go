package run

import (
	"slices"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// Hands reports whether a role that sees these items can do anything by an agent's own hands: read, search, write or run a command.
func Hands(visible func(policy.Item) bool) bool {
	return slices.ContainsFunc([]string{"Bash", "Read", "Grep", "Edit", "Write"}, func(name string) bool {
		return visible(policy.Item{Server: policy.AgentServer, Name: name})
	})
}

// NoHands says what is wrong with a role that has none. The installer, the check and the first refusal say the same.
func NoHands(role string) string {
	if role == "" {
		return "no role is set for agents (session.agentRole in mycelium.yaml), so every command and edit of the agent is refused"
	}
	return "the role " + role + " does not see an agent's own tools, so every command and edit of the agent is refused"
}

// handless returns what the refusal of an unknown tool adds where the role has none of an agent's own tools: the same for a hidden tool and
// for one that does not exist. Otherwise it returns "".
func handless(s *session.Session, it policy.Item) string {
	if it.Server != policy.AgentServer || Hands(func(it policy.Item) bool { return s.Shows(nil, it) }) {
		return ""
	}
	return ": " + NoHands(s.Scope().Principal.Role)
}
