package policy

// Restrictions are the names of the rules that ask, and of those that deny, for some calls of the named items in a scope, in the order of
// their files, each once. Rules that only concern what the scope does not see are left out, and so are rules that hide.
func (p *Policy) Restrictions(s Scope, items []Item) (asks, denies []string) {
	of := newBits(len(p.rules))
	for _, it := range items {
		e := p.entry(it)
		if e == nil || !p.Visible(s, it) {
			continue
		}
		for who := &s.Principal; who != nil; who = who.Parent {
			var v view
			v.look(p, &s, who)
			for w := range of {
				of[w] |= e.rules[w] & v.role.rules[w] &^ p.hiders[w]
			}
		}
	}
	for i := range p.rules {
		r := &p.rules[i]
		switch {
		case !of.has(i):
		case r.effect == Ask:
			asks = append(asks, r.name)
		case r.effect == Deny:
			denies = append(denies, r.name)
		}
	}
	return asks, denies
}
