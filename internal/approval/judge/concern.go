package judge

import (
	"mycelium/internal/approval"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// speaksOf reports whether a rule is about a call, whatever it says of it: whether it would match if only tool and match counted. Roles,
// skills, stages, arguments (which are masked here) and conditions are left out, so that it may be a rule too many. A call for which that
// cannot be told counts.
func speaksOf(rule policy.Rule, it policy.Item, r approval.Request) bool {
	if rule.Name == r.Rule || !anyMatch(rule.Tool, it) {
		return rule.Name == r.Rule
	}
	const name, grant = "the-rule", "the-grant"
	alone := policy.Rule{Name: name, Action: "deny", Tool: rule.Tool, Match: rule.Match} // deny: one part that matches is enough
	p, problems := policy.New(policy.Source{Dir: r.Dir, Rules: []policy.Rule{alone}, Boxes: box.Alone(alone.Sandbox),
		Fallback: policy.Fallback{MCP: "allow", Agent: "allow"},
		Grants:   []policy.Grant{{Name: grant, AllowedRoles: []string{grant}, AllowedTools: []string{it.String()}}}})
	if len(problems) > 0 {
		return true
	}
	d := p.Decide(policy.Call{Item: it, Facts: r.Facts,
		Scope: policy.Scope{Principal: policy.Principal{ID: grant, Role: grant}, Skills: []string{grant}}})
	return d.Effect == policy.Deny
}
