package shell

import (
	"mvdan.cc/sh/v3/syntax"

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
	if a.Naked && a.Array == nil {
		return st
	}
	name, vals := a.Name.Value, assigned(r, a, st)
	if a.Array != nil {
		addExpanded(r, vals, st)
	}
	if len(vals) == 1 {
		r.notice(name, vals[0], st)
	}
	return r.Assign(st, name, vals...)
}

// assigned returns the values that an assignment gives to its variable.
func assigned(r *reader, a *syntax.Assign, st program.State) (vals []program.Word) {
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				r.arithm(e.Index, st)
			}
			if e.Value != nil {
				vals = r.expand(vals, e.Value, st)
			}
		}
	case a.Value != nil:
		vals = []program.Word{r.one(a.Value, st)}
	default:
		vals = []program.Word{{}}
	}
	if a.Append || a.Index != nil {
		before, _ := st.Lookup(a.Name.Value)
		if vals = appended(before, vals, a); vals == nil {
			vals = program.UnknownWords
		}
	}
	return vals
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
