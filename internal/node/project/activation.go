package project

import (
	"slices"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// When a role has a skill.
const (
	AtStart  = "start" // it is active when a session begins
	WhenTold = "taken" // a session of the role can take it
	Never    = "never" // it is not open to the role
)

// Activation is what a skill changes for one role.
type Activation struct {
	When string `json:"when"` // start, taken or never
	RoleChange
}

// Activations compares, role by role, what a session sees without a skill, under the policy before, with what it sees once the skill is
// active, under the policy after. The other skills are those of the start.
func (v *View) Activations(before, after *policy.Policy, name string) []Activation {
	rows := []Activation{}
	for _, role := range after.Roles() {
		start := after.StartSkills(role)
		row := Activation{When: Never, RoleChange: RoleChange{Role: role}}
		switch {
		case slices.Contains(start, name):
			row.When = AtStart
		case slices.Contains(after.OpenSkills(role), name):
			row.When = WhenTold
		}
		others := slices.DeleteFunc(slices.Clone(start), func(s string) bool { return s == name })
		with := others
		if row.When != Never {
			with = append(slices.Clone(others), name)
		}
		was, is := sessionOf(role, others), sessionOf(role, with)
		row.Added, row.Removed = difference(seen(after, is), seen(before, was)), difference(seen(before, was), seen(after, is))
		row.Concealment.Before = skill.Concealment(before, was, v.Catalog.Definitions)
		row.Concealment.After = skill.Concealment(after, is, v.Catalog.Definitions)
		rows = append(rows, row)
	}
	return rows
}

// Lost returns the tools that a session with these active skills sees under the policy before, and no longer under the policy after.
func Lost(before, after *policy.Policy, role string, active []string) []string {
	open := after.OpenSkills(role)
	left := slices.DeleteFunc(slices.Clone(active), func(s string) bool { return !slices.Contains(open, s) })
	return difference(seen(before, sessionOf(role, active)), seen(after, sessionOf(role, left)))
}

func sessionOf(role string, active []string) policy.Scope {
	return policy.Scope{Principal: policy.Principal{ID: LocalPrincipal, Role: role}, Skills: active}
}

// seen are the tools that a scope sees, agents' own tools among them and control tools not.
func seen(p *policy.Policy, s policy.Scope) []string {
	items := slices.DeleteFunc(p.Items(s, policy.Tool), policy.Item.IsControl)
	for _, d := range ownTools() {
		if p.Visible(s, d.Item) {
			items = append(items, d.Item)
		}
	}
	out := textForms(items)
	slices.Sort(out)
	return out
}

// difference returns what is in a and not in b.
func difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}
