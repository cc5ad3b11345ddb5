package approval

import (
	"maps"
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// Refusing returns the names of the deny rules of a policy that refuse part of what a candidate allows, in their order. Deny rules stand
// above it, so people are told what it does not bring. A rule counts where that cannot be told from its text: its condition or its
// arguments are of a later call. A candidate for one call has none, because the call was asked about.
func Refusing(p *policy.Policy, c Candidate) (list []string) {
	if c.As == ThisCall || len(c.Rule.Tool) == 0 {
		return nil
	}
	it, err := policy.ParseTool(c.Rule.Tool[0])
	if err != nil {
		return nil
	}
	o := overlap{policy: p, allowed: c.Rule.Match}
	for _, r := range p.CompiledRules() {
		about := slices.ContainsFunc(r.Patterns, func(t policy.Pattern) bool { return t.Match(it) })
		if r.Effect == policy.Deny && about && o.concerns(r.Role, c.Rule.Role) && (r.AnyOf || o.meets(r.Match)) {
			list = append(list, r.ID)
		}
	}
	return list
}

// overlap compares what an allow rule of [wider] admits with the fields of a deny rule. The allow rule bounds effects, programs and hosts
// by literals, and paths by absolute ones.
type overlap struct {
	policy  *policy.Policy
	allowed map[string]policy.Values
}

// concerns reports whether a rule for some roles is about the role of the candidate, which may inherit one of them.
func (o *overlap) concerns(roles, of policy.Names) bool {
	if len(roles) == 0 || len(of) == 0 {
		return true
	}
	role, _ := o.policy.Role(of[0])
	return slices.ContainsFunc(append(role.Called, of[0]), func(name string) bool { return roles.Cover(policy.Names{name}) })
}

// meets reports whether some call could match the fields of both rules.
func (o *overlap) meets(fields map[string]policy.Values) bool {
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		ours := key
		switch policy.Access(key) {
		case policy.Read, policy.Write, policy.Delete, policy.Execute:
			if !slices.ContainsFunc(o.allowed["effect"], func(v policy.Value) bool { return v.Literal != nil && *v.Literal == key }) {
				return false
			}
			ours = "path"
		}
		if !slices.ContainsFunc(o.allowed[ours], func(v policy.Value) bool { return o.meetsAny(v, ours, fields[key]) }) {
			return false
		}
	}
	return true
}

func (o *overlap) meetsAny(v policy.Value, field string, patterns policy.Values) bool {
	return slices.ContainsFunc(patterns, func(w policy.Value) bool { return o.language(v, field).Meets(o.language(w, field)) })
}

// language is what a pattern matches. A regular expression over paths may begin at the project folder.
func (o *overlap) language(v policy.Value, field string) globs.Language {
	fold := field == "host"
	switch {
	case v.Regex != nil && field == "path":
		return globs.Regex("(?:.*/)?(?:"+*v.Regex+")", false)
	case v.Regex != nil:
		return globs.Regex(*v.Regex, fold)
	case v.Glob != nil && field == "path":
		return globs.Of(o.absolute(*v.Glob), false)
	case v.Glob != nil:
		return globs.Of(*v.Glob, fold)
	case v.Literal != nil && field == "path":
		return globs.Of(o.absolute(globs.Quote(*v.Literal)), false)
	case v.Literal != nil:
		return globs.Of(globs.Quote(*v.Literal), fold)
	}
	return globs.Language{}
}

// absolute is a glob over paths from where it begins.
func (o *overlap) absolute(glob string) string {
	rest, home := strings.CutPrefix(glob, "~/")
	switch {
	case strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "**"):
		return glob
	case home:
		return path.Join(globs.Quote(o.policy.Home()), rest)
	}
	return path.Join(globs.Quote(o.policy.Dir()), glob)
}
