package policytest

import (
	"maps"
	"slices"

	"mycelium/internal/policy"
)

// Covers reports whether r answers every call that o answers, as far as the text of the two rules tells: where o matches, r matches too,
// or denies because it cannot be evaluated; and where o denies because it cannot be evaluated, r denies too. It compares texts, so that it
// is false for many rules that do cover each other.
func Covers(r, o policy.CompiledRule) bool {
	if r.AnyOf || o.AnyOf || r.Named && !o.Named || r.When != "" && r.When != o.When {
		return false
	}
	for name, want := range r.Annotations {
		if have, said := o.Annotations[name]; !said || have != want {
			return false
		}
	}
	for _, tool := range o.Patterns {
		if !slices.ContainsFunc(r.Patterns, func(p policy.Pattern) bool { return p.Covers(tool) }) {
			return false
		}
	}
	return r.Role.Cover(o.Role) && r.Skill.Cover(o.Skill) && r.Stage.Cover(o.Stage) && fieldsCover(r.Match, o.Match) &&
		fieldsCover(r.Args, o.Args) && fails(r, o) && allows(r, o)
}

// fieldsCover reports whether every field of wide is also a field of narrow, with at least its patterns.
func fieldsCover(wide, narrow map[string]policy.Values) bool {
	for key, patterns := range wide {
		theirs, ok := narrow[key]
		if !ok || slices.ContainsFunc(theirs, func(v policy.Value) bool {
			return !slices.ContainsFunc(patterns, func(w policy.Value) bool { return same(w, v) })
		}) {
			return false
		}
	}
	return true
}

// fails reports whether r denies where o cannot be evaluated for a call. Arguments and conditions can fail. A rule that looks at fewer of
// them does not: it matches instead, and so a deny rule denies, but an ask rule asks.
func fails(r, o policy.CompiledRule) bool {
	if o.Effect == policy.Allow {
		return true // it allows nothing there
	}
	alike := len(r.Args) == len(o.Args) && r.When == o.When
	return alike || r.Effect == policy.Deny && r.When == ""
}

// allows reports whether r also answers the calls for which an allow rule has its own law: those that were not understood, and those of
// which it names every access to a path.
func allows(r, o policy.CompiledRule) bool {
	if o.Effect != policy.Allow {
		return r.Effect != policy.Allow
	}
	theirs := accesses(o)
	if r.Effect != policy.Allow {
		return len(accesses(r)) == 0 // an allow rule also matches a call without paths
	}
	if ours := accesses(r); len(ours) > 0 && !maps.Equal(ours, theirs) {
		return false
	}
	_, byEffect := r.Match["effect"]
	return !r.Conditional() || byEffect || len(o.Match["effect"]) == 0 // an effect may be "unclear"
}

// accesses are the accesses to paths by which a rule matches.
func accesses(r policy.CompiledRule) map[policy.Access]bool {
	list := map[policy.Access]bool{}
	for _, a := range []policy.Access{policy.Read, policy.Write, policy.Delete, policy.Execute} {
		if _, ok := r.Match[string(a)]; ok {
			list[a] = true
		}
	}
	return list
}

// same reports whether two patterns are written alike.
func same(v, o policy.Value) bool {
	return sameText(v.Literal, o.Literal) && sameText(v.Glob, o.Glob) && sameText(v.Regex, o.Regex) && v.Legacy == o.Legacy
}

func sameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
