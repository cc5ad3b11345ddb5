package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// assign walks an assignment that holds for the commands that follow.
func (r *reader) assign(a *syntax.Assign, st program.State) program.State {
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
	var vals []program.Word
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				vals = r.expand(vals, e.Value, st)
			}
		}
		addExpanded(r, vals, st)
	case a.Value != nil:
		vals = []program.Word{r.one(a.Value, st)}
	case a.Naked:
		return st
	default:
		vals = []program.Word{{}}
	}
	if a.Append || a.Index != nil {
		before, _ := st.Lookup(name)
		if vals = appended(before, vals, a); vals == nil {
			vals = program.UnknownWords
		}
	}
	if len(vals) == 1 {
		r.notice(name, vals[0], st)
	}
	return r.Assign(st, name, vals...)
}

// appended returns the values of X+=value. It returns nil if they are not known.
func appended(before, vals []program.Word, a *syntax.Assign) []program.Word {
	switch {
	case before == nil || a.Index != nil:
		return nil
	case a.Array != nil:
		return append(before[:len(before):len(before)], vals...)
	case len(before) == 1 && len(vals) == 1 && !before[0].Unknown:
		t := before[0]
		t.Text += vals[0].Text
		t.Unknown = vals[0].Unknown
		return []program.Word{t}
	}
	return nil
}

// notice makes a part of an assignment that changes what later commands do.
func (r *reader) notice(name string, val program.Word, st program.State) {
	if program.IsPlainVariable(name) {
		return
	}
	c := program.Call{Shell: r, Walk: &r.Walk, State: st, Words: []program.Word{{Text: name + "=" + val.Text}}}
	c.Variable(name, val)
	c.FinishIfAny()
}

// declaration walks export, declare, local, readonly and typeset.
func (r *reader) declaration(d *syntax.DeclClause, st program.State) program.State {
	shows := true // without a name it shows every variable
	for _, a := range d.Args {
		shows = shows && a.Name == nil
	}
	if shows {
		r.Add(policy.Part{Program: d.Variant.Value, Argv: []string{d.Variant.Value}}, effect.Execute|effect.Secrets)
	}
	renames := false
	for _, a := range d.Args {
		if a.Value != nil && a.Name == nil {
			flags := a.Value.Lit()
			renames = renames || strings.HasPrefix(flags, "-") && strings.ContainsAny(flags, program.Renames)
			if strings.HasPrefix(flags, "-") && strings.Contains(flags, "n") {
				r.Add(unread("a variable is another name of one that is not known"), 0)
			}
		}
		if a.Value != nil && a.Name == nil { // with -i, an assigned text is evaluated as a number
			r.Evaluates = r.Evaluates || strings.Contains(a.Value.Lit(), "i")
			t, _ := r.quiet(func(q *reader) program.Word { return q.one(a.Value, st) })
			r.Arm(t)
		}
		if a.Name != nil && a.Naked && d.Variant.Value == "export" && !program.IsPlainVariable(a.Name.Value) {
			if vals, ok := st.Lookup(a.Name.Value); ok && len(vals) == 1 {
				r.notice(a.Name.Value, vals[0], st)
			}
		}
		st = r.assign(a, st)
		if renames && a.Name != nil {
			st = r.Assign(st, a.Name.Value, program.UnknownWords...)
		}
	}
	return st
}
