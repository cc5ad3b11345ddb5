package box

import "slices"

// Joined is the box of a call of several parts, decided for several principals. The whole call runs in one sandbox: for each principal in
// the narrowest profile that a part wants, with what is granted to any part, so that npm ci | tail reaches the host of npm ci; and in no
// more than what each principal allows. The zero value has no part yet.
type Joined struct {
	box Box    // of the principals before
	ask string // why people are asked

	parts  Box  // of the principal whose parts are being added
	shared Box  // what is granted to each of its parts that run code
	code   bool // there is such a part
}

// Add adds a part. code says that the part runs code that nobody has read, or reaches hosts itself: what is granted to the other parts
// would serve it too.
func (j *Joined) Add(p Profiles, b Box, code bool) {
	if b.None() {
		return // outside it could do more
	}
	profile, ok := p.Narrower(j.parts.Profile, b.Profile)
	if !ok && j.ask == "" {
		j.ask = "its parts want the sandboxes " + j.parts.Profile + " and " + b.Profile + "; it runs in " + profile
	}
	switch {
	case code && !j.code:
		j.shared, j.code = b, true
	case code:
		j.shared = merge(j.shared, b, common)
	}
	j.parts = merge(j.parts, b, union)
	j.parts.Profile = profile
}

// End ends the parts of a principal.
func (j *Joined) End(p Profiles) {
	more := merge(j.parts, j.shared, beyond)
	more.Registries = nil // no proxy can tell which program of a command asks, and what a registry gives away is bounded
	if j.code && more.Grants() && j.ask == "" {
		j.ask = "a part that runs code would have what is granted to another part only: " + more.Granted()
	}
	both, ask := p.And(j.box, j.parts)
	if j.ask == "" {
		j.ask = ask
	}
	*j = Joined{box: both, ask: j.ask}
}

// Box returns the box after the last principal, and why people are asked; "" if they need not be.
func (j *Joined) Box() (b Box, ask string) { return j.box, j.ask }

// Within reports whether a call may do nothing in one box that it may not do in another one, as far as their texts tell.
func (p Profiles) Within(a, b Box) bool {
	if a.None() || b.None() {
		return b.None()
	}
	narrower, ok := p.Narrower(a.Profile, b.Profile)
	return ok && narrower == a.Profile && !merge(a, b, beyond).Grants()
}

// And returns the box of a call that two principals bound: the narrower profile, with what is granted by both. ask is why people are
// asked; "" if they need not be.
func (p Profiles) And(a, b Box) (both Box, ask string) {
	switch {
	case a.None():
		return b, ""
	case b.None():
		return a, ""
	}
	profile, ok := p.Narrower(a.Profile, b.Profile)
	if !ok {
		ask = "its principals want the sandboxes " + a.Profile + " and " + b.Profile + "; it runs in " + profile
	}
	out := merge(a, b, common)
	out.Profile = profile
	return out, ask
}

func union(x, y []string) []string {
	out := slices.Concat(x, y)
	slices.Sort(out)
	return slices.Compact(out)
}

func common(x, y []string) []string {
	return keep(x, func(s string) bool { return slices.Contains(y, s) })
}

// beyond is what x has and y has not.
func beyond(x, y []string) []string {
	return keep(x, func(s string) bool { return !slices.Contains(y, s) })
}

func keep(x []string, good func(string) bool) (out []string) {
	for _, s := range x {
		if good(s) {
			out = append(out, s)
		}
	}
	return out
}

// merge joins what two boxes grant, list by list. The profile is that of the first.
func merge(a, b Box, with func(x, y []string) []string) Box {
	out := Box{Profile: a.Profile}
	x, y := a.lists(), b.lists()
	for i, l := range out.lists() {
		*l.of = with(*x[i].of, *y[i].of)
	}
	return out
}
