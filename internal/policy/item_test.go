package policy

import (
	"slices"
	"testing"
)

// TestAgentTools: each of an agent's own tools has one name, whichever is written in a rule or a case.
func TestAgentTools(t *testing.T) {
	if !slices.IsSorted(AgentTools()) {
		t.Error("the table is not sorted")
	}
	for _, a := range AgentAliases {
		got, known := AgentTool(a[0])
		if _, own := AgentTool(a[1]); got != a[1] || !known || !own || slices.Contains(AgentTools(), a[0]) {
			t.Errorf("%s is %s (%v)", a[0], got, known)
		}
		for _, written := range []string{a[0], AgentServer + separator + a[0]} {
			p, err := ParseRuleTool(written)
			if it, exact := p.Exact(); err != nil || !exact || it != (Item{Server: AgentServer, Name: a[1]}) {
				t.Errorf("a rule about %s is about %v: %v", written, p, err)
			}
		}
	}
	if got, known := AgentTool("Nothing"); got != "Nothing" || known {
		t.Errorf("%s %v", got, known)
	}
}

// TestRuleAboutAnAlias: a rule that denies a tool by another of its names denies it.
func TestRuleAboutAnAlias(t *testing.T) {
	p, problems := New(Source{
		Grants: []Grant{{Name: "all", AllowedRoles: []string{"dev"}, AllowedTools: []string{"agent__Task"}}},
		Rules:  []Rule{{Name: "no-children", Action: "deny", Tool: Names{"Agent"}, Reason: "alone"}},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c := Call{Scope: Scope{Principal: Principal{ID: "p", Role: "dev", Roles: []string{"dev"}}, Skills: []string{"all"}},
		Item: Item{Server: AgentServer, Name: "Task"}, Args: Args{}}
	if d := p.Decide(c); d.Effect != Deny || d.Rule != "no-children" {
		t.Errorf("%+v", d)
	}
}
