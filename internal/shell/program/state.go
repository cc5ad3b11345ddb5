package program

import "slices"

// State is what the shell knows at one point of a command. It is immutable, so that several branches can go on from it.
type State struct {
	Dirs []string // the folders that may be the working directory
	Lost bool     // the working directory may also be a folder that is not known
	Dead bool     // the command never reaches this point

	Doubted bool // any variable may have been set, also those that the shell has a value for: see Own
	sh      bool // another shell than bash may run this

	vars  *binding
	funcs *binding // the functions: see function.go
}

// binding is one variable or function, followed by those that were bound before it.
type binding struct {
	name   string
	values []Word // the elements of an array, or one value
	next   *binding
}

// With returns the state after an assignment.
func (s State) With(name string, values ...Word) State {
	s.vars = &binding{name, values, s.vars}
	return s
}

// maxBindings bounds how many assignments a lookup goes back, and how many a command may make. It bounds the work on a hostile command.
const maxBindings = 500

// Lookup returns the values of a variable. ok is false if the command did not assign it.
func (s State) Lookup(name string) (values []Word, ok bool) { return s.vars.lookup(name) }

func (b *binding) lookup(name string) (values []Word, ok bool) {
	n := 0
	for ; b != nil; b = b.next {
		if b.name == name {
			return b.values, true
		}
		if n++; n > maxBindings {
			return UnknownWords, true
		}
	}
	return nil, false
}

// At returns the state with another working directory.
func (s State) At(dirs []string, lost bool) State {
	s.Dirs, s.Lost = dirs, lost
	return s
}

// WithArguments returns the state in which $1, $2 and the following parameters have the given values.
func (s State) WithArguments(args []Word) State {
	s = s.With("@", args...).With("*", args...)
	moved := false // a word before may have been several, or none
	for n := 1; n <= 9; n++ {
		value := Word{}
		if n <= len(args) {
			value = args[n-1]
		}
		moved = moved || value.Vanishes
		if moved {
			value = Word{Unknown: true}
		}
		s = s.With(Digits[n], value)
		moved = moved || value.Pattern && value.Expanded || value.Unknown && value.Unquoted
	}
	return s
}

// ArgumentsOf returns the state in which $1, $2 and the following parameters are those of another state: a function that returns gives them
// back.
func (s State) ArgumentsOf(o State) State {
	for _, name := range append([]string{"@", "*"}, Digits[1:]...) {
		values, ok := o.Lookup(name)
		if !ok {
			values = UnknownWords
		}
		s = s.With(name, values...)
	}
	return s
}

// Digits are the names of the positional parameters, and $0.
var Digits = [...]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// maxDirs bounds the working directories that are told apart.
const maxDirs = 4

// POSIX reports whether the shell may be another than bash: a child that is called sh.
func (s State) POSIX() bool { return s.sh }

// Join returns the state where two branches meet. What they do not agree on becomes unknown.
func Join(a, b State) State {
	switch {
	case a.Dead && !b.Dead:
		return b
	case b.Dead && !a.Dead:
		return a
	}
	j := State{Dirs: a.Dirs, Lost: a.Lost || b.Lost, Dead: a.Dead, Doubted: a.Doubted || b.Doubted, sh: a.sh || b.sh, vars: a.vars,
		funcs: a.funcs}
	for _, d := range b.Dirs {
		if !slices.Contains(j.Dirs, d) {
			j.Dirs = append(j.Dirs[:len(j.Dirs):len(j.Dirs)], d)
		}
	}
	if len(j.Dirs) > maxDirs {
		j.Dirs, j.Lost = j.Dirs[:maxDirs], true
	}
	if a.vars != b.vars {
		j.vars = joined(a.vars, b.vars)
	}
	if a.funcs != b.funcs {
		j.funcs = joined(a.funcs, b.funcs)
	}
	return j
}

// Changes reports whether something that was known in a state is not so any more in one after it.
func Changes(before, after State) bool {
	if after.Dead {
		return false
	}
	if after.Doubted && !before.Doubted {
		return true
	}
	for b := after.vars; b != nil && b != before.vars; b = b.next {
		if _, ok := before.Lookup(b.name); !ok && hasOwn(b.name) {
			return true
		}
	}
	return after.Lost && !before.Lost || slices.ContainsFunc(after.Dirs, func(d string) bool { return !slices.Contains(before.Dirs, d) }) ||
		rebound(before.vars, after.vars) || rebound(before.funcs, after.funcs)
}

// rebound reports whether a name whose values were known has others.
func rebound(before, after *binding) bool {
	for b := after; b != nil && b != before; b = b.next {
		was, ok := before.lookup(b.name)
		is, _ := after.lookup(b.name)
		known := !slices.ContainsFunc(was, func(w Word) bool { return w.Unknown })
		if ok && known && !Same(was, is) {
			return true
		}
	}
	return false
}

// OrVariablesOf returns the state whose variables may be those of another state.
func (s State) OrVariablesOf(o State) State {
	if !o.Dead && s.vars != o.vars {
		s.vars = joined(s.vars, o.vars)
	}
	return s
}

// joined keeps the bindings on which both branches agree. Both lists end in the same older bindings.
func joined(a, b *binding) *binding {
	seen := map[*binding]bool{}
	n := 0
	for v := a; v != nil && n <= maxBindings; v = v.next {
		seen[v] = true
		n++
	}
	base := b
	for base != nil && !seen[base] {
		base = base.next
	}
	j := base
	for _, side := range [...]*binding{a, b} {
		n = 0
		for v := side; v != base && v != nil && n <= maxBindings; v = v.next {
			n++
			x, inA := a.lookup(v.name)
			y, inB := b.lookup(v.name)
			if !inA || !inB || !Same(x, y) {
				x = UnknownWords
			}
			j = &binding{v.name, x, j}
		}
	}
	return j
}

// Same reports whether two lists of values are known and equal.
func Same(a, b []Word) bool {
	return slices.EqualFunc(a, b, func(x, y Word) bool {
		return x.Text == y.Text && !x.Unknown && !y.Unknown && x.Pattern == y.Pattern
	})
}
