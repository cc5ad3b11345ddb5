package shell

// text is a word after expansion, as far as it is known.
type text struct {
	s       string  // the value; of an unknown word the known beginning
	raw     string  // as written
	maybe   string  // of an unknown word: what it is if nobody says otherwise, ${X:-maybe}
	unknown bool    // s is not all of it
	glob    bool    // it has a pattern that the shell expands
	bare    bool    // something unknown stands unquoted: it may be several words, or none
	stream  bool    // it is the name of what a command writes: <(…)
	by      effects // what the commands do whose output is in it
}

// known is a word with a value.
func known(s string) text { return text{s: s, raw: s} }

// from is the end of a word.
func (t text) from(i int) text {
	t.s = t.s[i:]
	return t
}

// state is what the shell knows at one point of a command: immutable, so that branches can go on from it.
type state struct {
	dirs []string // the folders that may be the working directory
	lost bool     // … or one that is not known
	dead bool     // this point is never reached
	vars *binding
}

// binding is one variable, before the older ones.
type binding struct {
	name string
	vals []text // elements; one, if it is no array
	next *binding
}

// with is the state after an assignment.
func (s state) with(name string, vals ...text) state {
	s.vars = &binding{name, vals, s.vars}
	return s
}

// maxBindings bounds how far a variable is looked up: past it nothing is known. It bounds the work of a hostile command.
const maxBindings = 500

// lookup finds a variable. ok is false if the command did not assign it.
func (s state) lookup(name string) (vals []text, ok bool) {
	n := 0
	for b := s.vars; b != nil; b = b.next {
		if b.name == name {
			return b.vals, true
		}
		if n++; n > maxBindings {
			return unknownVals, true
		}
	}
	return nil, false
}

var unknownVals = []text{{unknown: true}}

// at is the state with another working directory.
func (s state) at(dirs []string, lost bool) state {
	s.dirs, s.lost = dirs, lost
	return s
}

// maxDirs bounds the working directories that are told apart.
const maxDirs = 4

// join is the state where two ways meet: what differs is not known any more.
func join(a, b state) state {
	switch {
	case a.dead && !b.dead:
		return b
	case b.dead && !a.dead:
		return a
	}
	j := state{dirs: a.dirs, lost: a.lost || b.lost, dead: a.dead, vars: a.vars}
	for _, d := range b.dirs {
		if !contains(j.dirs, d) {
			j.dirs = append(j.dirs[:len(j.dirs):len(j.dirs)], d)
		}
	}
	if len(j.dirs) > maxDirs {
		j.dirs, j.lost = j.dirs[:maxDirs], true
	}
	if a.vars != b.vars {
		j.vars = joinVars(a, b)
	}
	return j
}

// joinVars keeps what both ways agree on. Both lists end in the same older variables.
func joinVars(a, b state) *binding {
	seen := map[*binding]bool{}
	n := 0
	for v := a.vars; v != nil && n <= maxBindings; v = v.next {
		seen[v] = true
		n++
	}
	base := b.vars
	for base != nil && !seen[base] {
		base = base.next
	}
	j := state{vars: base}
	for _, side := range [...]state{a, b} {
		n = 0
		for v := side.vars; v != base && v != nil && n <= maxBindings; v = v.next {
			n++
			x, inA := a.lookup(v.name)
			y, inB := b.lookup(v.name)
			if inA && inB && same(x, y) {
				j = j.with(v.name, x...)
			} else {
				j = j.with(v.name, unknownVals...)
			}
		}
	}
	return j.vars
}

func same(a, b []text) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].s != b[i].s || a[i].unknown || b[i].unknown || a[i].glob != b[i].glob {
			return false
		}
	}
	return true
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}
