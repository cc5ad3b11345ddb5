package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mycelium/internal/policy"
	"mycelium/internal/shell/effect"
	"mycelium/internal/shell/program"
)

// declaration walks export, declare, local, readonly and typeset.
func (r *reader) declaration(d *syntax.DeclClause, st program.State) program.State {
	shows := true // without a name it shows every variable
	for _, a := range d.Args {
		shows = shows && a.Name == nil
	}
	if shows {
		r.Add(policy.Part{Program: d.Variant.Value, Argv: []string{d.Variant.Value}}, effect.Execute|effect.Secrets)
	}
	v := declarer{reader: r, name: d.Variant.Value, before: st}
	for _, a := range d.Args {
		if a.Name == nil && a.Value != nil {
			st = v.word(a, st)
			continue
		}
		st = v.variable(a, st)
	}
	return st
}

// declarer walks one declaration.
type declarer struct {
	*reader
	name   string        // export, declare …
	flags  string        // those that were met
	before program.State // bash and sh expand all words before the first is assigned, other shells may not
	some   bool          // a variable was assigned
}

// word handles a flag, or a word that is an assignment once it is expanded: "A=$x".
func (v *declarer) word(a *syntax.Assign, st program.State) program.State {
	t := v.one(a.Value, st)
	if v.flag(t) {
		return st
	}
	v.Arm(t)
	v.Evaluates = v.Evaluates || strings.IndexByte(t.Text, '[') >= 0 || t.Unknown
	name, value, assigns := strings.Cut(t.Text, "=")
	switch {
	case t.Unknown && !assigns:
		v.Add(unread("which variable is meant is not known"), 0)
		return st.Doubt()
	case !syntax.ValidName(name):
		element := strings.IndexByte(name, '[') >= 0
		name = variableOf(strings.TrimSuffix(name, "+"))
		v.noticeAll(name, program.UnknownWords, element, st)
		return v.bind(name, program.UnknownWords, st)
	case assigns:
		t.Text = value
		v.notice(name, t, st)
		return v.bind(name, []program.Word{t}, st)
	}
	return v.naked(name, st)
}

// flag handles the flags of a declaration.
func (v *declarer) flag(t program.Word) bool {
	if t.Unknown || !strings.HasPrefix(t.Text, "-") && !strings.HasPrefix(t.Text, "+") {
		return false
	}
	v.flags += t.Text
	if t.Text[0] == '-' && v.name != "export" && strings.Contains(t.Text, "n") {
		v.Add(unread("a variable is another name of one that is not known"), 0)
	}
	v.Evaluates = v.Evaluates || strings.Contains(t.Text, "i") // an assigned text is evaluated as a number
	if strings.Trim(t.Text[1:], "aAfFgIprtx"+program.Renames) != "" {
		v.Add(unread("what the option "+t.Text+" does to a variable is not known"), 0)
	}
	return true
}

// variable handles an assignment, or a name.
func (v *declarer) variable(a *syntax.Assign, st program.State) program.State {
	if a.Naked && a.Array == nil {
		if a.Index != nil {
			v.arithm(a.Index, st)
		}
		return v.naked(a.Name.Value, st)
	}
	next := v.assign(a, st)
	vals, _ := next.Lookup(a.Name.Value)
	if a.Value != nil && hasBrace(a.Value) { // bash makes several assignments of it, and others make one
		vals = program.UnknownWords
	}
	if v.some {
		v.quiet(func(q *reader) program.Word {
			if !program.Same(vals, assigned(q, a, v.before)) {
				vals = program.UnknownWords
			}
			return program.Word{}
		})
	}
	return v.bind(a.Name.Value, vals, st)
}

// naked handles a name without a value.
func (v *declarer) naked(name string, st program.State) program.State {
	if v.name == "export" || strings.Contains(v.flags, "x") {
		if strings.Contains(v.flags, "f") {
			return st.ExportFunction(name)
		}
		st = v.export(name, st)
		if vals, ok := st.Lookup(name); ok && len(vals) == 1 && !program.IsPlainVariable(name) {
			v.notice(name, vals[0], st)
		}
	}
	if strings.Contains(v.flags, "f") || strings.Contains(v.flags, "p") {
		return st
	}
	if v.makesLocal() || strings.ContainsAny(v.flags, program.Renames) {
		return v.bind(name, program.UnknownWords, st)
	}
	return st
}

// makesLocal reports whether the declaration makes its variables local.
func (v *declarer) makesLocal() bool {
	switch v.name {
	case "local":
		return true
	case "declare", "typeset":
		return v.Level > 0 && !strings.Contains(v.flags, "g")
	}
	return false
}

// bind gives a variable its values.
func (v *declarer) bind(name string, vals []program.Word, st program.State) program.State {
	v.some = true
	if strings.ContainsAny(v.flags, program.Renames) { // for each later value too
		v.Changed = append(v.Changed, name)
		vals = program.UnknownWords
	}
	if v.makesLocal() {
		v.locals = append(v.locals, name)
		st = st.With(localKey(name), program.Known(strconv.Itoa(v.Level))).DoubtExport(name)
	}
	if v.name == "local" && v.Level == 0 { // bash does nothing, zsh assigns
		vals = program.UnknownWords
	}
	return v.Assign(v.export(name, st), name, vals...)
}

// export records that a variable is given to processes.
func (v *declarer) export(name string, st program.State) program.State {
	switch {
	case strings.Contains(v.flags, "n"):
		return st.DoubtExport(name)
	case v.name == "export" || strings.Contains(v.flags, "x"):
		return st.Export(name)
	}
	return st
}

// localKey is the name under which the state has the function in which a variable is local. No variable has such a name.
func localKey(name string) string { return "local " + name }

// returned is the state after a function whose local variables end with it: each has the value from before the call again. Where it is not
// certain that the variable was local, its value is not known.
func returned(st, before program.State, locals []string, level int) program.State {
	for _, name := range locals {
		outer, ok := before.Lookup(name)
		if !ok {
			outer = program.UnknownWords
		}
		inner, _ := st.Lookup(name)
		at, _ := st.Lookup(localKey(name))
		if !program.Same(at, []program.Word{program.Known(strconv.Itoa(level))}) && !program.Same(outer, inner) {
			outer = program.UnknownWords
		}
		owner, ok := before.Lookup(localKey(name))
		if !ok {
			owner = program.UnknownWords
		}
		st = st.With(name, outer...).With(localKey(name), owner...)
	}
	return st
}

// prefixed is the state after a command before which variables were assigned. They hold for the command only, but sh keeps them behind a
// special builtin, and some shells do behind a function.
func prefixed(c *program.Call, st, before program.State) program.State {
	special := isSpecial(c.Words[0].Text)
	for _, v := range c.Env {
		outer, ok := before.Lookup(v.Name)
		after, some := st.Lookup(v.Name)
		if ok == some && (!ok || program.Same(outer, after)) && (!special || program.Same(outer, []program.Word{v.Value})) {
			continue
		}
		c.Walk.IFSChanged = c.Walk.IFSChanged || v.Name == "IFS"
		st = st.With(v.Name, program.UnknownWords...)
	}
	return st
}
