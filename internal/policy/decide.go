package policy

import (
	"slices"
	"strings"
)

// maxAncestors bounds the chain of parents; a longer one, or a circle, is denied.
const maxAncestors = 32

// view is what one principal of the chain sees: its role, and the skills that are active for it. It points to nothing of the
// call, so that the call stays off the heap.
type view struct {
	p          *Policy
	role       *role
	id, parent string   // of the principals
	mayTake    []string // Principal.Roles
	stage      string
	active     skillSet

	looked  bool // at an argument, the last one that a rule asked for
	argName string
	arg     any
}

// look makes the view of a principal. The caller itself has the skills that its scope names; an ancestor has every skill open
// to it.
func (v *view) look(p *Policy, s *Scope, who *Principal) {
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

// activate adds a skill by name, if it is open to the role. Scopes name skills in order as a rule, so the search goes on from
// the last one found.
func (r *role) activate(active bits, name string, from int) int {
	for i := from; i < len(r.names); i++ {
		if r.names[i].name == name {
			active.set(r.names[i].skill)
			return i + 1
		}
	}
	for i := range min(from, len(r.names)) {
		if r.names[i].name == name {
			active.set(r.names[i].skill)
			return i + 1
		}
	}
	return from
}

// sees reports whether the principal sees the item, and if not, why: for the operator, never for the agent.
func (v *view) sees(e *entry, c *Call) (why, by string, ok bool) {
	p, r := v.p, v.role
	switch {
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
		if !e.skills.meets(r.open) {
			return "the skill is not open to the role", "", false
		}
	case !e.skills.meets(v.active.words()):
		return "no active skill grants it", "", false
	}
	if e.denied.has(r.index) {
		return "the role hides it", "role:" + r.view.ID, false
	}
	for w, hide := range p.hiders {
		for set := hide & e.rules[w] & r.rules[w]; set != 0; set &= set - 1 {
			rl := &p.rules[w*64+lowest(set)]
			if got := rl.admits(p, v, c, &noPart); got != misses {
				return rl.reason, rl.name, false
			}
		}
	}
	return "", "", true
}

// noPart stands for the part of a question that has none. Nobody writes to it.
var noPart Part

// maySwitch reports whether there is a role to take, other than the current one.
func (v *view) maySwitch() bool {
	for _, name := range v.mayTake {
		if i, ok := v.p.roleIndex[name]; ok && v.p.roles[i] != v.role {
			return true
		}
	}
	return false
}

// Visible is exactly "Decide of a call of it does not say unknown".
func (p *Policy) Visible(s Scope, it Item) bool {
	e := p.entry(it)
	if e == nil {
		return false
	}
	c := Call{Scope: s, Item: it}
	var v view
	v.look(p, &c.Scope, &c.Scope.Principal)
	_, hidden := p.hidden(&v, &c, e)
	return !hidden
}

// ViewKey is one and the same text for scopes that see the same items, whoever they belong to. It is empty where that cannot be
// told: for a principal with a parent, and where a rule hides items from a principal by its id.
func (p *Policy) ViewKey(s Scope) string {
	if s.Principal.Parent != nil || p.byPerson {
		return ""
	}
	var b strings.Builder
	for _, list := range [...][]string{{s.Principal.Role, s.Stage}, s.Principal.Roles, s.Skills} {
		for _, text := range list {
			b.WriteString(text)
			b.WriteByte(0)
		}
		b.WriteByte(1)
	}
	return b.String()
}

// hidden asks the caller, whose view is v, and each of its ancestors; what one of them does not see is hidden.
func (p *Policy) hidden(v *view, c *Call, e *entry) (Decision, bool) {
	if why, by, ok := v.sees(e, c); !ok {
		return unknown(why, by), true
	}
	depth := 0
	for who := c.Scope.Principal.Parent; who != nil; who = who.Parent {
		if depth++; depth > maxAncestors {
			return unknown("too many ancestors", ""), true
		}
		var v view
		v.look(p, &c.Scope, who)
		if why, by, ok := v.sees(e, c); !ok {
			return unknown(why, by), true
		}
	}
	return Decision{}, false
}

func unknown(why, by string) Decision { return Decision{Unknown: true, Rule: by, Reason: why} }

// Items lists what a scope sees of one kind, sorted by server and name, control tools included, an agent's own tools and
// resources (which are granted by pattern, not listed) left out. Among the prompts are the instructions of every open skill.
func (p *Policy) Items(s Scope, k Kind) []Item {
	c := Call{Scope: s}
	list := []Item{}
	var views []view
	for who := &c.Scope.Principal; who != nil; who = who.Parent {
		if len(views) == maxAncestors {
			return list
		}
		views = append(views, view{})
		views[len(views)-1].look(p, &c.Scope, who)
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
		list = make([]Item, 0, len(p.sorted)) // growing it costs as much as filling it
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

// Decide answers a call.
func (p *Policy) Decide(c Call) Decision { return p.decide(&c, nil) }

// decide is Decide and Explain; t may be nil.
func (p *Policy) decide(c *Call, t *tracer) Decision {
	e := p.entry(c.Item)
	if e == nil {
		t.step("visibility", false, "", "the catalog does not have it")
		return unknown("the catalog does not have it", "")
	}
	var v view
	v.look(p, &c.Scope, &c.Scope.Principal)
	if d, hidden := p.hidden(&v, c, e); hidden {
		t.step("visibility", false, d.Rule, d.Reason)
		return d
	}
	t.step("visibility", true, "", "the catalog has it, and every ceiling admits it")
	best := Decision{Effect: Allow}
	first := true
	for who := &c.Scope.Principal; who != nil; who = who.Parent {
		if who != &c.Scope.Principal {
			v.look(p, &c.Scope, who)
		}
		parts := c.Facts.Parts
		if len(parts) == 0 {
			parts = noParts[:]
		}
		for i := range parts {
			d := v.part(e, c, &parts[i], t)
			if first || d.Effect < best.Effect {
				best, first = d, false
			}
			if best.Effect == Deny {
				return best
			}
		}
	}
	if len(p.guards) > 0 {
		best.Guard = p.guarded(&v, e, c, false)
	}
	return best
}

// noParts stands for the facts of a call that has none. Nobody writes to it.
var noParts [1]Part

// part decides one part for one principal: limits of the skills, base constraints, then the rules by effect, then the fallback.
func (v *view) part(e *entry, c *Call, part *Part, t *tracer) Decision {
	p := v.p
	if d, refused := v.limited(e, part); refused {
		t.step("visibility", true, d.Rule, d.Reason)
		return d
	}
	for i := range part.Paths {
		if i+1 < len(part.Paths) && part.Paths[i].Access == Read && part.Paths[i+1].samePlace(&part.Paths[i]) {
			continue // what may not be read may not be changed either
		}
		if b := p.base.refuses(&c.Facts, &part.Paths[i]); b != nil {
			t.step("base", true, b.name, b.reason)
			return Decision{Rule: b.name, Reason: b.reason}
		}
	}
	if b := banned(part); b != nil {
		t.step("base", true, b.name, b.reason)
		return Decision{Rule: b.name, Reason: b.reason}
	}
	t.step("base", false, "", "no base constraint concerns it")
	if d, found := v.byRule(e, c, part, t); found {
		return d
	}
	return v.fallback(e, part, t)
}

// samePlace reports whether two paths have the same names.
func (p *Path) samePlace(o *Path) bool {
	return p.Raw == o.Raw && p.Clean == o.Clean && p.Resolved == o.Resolved
}

// byRule asks the rules of each effect in turn. Among ask rules, one that cannot be evaluated denies wherever it stands.
func (v *view) byRule(e *entry, c *Call, part *Part, t *tracer) (Decision, bool) {
	p, r := v.p, v.role
	var asked *rule
	for w, set := range e.rules {
		for set &= r.rules[w] &^ p.hiders[w]; set != 0; set &= set - 1 {
			rl := &p.rules[w*64+lowest(set)]
			if rl.effect == Allow && asked != nil {
				break
			}
			got := rl.admits(p, v, c, part)
			t.rule(rl, got)
			switch {
			case got == fails && rl.effect != Allow:
				return Decision{Rule: rl.name, Reason: orElse(rl.broken, "a rule cannot be evaluated for this call, so the call is denied")}, true
			case got != matches:
			case rl.effect == Ask:
				if asked == nil {
					asked = rl
				}
			default:
				return Decision{Effect: rl.effect, Rule: rl.name, Reason: rl.reason}, true
			}
		}
	}
	if asked != nil {
		return Decision{Effect: Ask, Rule: asked.name, Reason: asked.reason}, true
	}
	return Decision{}, false
}

// fallback answers where no rule does. What was not understood is never allowed by it.
func (v *view) fallback(e *entry, part *Part, t *tracer) Decision {
	d := Decision{Effect: v.p.mcp, Reason: "no rule decides; an active skill grants the tool"}
	switch {
	case e.control || e.open:
		d = Decision{Effect: Allow, Reason: "a control tool"}
	case e.item.Server == AgentServer:
		d = Decision{Effect: v.p.agent, Reason: "no rule decides" + part.inWords() + "; the fallback for an agent's own tools"}
	case d.Effect != Allow:
		d.Reason = "no rule allows it, and policy.fallback.mcp is " + d.Effect.String()
	}
	if d.Effect == Allow && isUnclear(part) {
		d = Decision{Effect: Ask, Reason: "no rule decides, and part of the call was not understood"}
		if len(part.Unclear) > 0 {
			d.Reason += ": " + part.Unclear[0]
		}
	}
	t.step("fallback", true, "", d.Reason)
	return d
}

// limited refuses a call outside the limits of every active skill that shows the tool.
func (v *view) limited(e *entry, part *Part) (Decision, bool) {
	if len(e.limits) == 0 {
		return Decision{}, false
	}
	free := false
	active := v.active.words()
	for i := range active {
		w := active[i] & e.skills[i]
		for _, l := range e.limits {
			if l.skill/64 == i {
				w &^= 1 << (l.skill % 64)
			}
		}
		free = free || w != 0
	}
	var texts []string
	name := ""
	for _, l := range e.limits {
		if free || !active.has(l.skill) {
			continue
		}
		if l.admits(v.p.places, part) {
			return Decision{}, false
		}
		name = v.p.skills[l.skill].name
		for _, g := range l.groups {
			for _, one := range g {
				texts = append(texts, one.text)
			}
		}
	}
	if free {
		return Decision{}, false
	}
	return Decision{Rule: name, Reason: "the active skills grant the tool only as " + strings.Join(texts, ", ")}, true
}

// admits reports whether the part stays within one limit of each group.
func (l *skillLimit) admits(pl places, part *Part) bool {
	for _, g := range l.groups {
		if !slices.ContainsFunc(g, func(one *limit) bool { return one.admits(pl, part) }) {
			return false
		}
	}
	return true
}

// inWords says of a part that no rule decides what is remarkable about it: its effects beyond the everyday ones, else the first thing
// that was not understood, else its first path. It begins with a blank, or is empty.
func (p *Part) inWords() string {
	var words []string
	for _, e := range p.Effects {
		switch e {
		case EffectRead, EffectWrite, EffectDelete, EffectExecute, EffectUnclear:
		default:
			words = append(words, e)
		}
	}
	switch {
	case len(words) > 0:
		return " (" + strings.Join(words, ", ") + ")"
	case len(p.Unclear) > 0:
		return " (not understood: " + p.Unclear[0] + ")"
	case len(p.Paths) > 0:
		return " (" + string(p.Paths[0].Access) + " " + orElse(p.Paths[0].Clean, p.Paths[0].Raw) + ")"
	}
	return ""
}
