package policy

import (
	"errors"
	"slices"
	"strings"
)

// CompiledRule is a rule as a policy decides with it, for whoever examines rules: package policytest.
type CompiledRule struct {
	*Rule           // as it was written
	ID       string // its name, or #N, its number in the file
	Effect   Effect // of its action
	Patterns []Pattern
	AnyOf    bool // one matching field is enough: the older form, and match: any

	policy *Policy
	rule   *rule
}

// CompiledRules are the rules in the order in which they are asked: those that hide, then deny, ask and allow, each in file order. Rules
// that cannot be evaluated are left out: the problems of [New] are about them. So are those that the key ask of a role makes.
func (p *Policy) CompiledRules() []CompiledRule {
	var list []CompiledRule
	for i := range p.rules {
		if r := &p.rules[i]; r.broken == "" && !r.ofRole() && !r.shipped() {
			list = append(list, CompiledRule{Rule: r.src, ID: r.name, Effect: r.effect, Patterns: r.tools, AnyOf: r.anyOf, policy: p, rule: r})
		}
	}
	return list
}

// Conditional reports whether the rule has conditions of match or args.
func (r CompiledRule) Conditional() bool { return len(r.rule.fields) > 0 }

// NeedsFacts reports whether the rule looks at what a call would do, besides its arguments.
func (r CompiledRule) NeedsFacts() bool {
	for i := range r.rule.fields {
		if r.rule.fields[i].kind != fieldArg {
			return true
		}
	}
	return len(r.rule.when) > 0 && !scopeOnly(r.rule.when)
}

// Matches asks the rule about a call: a rule that allows matches only if it matches each part. The skills of the call's scope count as
// active, whether its role may activate them or not. It is an error if the rule cannot be evaluated for the call.
func (r CompiledRule) Matches(c Call, notes Annotations) (bool, error) {
	p := r.policy
	var v view
	v.set(p, &c.Scope, &c.Scope.Principal)
	for _, name := range c.Scope.Skills {
		if i, ok := p.skillIndex[name]; ok {
			v.active.words().set(i)
		}
	}
	concerned := slices.ContainsFunc(r.Patterns, func(t Pattern) bool { return t.Match(c.Item) })
	byRole := r.rule.admitsRole(v.role) || len(r.Role) > 0 && c.Scope.Principal.Role == r.Role[0]
	if !concerned || !byRole || !r.rule.admitsNotes(notes) {
		return false, nil
	}
	got, parts := misses, c.Facts.Parts
	if len(parts) == 0 {
		parts = noParts[:]
	}
	for i := range parts {
		switch part := r.rule.admits(p, &v, &c, &parts[i]); {
		case part == fails:
			return false, errors.New("the rule cannot be evaluated for it")
		case part == matches:
			got = matches
		case r.Effect == Allow:
			return false, nil
		}
	}
	return got == matches, nil
}

// Reach reports whether a pattern of the rule names any tool that exists, and whether some role of the rule may see one of those.
func (r CompiledRule) Reach(tool Pattern) (exists, seen bool) {
	p := r.policy
	for it, e := range p.items {
		if it.Kind != Tool || !tool.Match(it) {
			continue
		}
		exists = true
		if e.control {
			return true, true
		}
		for _, ro := range p.roles {
			if r.rule.admitsRole(ro) && e.skills.intersects(ro.open) && !e.denied.has(ro.index) {
				return true, true
			}
		}
	}
	return exists, false
}

// HasSkill reports whether some grant is of a skill of this name.
func (p *Policy) HasSkill(name string) bool {
	_, known := p.skillIndex[name]
	return known
}

// Defaults are the names of session.defaultSkills; nil if it is not set. The caller must not modify them.
func (p *Policy) Defaults() []string { return p.start }

// Hints are the annotations of a tool of the catalog, as far as its server is trusted.
func (p *Policy) Hints(it Item) (notes Annotations, listed bool) {
	if e := p.items[it]; e != nil {
		return e.notes, true
	}
	return nil, false
}

// Dir is the project folder, as the source names it.
func (p *Policy) Dir() string { return p.dir }

// Home is the user's home folder.
func (p *Policy) Home() string { return p.home }

// AgentFallback is the answer to a call of an agent's own tool that no rule decides.
func (p *Policy) AgentFallback() Effect { return p.agent }

// Covers reports whether p matches whatever o matches. A star of o can only stand where p has one.
func (p Pattern) Covers(o Pattern) bool {
	return p.text == o.text || matchStars(p.parts, o.text)
}

// Cover reports whether the names match whatever others match. Without names, everything is matched.
func (n Names) Cover(others Names) bool {
	return len(n) == 0 || len(others) > 0 && !slices.ContainsFunc(others, func(s string) bool {
		return !slices.ContainsFunc(n, func(w string) bool { return w == s || matchStars(strings.Split(w, "*"), s) })
	})
}

// WithoutLinks takes every path for what its text says, as if there were no links. It changes the facts.
func (f Facts) WithoutLinks() Facts {
	for i := range f.Parts {
		for j := range f.Parts[i].Paths {
			f.Parts[i].Paths[j].Resolved = f.Parts[i].Paths[j].Clean
		}
	}
	return f
}
