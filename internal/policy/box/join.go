package box

import "slices"

// Joined is the box of a call of several parts. The whole call runs in one sandbox: in the narrowest profile that a part wants, with what
// is granted to any part. So npm ci | tail reaches the host of npm ci. The zero value has no part yet.
type Joined struct {
	box    Box
	shared Box    // what is granted to every part that runs code
	code   bool   // there is such a part
	apart  string // why two profiles are not one
}

// Add adds a part. code says that the part runs code that nobody has read, or reaches hosts itself: what is granted to the other parts
// would serve it too.
func (j *Joined) Add(p Profiles, b Box, code bool) {
	if b.None() {
		return // outside it could do more
	}
	profile, ok := p.Narrower(j.box.Profile, b.Profile)
	if !ok {
		j.apart = "its parts want the sandboxes " + j.box.Profile + " and " + b.Profile + "; it runs in " + profile
	}
	switch {
	case code && !j.code:
		j.shared, j.code = b, true
	case code:
		j.shared = merge(j.shared, b, common)
	}
	j.box = merge(j.box, b, union)
	j.box.Profile = profile
}

// Box returns the box, and why people are asked; "" if they need not be.
func (j *Joined) Box() (b Box, ask string) {
	if ask = j.apart; ask == "" && j.code {
		if more := merge(j.box, j.shared, beyond); more.Grants() {
			ask = "a part that runs code would have what a rule grants to another part only: " + more.Granted()
		}
	}
	return j.box, ask
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
	return Box{Profile: a.Profile, Read: with(a.Read, b.Read), Write: with(a.Write, b.Write), Hosts: with(a.Hosts, b.Hosts)}
}
