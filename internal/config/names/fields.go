package names

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// fields checks the conditions of a rule: its effects, its patterns and its arguments.
func (c *checker) fields(r *policy.Rule) (out []finding) {
	for _, key := range slices.Sorted(maps.Keys(r.Match)) {
		for _, v := range r.Match[key] {
			if f := effect(key, v); f != nil {
				out = append(out, *f)
			} else if f := star(key, v); f != nil {
				out = append(out, *f)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.Args)) {
		for _, v := range r.Args[key] {
			if f := star("args."+key, v); f != nil {
				out = append(out, *f)
			}
		}
		if f := c.argument(r, key); f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// effect checks an effect that a rule names.
func effect(key string, v policy.Value) *finding {
	if key != "effect" || v.Literal == nil || v.Legacy {
		return nil
	}
	if _, known := policy.EffectNamed(*v.Literal); known {
		return nil
	}
	var names []string
	for _, e := range policy.Effects() {
		names = append(names, e.Name)
	}
	return &finding{message: fmt.Sprintf("no call has the effect %q", *v.Literal),
		hint: suggest(text.Nearest(*v.Literal, names), "the effects are "+strings.Join(names, ", "))}
}

// star checks a plain string, which is a literal, for the star of a glob.
func star(key string, v policy.Value) *finding {
	if v.Literal == nil || !v.Plain || !strings.Contains(*v.Literal, "*") {
		return nil
	}
	s := strconv.Quote(*v.Literal)
	return &finding{message: fmt.Sprintf("%s: a string is a literal, so %s matches only that very text", key, s),
		hint: fmt.Sprintf("write {glob: %s} for a pattern, or {literal: %s} if the text is meant", s, s)}
}

// argument checks that a tool of a rule has an argument. It cannot be said if the arguments of one tool of the rule are not known.
func (c *checker) argument(r *policy.Rule, path string) *finding {
	key, _, _ := strings.Cut(path, ".")
	if c.Args == nil || len(r.Tool) == 0 || strings.Contains(key, "*") {
		return nil
	}
	var known []string
	for _, written := range r.Tool {
		p, err := policy.ParseRuleTool(written)
		if err != nil {
			return nil
		}
		it, exact := p.Exact()
		if !exact {
			return nil
		}
		args := c.Args(it)
		if len(args) == 0 || slices.Contains(args, key) || slices.Contains(args, path) {
			return nil
		}
		known = append(known, args...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return &finding{message: fmt.Sprintf("args.%s: %s has no argument %q", path, strings.Join(r.Tool, ", "), key),
		hint: suggest(text.Nearest(key, known), "its arguments are "+strings.Join(known, ", "))}
}
