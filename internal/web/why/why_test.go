package why

import (
	"testing"

	"mycelium/internal/node/api"
	"mycelium/internal/policy"
	"mycelium/internal/web/site"
	"mycelium/internal/web/webtest"
)

// TestInjections has a text of an agent in each place of the room that one can write to.
func TestInjections(t *testing.T) {
	t.Parallel()
	s := webtest.Site(t, Room())
	webtest.HoldsText(t, func(x string) map[string]string {
		a := answerOf(api.Explained{Explanation: policy.Explanation{Effect: x, Rule: x, Reason: x, Role: x, Skills: []string{x},
			Trace: []policy.Step{{Step: x, Rule: x, Why: x}}}, File: x, Line: 1, Facts: policy.Facts{Parts: []policy.Part{{Program: x,
			Argv: []string{x}, Effects: []string{x}, Hosts: []string{x}, Unclear: []string{x}, Paths: []policy.Path{{Raw: x, Clean: x}}}}},
			Otherwise: []api.Otherwise{{If: x, Effect: x, Rule: x, Reason: x}}}, x)
		shown := asked{Projects: []site.Choice{{Value: "p", Text: x}}, Roles: []site.Choice{{Value: x, Text: x}},
			Skills: []site.Choice{{Value: x, Text: x}}, Tools: []string{x}, Tool: x, Args: x, Command: x, Problem: x, Answer: &a}
		return map[string]string{"why": webtest.Show(s, "why", x, shown)}
	})
}
