package skill

import (
	"slices"

	"mycelium/internal/policy"
)

// Change is what a role would gain and lose under another policy, with all of its skills active.
type Change struct {
	Role          string
	Added         []policy.Item
	Removed       []policy.Item
	Before, After float64 // concealment
}

// Preview compares two policies, to show the effect of adding, changing or removing a skill. It returns a Change for every role of either
// policy, sorted, even if nothing changes. The policies may have different catalogs.
func Preview(before, after *policy.Policy, catalogBefore, catalogAfter []policy.Definition) []Change {
	roles := slices.Concat(before.Roles(), after.Roles())
	slices.Sort(roles)
	var out []Change
	for _, role := range slices.Compact(roles) {
		old, fresh := everything(before, role), everything(after, role)
		was, is := before.Items(old, policy.Tool), after.Items(fresh, policy.Tool)
		out = append(out, Change{
			Role: role, Added: without(is, was), Removed: without(was, is),
			Before: Concealment(before, old, catalogBefore), After: Concealment(after, fresh, catalogAfter),
		})
	}
	return out
}

// everything is the scope of a role with all of its skills active.
func everything(p *policy.Policy, role string) policy.Scope {
	return policy.Scope{Principal: policy.Principal{ID: "preview", Role: role, Roles: []string{role}}, Skills: p.OpenSkills(role)}
}

// without returns the items of a that are not in b, except control tools.
func without(a, b []policy.Item) []policy.Item {
	there := map[policy.Item]bool{}
	for _, it := range b {
		there[it] = true
	}
	out := []policy.Item{}
	for _, it := range a {
		if !there[it] && !it.IsControl() {
			out = append(out, it)
		}
	}
	return out
}

// Concealment is the share of a catalog's tools that are hidden from a scope, from 0 to 1. Control tools and agents' own tools do not
// count. For an empty catalog it is 0.
func Concealment(p *policy.Policy, s policy.Scope, catalog []policy.Definition) float64 {
	total, hidden := 0, 0
	seen := map[policy.Item]bool{}
	for _, d := range catalog {
		it := d.Item
		if it.Kind != policy.Tool || it.Server == policy.AgentServer || it.IsControl() || seen[it] {
			continue
		}
		seen[it] = true
		total++
		if !p.Visible(s, it) {
			hidden++
		}
	}
	if total == 0 {
		return 0
	}
	return float64(hidden) / float64(total)
}
