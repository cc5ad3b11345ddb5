package skill

import (
	"slices"

	"mycelium/internal/policy"
)

// Change says what a role would see more and less under another policy, with every skill active that is open to it.
type Change struct {
	Role          string
	Added         []policy.Item
	Removed       []policy.Item
	Before, After float64 // concealment
}

// Preview compares two policies, role by role, sorted: what adding, changing or removing a skill would do. Roles of either are
// in it, also those for which nothing changes. The policies may have different catalogs.
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

// everything is the scope of a role with all its open skills active.
func everything(p *policy.Policy, role string) policy.Scope {
	return policy.Scope{Principal: policy.Principal{ID: "preview", Role: role, Roles: []string{role}}, Skills: p.OpenSkills(role)}
}

// without are the items of a that b has not, control tools left out.
func without(a, b []policy.Item) []policy.Item {
	there := map[policy.Item]bool{}
	for _, it := range b {
		there[it] = true
	}
	out := []policy.Item{}
	for _, it := range a {
		if !there[it] && !isControl(it) {
			out = append(out, it)
		}
	}
	return out
}

// Concealment is the share of a catalog's tools that a scope does not see, from 0 (sees all) to 1 (sees nothing). Control tools
// and agents' own tools do not count. An empty catalog conceals nothing: 0.
func Concealment(p *policy.Policy, s policy.Scope, catalog []policy.Definition) float64 {
	total, hidden := 0, 0
	seen := map[policy.Item]bool{}
	for _, d := range catalog {
		it := d.Item
		if it.Kind != policy.Tool || it.Server == policy.AgentServer || isControl(it) || seen[it] {
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
