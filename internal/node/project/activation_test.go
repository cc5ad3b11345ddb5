package project

import (
	"slices"
	"testing"

	"mycelium/internal/policy"
)

// granting is a policy in which a skill grants tools to a role; start are the skills of the start.
func granting(t *testing.T, start []string, tools ...string) *policy.Policy {
	t.Helper()
	p, problems := policy.New(policy.Source{Default: start,
		Catalog: []policy.Definition{{Item: policy.Item{Server: "s", Name: "x"}}, {Item: policy.Item{Server: "s", Name: "y"}}},
		Grants: []policy.Grant{{Name: "one", AllowedRoles: []string{"dev"}, AllowedTools: tools},
			{Name: "all", AllowedRoles: []string{"dev"}, AllowedTools: []string{"s__x", "s__y", "agent__Bash"}}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

// A session loses what its own skills no longer grant, also if another skill of its role has the tool still.
func TestLost(t *testing.T) {
	t.Parallel()
	before, after := granting(t, []string{}, "s__x", "s__y", "agent__Bash"), granting(t, []string{}, "s__x")
	if got := Lost(before, after, "dev", []string{"one"}); !slices.Equal(got, []string{"agent__Bash", "s__y"}) {
		t.Errorf("a session with the skill one loses %v", got)
	}
	if got := Lost(before, after, "dev", []string{"all"}); len(got) > 0 {
		t.Errorf("a session with the skill all loses %v", got)
	}
}

// Activating a skill shows what it adds to the start, and who can take it.
func TestActivations(t *testing.T) {
	t.Parallel()
	p := granting(t, []string{}, "s__x", "agent__Bash")
	v := &View{}
	got := v.Activations(p, p, "one")
	if len(got) != 1 || got[0].When != WhenTold || !slices.Equal(got[0].Added, []string{"agent__Bash", "s__x"}) || len(got[0].Removed) > 0 {
		t.Errorf("%+v", got)
	}
	if got := v.Activations(p, granting(t, []string{"one"}, "s__x"), "one"); got[0].When != AtStart {
		t.Errorf("%+v", got)
	}
	if got := v.Activations(p, p, "absent"); got[0].When != Never || len(got[0].Added) > 0 {
		t.Errorf("%+v", got)
	}
}
