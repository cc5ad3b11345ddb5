package policy

import (
	"slices"
	"strconv"
	"strings"

	"mycelium/internal/policy/arguments"
	"mycelium/internal/policy/when"
)

// verdict is the answer of a rule to a call.
type verdict uint8

const (
	misses verdict = iota
	matches
	fails // it cannot be evaluated
)

// admits reports whether the rule concerns a part of a call. Tool, annotations and role were compared when the policy was compiled.
func (r *rule) admits(p *Policy, v *view, c *Call, part *Part) verdict {
	if !r.inScope(v) {
		return misses
	}
	if r.broken != "" {
		return fails
	}
	if r.effect == Allow && !r.canAllow(c, part) {
		return misses
	}
	got := r.matchFields(v, c, part)
	if got != matches || r.when == nil {
		return got
	}
	return r.evalWhen(p, v, c, part)
}

// canAllow reports whether the conditions of an allow rule can judge the part. They cannot if something in it was not understood, unless
// the rule names that effect and its condition looks at nothing that the call would do. A rule about arguments cannot judge one part of
// several, because the arguments say nothing about a single part, unless it names the whole command by its text.
func (r *rule) canAllow(c *Call, part *Part) bool {
	if r.unconditional || r.unclear && r.when == nil {
		return true
	}
	if isUnclear(part) && (!r.unclear || slices.ContainsFunc(r.when, func(w *when.Condition) bool { return w.Facts })) {
		return false
	}
	return len(c.Facts.Parts) < 2 || !r.byArgs || r.exact
}

// inScope reports whether the rule is about the active skills and the stage of a view.
func (r *rule) inScope(v *view) bool {
	if len(r.stages) > 0 && !matchesAny(r.stages, v.stage) {
		return false
	}
	if len(r.skills) == 0 {
		return true
	}
	active := v.active.words()
	for i := range v.p.skills {
		s := &v.p.skills[i]
		if active.has(i) && matchesAny(r.skills, s.name) {
			return true
		}
	}
	return false
}

func (r *rule) matchFields(w *view, c *Call, part *Part) verdict {
	if len(r.fields) == 0 {
		return matches
	}
	if r.byAccess && r.effect == Allow && !r.namesAccesses(part) {
		return misses
	}
	some, all, failed := false, true, false
	for i := range r.fields {
		switch r.fields[i].match(w, c, part, r.effect == Allow) {
		case matches:
			some = true
		case misses:
			all = false
		case fails:
			failed = true
		}
	}
	switch {
	case r.anyOf && some, !r.anyOf && all && !failed:
		return matches
	case failed && (r.anyOf || all):
		return fails
	}
	return misses
}

// namesAccesses reports whether an allow rule that looks at accesses names the access of every path.
func (r *rule) namesAccesses(part *Part) bool {
	for i := range part.Paths {
		known := false
		for j := range r.fields {
			known = known || r.fields[j].kind == fieldAccess && r.fields[j].access == part.Paths[i].Access
		}
		if !known {
			return false
		}
	}
	return true
}

// match judges one field. With every, all values must match and there must be at least one, except for paths by access, of which there may
// be none. Otherwise one value must match.
func (f *field) match(w *view, c *Call, part *Part, every bool) verdict {
	t := tally{every: every}
	switch f.kind {
	case fieldEffect:
		f.effects(&t, part)
	case fieldPath:
		f.eachPath(&t, w, c, part)
	case fieldAccess, fieldSecret:
		t.some = every
		f.eachPath(&t, w, c, part)
	case fieldHost:
		for _, h := range part.Hosts {
			t.add(f.value(strings.TrimSuffix(strings.ToLower(h), ".")))
		}
	case fieldProgram:
		if part.Program != "" {
			t.add(f.value(part.Program))
		}
	case fieldArg:
		f.inArgs(&t, w, c.Args)
	case fieldPathArg:
		f.eachPath(&t, w, c, part)
		if !every {
			f.inArgs(&t, w, c.Args)
		}
	}
	return t.verdict()
}

// tally counts the values of a field.
type tally struct{ every, some, other, failed bool }

func (t *tally) add(ok bool) {
	t.some = t.some || ok
	t.other = t.other || !ok
}

func (t *tally) verdict() verdict {
	switch {
	case t.every && (t.failed || t.other || !t.some):
		if t.failed {
			return fails
		}
		return misses
	case t.some:
		return matches
	case t.failed:
		return fails
	}
	return misses
}

func (f *field) value(s string) bool {
	for i := range f.values {
		if f.values[i].match(s) {
			return true
		}
	}
	return false
}

// effects judges the effects that the part names, and the accesses of its paths.
func (f *field) effects(t *tally, part *Part) {
	for _, e := range part.Effects {
		t.add(f.value(e))
	}
	for i := range part.Paths {
		t.add(f.value(string(part.Paths[i].Access)))
	}
	if len(part.Unclear) > 0 {
		t.add(f.value("unclear"))
	}
}

func (f *field) eachPath(t *tally, w *view, c *Call, part *Part) {
	pl := w.p.with(&c.Facts)
	for i := range part.Paths {
		switch {
		case f.kind == fieldSecret:
			if !pl.opensSecret(&c.Facts, &part.Paths[i]) {
				continue
			}
		case f.kind == fieldAccess:
			if part.Paths[i].Access != f.access {
				continue
			}
		case i > 0 && part.Paths[i].samePlace(&part.Paths[i-1]):
			continue // the path was judged already: it is read and written
		}
		ok := false
		for j := range f.paths {
			if t.every {
				ok = f.paths[j].allForms(&pl, &part.Paths[i])
			} else {
				ok = f.paths[j].anyForm(&pl, &c.Facts, &part.Paths[i])
			}
			if ok {
				break
			}
		}
		t.add(ok)
	}
}

// inArgs judges the argument of a field. Most fields name it without a dot or a star. Then there is one value to judge, and the view
// keeps it, because the next rule often asks for the same argument.
func (f *field) inArgs(t *tally, w *view, args Args) {
	if f.deep {
		f.walk(t, map[string]any(args), f.arg, 0)
		return
	}
	if !w.argKnown || w.argName != f.arg {
		w.argKnown, w.argName, w.arg = true, f.arg, args[f.arg]
	}
	switch v := w.arg.(type) {
	case nil: // absent or null
	case string:
		t.add(f.value(v))
	default:
		f.leaf(t, v, 0)
	}
}

// walk judges the values under a dotted path. A key may itself have dots, and "*" is every element.
func (f *field) walk(t *tally, v any, at string, depth int) {
	if depth > arguments.MaxDepth {
		t.failed = true
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for i := 0; i <= len(at); i++ {
			if i < len(at) && at[i] != '.' {
				continue
			}
			next, ok := v[at[:i]]
			switch {
			case ok && i == len(at):
				f.leaf(t, next, depth)
			case ok:
				f.walk(t, next, at[i+1:], depth+1)
			}
		}
		if rest, ok := wildcard(at); ok {
			for _, e := range v {
				f.step(t, e, rest, depth)
			}
		}
	case []any:
		if rest, ok := wildcard(at); ok {
			for _, e := range v {
				f.step(t, e, rest, depth)
			}
			return
		}
		head, rest, _ := strings.Cut(at, ".")
		if i, err := strconv.Atoi(head); err == nil && i >= 0 && i < len(v) {
			f.step(t, v[i], rest, depth)
		}
	}
}

func (f *field) step(t *tally, v any, rest string, depth int) {
	if rest == "" {
		f.leaf(t, v, depth)
	} else {
		f.walk(t, v, rest, depth+1)
	}
}

func wildcard(at string) (rest string, ok bool) {
	if at == "*" {
		return "", true
	}
	return strings.CutPrefix(at, "*.")
}

// leaf judges a value. Of a list it judges the elements. An object, and a number that no type holds, cannot be compared.
func (f *field) leaf(t *tally, v any, depth int) {
	if depth > arguments.MaxDepth {
		t.failed = true
		return
	}
	switch v := v.(type) {
	case nil:
	case []any:
		for _, e := range v {
			f.leaf(t, e, depth+1)
		}
	case map[string]any, Number:
		t.failed = true
	default:
		s, err := scalar(v)
		if err != nil {
			t.failed = true
			return
		}
		t.add(f.value(s))
	}
}
