package shell

import (
	"strings"

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
	r.noticeAll(name, vals, a.Array != nil || a.Index != nil, st)
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
		vals = []program.Word{r.value(a.Value, st, true)}
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
	r.noticeAll(name, []program.Word{val}, false, st)
}

// noticeAll makes a part of an assignment of all values of a variable, or of its elements, that changes what later commands do.
func (r *reader) noticeAll(name string, vals []program.Word, elements bool, st program.State) {
	if program.IsPlainVariable(name) {
		return
	}
	c := program.Call{Shell: r, Walk: &r.Walk, State: st, Words: []program.Word{{Text: name + "="}}}
	if len(vals) == 1 {
		c.Words[0].Text += vals[0].Text
	}
	if elements && len(vals) == 0 {
		vals = program.UnknownWords
	}
	for _, val := range vals {
		if elements {
			c.Element(name, val)
		} else {
			c.Variable(name, val)
		}
	}
	c.FinishIfAny()
}

// assignedHere are the variables that a text assigns outside of assignments: texts are those of ${x=value} and ${x:=value}, numbers those
// of expressions and of {x}>file.
func assignedHere(file *syntax.File) (texts, numbers []string) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				texts = append(texts, n.Param.Value)
			}
		case *syntax.Redirect:
			if name, ok := descriptor(n); ok {
				numbers = append(numbers, name)
			}
		case *syntax.BinaryArithm, *syntax.UnaryArithm:
			if name, ok := counted(n); ok {
				numbers = append(numbers, name)
			}
		}
		return true
	})
	return texts, numbers
}

// descriptor returns the variable to which a redirection such as {x}>file assigns the number of the file.
func descriptor(d *syntax.Redirect) (name string, ok bool) {
	if d.N == nil || !strings.HasPrefix(d.N.Value, "{") {
		return "", false
	}
	return variableOf(strings.Trim(d.N.Value, "{}")), true
}

// counted returns the variable to which an operator of an expression assigns a number.
func counted(n syntax.Node) (name string, ok bool) {
	var to syntax.ArithmExpr
	switch n := n.(type) {
	case *syntax.BinaryArithm:
		switch n.Op { //nolint:exhaustive // the others assign nothing
		case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn,
			syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
			to = n.X
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			to = n.X
		}
	}
	w, ok := to.(*syntax.Word)
	if !ok || len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return variableOf(p.Value), true
	case *syntax.ParamExp:
		if p.Param != nil {
			return p.Param.Value, true
		}
	}
	return "", false
}

// variableOf returns the variable of an element: a of a[0].
func variableOf(element string) string {
	name, _, _ := strings.Cut(element, "[")
	return name
}

// count is the state after an expression that is a command of its own. A variable to which it certainly assigns is a number.
func (r *reader) count(x syntax.ArithmExpr, st program.State) program.State {
	r.arithm(x, st)
	if b, ok := x.(*syntax.BinaryArithm); ok && b.Op == syntax.Comma {
		return r.counts(b.Y, r.counts(b.X, st))
	}
	return r.counts(x, st)
}

// counts gives the number to the variable of an operator.
func (r *reader) counts(x syntax.ArithmExpr, st program.State) program.State {
	if p, ok := x.(*syntax.ParenArithm); ok {
		x = p.X
	}
	if x == nil {
		return st
	}
	if name, ok := counted(x); ok && syntax.ValidName(name) {
		return r.Assign(st, name, program.Known("0"))
	}
	return st
}
