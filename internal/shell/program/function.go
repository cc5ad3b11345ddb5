package program

import (
	"slices"
	"strconv"
	"strings"
)

// What a name means where a command is met: a function counts only where it certainly is one. A branch that may not be taken, a subshell,
// unset, and a program between the shell and the command each end the certainty. Where it is not certain, the function and the program of
// that name are both judged.

// WithFunction returns the state after a declaration of a function. The index says which of the declarations of the command it is.
func (s State) WithFunction(name string, index int) State {
	s.funcs = &binding{name, []Word{Known(strconv.Itoa(index))}, s.funcs}
	return s
}

// Function returns which declaration a name means. some is false if the name is no function here; certain is false if it may be one.
func (s State) Function(name string) (index int, certain, some bool) {
	if s.funcs == nil {
		return 0, false, false
	}
	values, ok := s.funcs.lookup(name)
	if !ok || len(values) == 0 {
		return 0, false, false
	}
	index, err := strconv.Atoi(values[0].Text)
	return index, err == nil && !values[0].Unknown, true
}

// DoubtFunction returns the state in which the name may be a function, and may be none.
func (s State) DoubtFunction(name string) State {
	s.funcs = &binding{name, UnknownWords, s.funcs}
	return s
}

// exported is the second value of a function that bash gives to its children.
var exported = Known("exported")

// ExportFunction returns the state after export -f.
func (s State) ExportFunction(name string) State {
	if values, ok := s.funcs.lookup(name); ok && len(values) == 1 && !values[0].Unknown {
		s.funcs = &binding{name, []Word{values[0], exported}, s.funcs}
	}
	return s
}

// FunctionsOf returns the state with the functions of another state.
func (s State) FunctionsOf(o State) State {
	s.funcs = o.funcs
	return s
}

// Export returns the state in which a variable is given to the processes that the shell starts.
func (s State) Export(name string) State { return s.With(exportKey(name), exported) }

// DoubtExport returns the state in which a variable may be given to processes, and may not.
func (s State) DoubtExport(name string) State { return s.With(exportKey(name), UnknownWords...) }

// exportKey is the name under which the state has whether a variable is exported. No variable has such a name.
func exportKey(name string) string { return "export " + name }

// InChild returns the state in a process that the shell starts. It has no functions but those that were exported, and only bash is certain
// to take them. Of a variable that was not exported, the process may have another value: that of the environment, or none.
func (s State) InChild(bash bool) State {
	functions, variables := s.funcs.latest(), s.vars.latest()
	s.funcs, s.sh = nil, !bash
	for _, b := range functions {
		switch {
		case len(b.values) == 2 && bash:
			s.funcs = &binding{b.name, b.values, s.funcs}
		case len(b.values) == 2 || len(b.values) == 1 && b.values[0].Unknown:
			s.funcs = &binding{b.name, UnknownWords, s.funcs}
		}
	}
	for _, b := range variables {
		if strings.Contains(b.name, " ") || b.name == "PWD" || b.name == "OLDPWD" {
			continue
		}
		if mark, _ := s.vars.lookup(exportKey(b.name)); len(mark) != 1 || mark[0].Unknown || len(b.values) != 1 {
			s.vars = &binding{b.name, UnknownWords, s.vars}
		}
	}
	return s
}

// Child returns the state in which a process of the call runs.
func Child(c *Call, bash bool) State {
	s := c.State.InChild(bash)
	for _, v := range c.Env {
		s = c.Walk.Assign(s, v.Name, v.Value).Export(v.Name)
	}
	return s
}

// ForgetEnvironment is for a program that runs its command without the variables that the shell exports: there they are empty, or a shell sets them
// anew.
func (c *Call) ForgetEnvironment() {
	c.State, c.Env = c.State.InChild(false).Doubt(), nil
}

// ForgetVariable is for a program that runs its command without one of these variables.
func (c *Call) ForgetVariable(name Word) {
	if name.Unknown {
		c.ForgetEnvironment()
		return
	}
	c.State = c.State.InChild(false).With(name.Text, UnknownWords...)
	c.Env = slices.DeleteFunc(slices.Clone(c.Env), func(v Assignment) bool { return v.Name == name.Text })
}

// latest returns the last binding of each name.
func (b *binding) latest() (list []*binding) {
	for ; b != nil; b = b.next {
		if !slices.ContainsFunc(list, func(o *binding) bool { return o.name == b.name }) {
			list = append(list, b)
		}
	}
	return list
}

// doubtAll returns the bindings in which every name may mean something else.
func (b *binding) doubtAll() *binding {
	doubted := b
	for _, v := range b.latest() {
		values := UnknownWords
		if len(v.values) == 1 && !v.values[0].Unknown {
			values = []Word{{Unknown: true, Default: v.values[0].Text}} // it is judged, too
		}
		doubted = &binding{v.name, values, doubted}
	}
	return doubted
}

// Doubt returns the state in which all variables and functions may have changed.
func (s State) Doubt() State {
	s.vars, s.funcs, s.Doubted = s.vars.doubtAll(), s.funcs.doubtAll(), true
	return s
}
