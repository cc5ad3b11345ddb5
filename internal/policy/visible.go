package policy

import (
	"slices"
	"strings"

	"mycelium/internal/policy/worker"
)

// maxAncestors bounds the chain of parents. A longer chain, or a circle, is denied.
const maxAncestors = 32

// view is what one principal sees: its role, and the skills that are active for it. It holds no pointer into the call, so that the call
// stays off the heap.
type view struct {
	p          *Policy
	role       *role
	id, parent string   // the principal's id and that of its parent
	mayTake    []string // the roles that the principal may switch to
	stage      string
	active     skillSet

	argKnown bool // argName and arg are the argument that a rule asked for last
	argName  string
	arg      any
}

// set makes v the view of a principal. The caller has the skills that its scope names as active; an ancestor has every skill that is open
// to it.
func (v *view) set(p *Policy, s *Scope, who *Principal) {
	v.p, v.role, v.id, v.mayTake, v.stage = p, p.nobody, who.ID, who.Roles, s.Stage
	if who.Parent != nil {
		v.parent = who.Parent.ID
	}
	if i, ok := p.roleIndex[who.Role]; ok && who.Role != "" {
		v.role = p.roles[i]
	}
	v.active.reset(len(v.role.open))
	active := v.active.words()
	if who != &s.Principal {
		copy(active, v.role.open)
		return
	}
	copy(active, v.role.always)
	next := 0
	for _, name := range s.Skills {
		next = v.role.activate(active, name, next)
	}
}

// activate adds a skill by name, if it is open to the role. Scopes usually name skills in order, so the search starts at from, and activate
// returns where the next search should start.
func (r *role) activate(active bits, name string, from int) int {
	for n := range r.names {
		if i := (from + n) % len(r.names); r.names[i].name == name {
			active.set(r.names[i].skill)
			return i + 1
		}
	}
	return from
}

// sees reports whether the principal sees the item. If not, why says so for the operator; the agent never learns it.
func (v *view) sees(e *entry, c *Call) (why, by string, ok bool) {
	p, r := v.p, v.role
	switch why := worker.Hides(e.item.Server, e.item.Name, e.control, v.id); {
	case why != "":
		return why, "", false
	case e.control:
		if e.item.Name == "set_role" && e.item.Server == RouterServer && !v.maySwitch() {
			return "there is no other role to take", "", false
		}
	case p.broken != "":
		return p.broken, "", false
	case r == p.nobody:
		return "no role, or an unknown one", "", false
	case r.broken != "":
		return r.broken, "", false
	case e.open:
		if !e.skills.intersects(r.open) {
			return "the skill is not open to the role", "", false
		}
	case e.remembers():
		if !r.recalls.intersects(v.active.words()) {
			return "no active skill gives the role a memory", "", false
		}
	case !e.skills.intersects(v.active.words()):
		return "no active skill grants it", "", false
	}
	if e.denied.has(r.index) {
		return "the role hides it", "role:" + r.view.ID, false
	}
	for w, hide := range p.hiders {
		for set := hide & e.rules[w] & r.rules[w]; set != 0; set &= set - 1 {
			rl := &p.rules[w*64+lowestBit(set)]
			if got := rl.admits(p, v, c, &noPart); got != misses {
				return rl.reason, rl.name, false
			}
		}
	}
	return "", "", true
}

// noPart is the part of a question about a tool without a call. Nobody writes to it.
var noPart Part

// maySwitch reports whether the principal may switch to a role other than its current one.
func (v *view) maySwitch() bool {
	for _, name := range v.mayTake {
		if i, ok := v.p.roleIndex[name]; ok && v.p.roles[i] != v.role {
			return true
		}
	}
	return false
}

// Visible reports whether a scope sees an item. It is true exactly if Decide, for a call of the item, does not answer unknown.
func (p *Policy) Visible(s Scope, it Item) bool {
	e := p.entry(it)
	if e == nil {
		return false
	}
	c := Call{Scope: s, Item: it}
	var v view
	v.set(p, &c.Scope, &c.Scope.Principal)
	return !p.hidden(&Decision{}, &v, &c, e)
}

// ViewKey returns the same text for scopes that see the same items, also if they belong to different principals. It is empty where that
// cannot be told: for a principal with a parent, and where a rule hides items from a principal by its id.
func (p *Policy) ViewKey(s Scope) string {
	if s.Principal.Parent != nil || p.byPerson {
		return ""
	}
	var b strings.Builder
	for _, list := range [...][]string{{s.Principal.Role, s.Stage, worker.Mark(s.Principal.ID)}, s.Principal.Roles, s.Skills} {
		for _, text := range list {
			b.WriteString(text)
			b.WriteByte(0)
		}
		b.WriteByte(1)
	}
	return b.String()
}

// hidden asks the caller, whose view is v, and each of its ancestors: an item that one of them does not see is hidden.
func (p *Policy) hidden(d *Decision, v *view, c *Call, e *entry) bool {
	if why, by, ok := v.sees(e, c); !ok {
		*d = unknown(why, by)
		return true
	}
	depth := 0
	for who := c.Scope.Principal.Parent; who != nil; who = who.Parent {
		if depth++; depth > maxAncestors {
			*d = unknown("too many ancestors", "")
			return true
		}
		var v view
		v.set(p, &c.Scope, who)
		if why, by, ok := v.sees(e, c); !ok {
			*d = unknown(why, by)
			return true
		}
	}
	return false
}

func unknown(why, by string) Decision { return Decision{Unknown: true, Rule: by, Reason: why} }

// Items lists the items of one kind that a scope sees, sorted by server and name. The control tools are among them. An agent's own tools
// and resources are not: they are granted by pattern and listed nowhere. The prompts include the instructions of every open skill.
func (p *Policy) Items(s Scope, k Kind) []Item {
	c := Call{Scope: s}
	list := []Item{}
	var views []view
	for who := &c.Scope.Principal; who != nil; who = who.Parent {
		if len(views) == maxAncestors {
			return list
		}
		views = append(views, view{})
		views[len(views)-1].set(p, &c.Scope, who)
	}
	add := func(e *entry) {
		c.Item = e.item
		for i := range views {
			if _, _, ok := views[i].sees(e, &c); !ok {
				return
			}
		}
		list = append(list, e.item)
	}
	if k == Resource {
		return list
	}
	if k == Tool {
		list = make([]Item, 0, len(p.sorted)) // growing the slice costs as much as filling it
	}
	for _, e := range p.sorted {
		if e.item.Kind == k {
			add(e)
		}
	}
	if k == Prompt {
		for i := range p.skills {
			it := Item{Kind: Prompt, Server: SkillsServer, Name: p.skills[i].name}
			if _, listed := p.items[it]; !listed && !p.skills[i].internal {
				if e := p.entry(it); e != nil {
					add(e)
				}
			}
		}
		slices.SortFunc(list, Item.compare)
	}
	return list
}

// Restrictions are the names of the rules that ask about some calls of the items, and of those that deny some, in the order of their files.
// Rules about items that the scope does not see are left out, and so are rules that hide.
func (p *Policy) Restrictions(s Scope, items []Item) (asks, denies []string) {
	of := newBits(len(p.rules))
	for _, it := range items {
		e := p.entry(it)
		if e == nil || !p.Visible(s, it) {
			continue
		}
		for who := &s.Principal; who != nil; who = who.Parent {
			var v view
			v.set(p, &s, who)
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
