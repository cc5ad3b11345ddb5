package program

import "strconv"

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

// InChild returns the state in a process that the shell starts. It has no functions but those that were exported, and only bash is certain
// to take them.
func (s State) InChild(bash bool) State {
	seen := map[string]bool{}
	var kept *binding
	for b := s.funcs; b != nil; b = b.next {
		if seen[b.name] {
			continue
		}
		seen[b.name] = true
		switch {
		case len(b.values) == 2 && bash:
			kept = &binding{b.name, b.values, kept}
		case len(b.values) == 2 || len(b.values) == 1 && b.values[0].Unknown:
			kept = &binding{b.name, UnknownWords, kept}
		}
	}
	s.funcs = kept
	return s
}

// doubtAll returns the bindings in which every name may mean something else.
func (b *binding) doubtAll() *binding {
	seen := map[string]bool{}
	doubted := b
	for v := b; v != nil; v = v.next {
		if !seen[v.name] {
			seen[v.name] = true
			doubted = &binding{v.name, UnknownWords, doubted}
		}
	}
	return doubted
}

// Doubt returns the state in which all variables and functions may have changed.
func (s State) Doubt() State {
	s.vars, s.funcs = s.vars.doubtAll(), s.funcs.doubtAll()
	return s
}
