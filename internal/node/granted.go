package node

import (
	"slices"
	"strings"

	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// grantPrefix begins an entry of allowedTools that names a command of ours. A skill that grants the whole shell names no command.
const grantPrefix = policy.AgentServer + "__Bash(myc "

// commandGranted reports whether an active skill of the session names the command, such as "audit query", in its allowedTools, as in
// agent__Bash(myc audit *), and the policy does not refuse the command. Declarations of one skill bound each other, as everywhere.
func commandGranted(s *session.Snapshot, command string) bool {
	argv := append([]string{"myc"}, strings.Fields(command)...)
	call := policy.Call{
		Scope: s.Scope, Item: policy.Bash, Args: policy.Args{"command": strings.Join(argv, " ")},
		Facts: policy.Facts{Parts: []policy.Part{{Program: argv[0], Argv: argv, Effects: []string{policy.EffectRead}}}},
	}
	if !s.Known || s.World.Policy.Decide(call).Effect == policy.Deny {
		return false
	}
	src := policy.Source{Fallback: policy.Fallback{Agent: policy.Allow.String()}}
	for _, g := range s.World.Skills.Grants() {
		if !slices.Contains(s.Scope.Skills, g.Name) {
			continue
		}
		named := slices.DeleteFunc(slices.Clone(g.AllowedTools), func(entry string) bool {
			return !strings.HasPrefix(strings.TrimPrefix(entry, "?"), grantPrefix)
		})
		src.Grants = append(src.Grants, policy.Grant{Name: g.Name, AllowedRoles: []string{s.Scope.Principal.Role}, AllowedTools: named})
	}
	p, _ := policy.New(src)
	return p.Decide(call).Effect == policy.Allow
}
