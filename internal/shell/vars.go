package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
)

// set is the state after an assignment, with what it means for the commands that follow.
func (r *reader) set(st state, name string, vals ...text) state {
	if r.assigned++; r.assigned > maxBindings {
		r.tooMuch()
		return st
	}
	r.arm(vals...)
	switch name {
	case "IFS":
		r.ifs = true
	case "PATH":
		r.path = true
	}
	return st.with(name, vals...)
}

// assign is an assignment that stays.
func (r *reader) assign(a *syntax.Assign, st state) state {
	if a.Index != nil {
		r.arithm(a.Index, st)
	}
	if a.Name == nil {
		if a.Value != nil {
			r.one(a.Value, st)
		}
		return st
	}
	name := a.Name.Value
	var vals []text
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				vals = r.expand(vals, e.Value, st)
			}
		}
	case a.Value != nil:
		vals = []text{r.one(a.Value, st)}
	case a.Naked:
		return st
	default:
		vals = []text{{}}
	}
	if a.Append || a.Index != nil {
		before, _ := st.lookup(name)
		if vals = appended(before, vals, a); vals == nil {
			vals = unknownVals
		}
	}
	if len(vals) == 1 {
		r.notice(name, vals[0], st)
	}
	return r.set(st, name, vals...)
}

// appended is X+=value; nil where that is not known.
func appended(before, vals []text, a *syntax.Assign) []text {
	switch {
	case before == nil || a.Index != nil:
		return nil
	case a.Array != nil:
		return append(before[:len(before):len(before)], vals...)
	case len(before) == 1 && len(vals) == 1 && !before[0].unknown:
		t := before[0]
		t.s += vals[0].s
		t.unknown = vals[0].unknown
		return []text{t}
	}
	return nil
}

// notice makes a part of an assignment that changes what later commands do.
func (r *reader) notice(name string, val text, st state) {
	if meaningOf(name) == plainVariable {
		return
	}
	c := call{r: r, st: st, words: []text{{s: name + "=" + val.s}}}
	c.variable(name, val)
	if c.does != 0 || len(c.part.Unclear) > 0 || len(c.part.Paths) > 0 {
		c.does |= doesExecute
		c.finish()
	}
}

// declaration is export, declare, local, readonly and typeset.
func (r *reader) declaration(d *syntax.DeclClause, st state) state {
	shows := true // every variable
	for _, a := range d.Args {
		shows = shows && a.Name == nil
	}
	if shows {
		r.add(policy.Part{Program: d.Variant.Value, Argv: []string{d.Variant.Value}}, doesExecute|doesSecrets)
	}
	for _, a := range d.Args {
		if a.Value != nil && a.Name == nil { // -i: what is assigned is evaluated
			r.counts = r.counts || strings.Contains(a.Value.Lit(), "i")
			t, _ := r.quiet(func(q *reader) text { return q.one(a.Value, st) })
			r.arm(t)
		}
		if a.Name != nil && a.Naked && d.Variant.Value == "export" && meaningOf(a.Name.Value) != plainVariable {
			if vals, ok := st.lookup(a.Name.Value); ok && len(vals) == 1 {
				r.notice(a.Name.Value, vals[0], st)
			}
		}
		st = r.assign(a, st)
	}
	return st
}
