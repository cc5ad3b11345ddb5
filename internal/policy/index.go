package policy

import (
	mathbits "math/bits"
	"slices"
	"strings"
)

// patternRef is a pattern of a skill, a role or a rule, with what it does to an entry that it matches.
type patternRef struct {
	pattern Pattern
	kind    refKind
	owner   int32 // the index of the declaration, the role or the rule
	bound   int32 // the index of one of the role's bounds
	limit   *limit
}

type refKind uint8

const (
	refTool   refKind = iota // a declaration grants a tool
	refPrompt                // a declaration grants a prompt
	refDeny                  // a role hides
	refBound                 // a role's toolIds admit
	refRule                  // a rule concerns
)

// refIndex finds the patterns that may match an item without trying all of them.
type refIndex struct {
	exact   map[Item][]patternRef // by item without its kind: patterns match the text form, which has no kind
	servers map[string][]patternRef
	others  []patternRef
}

func (x *refIndex) add(r patternRef) {
	if it, exact := r.pattern.Exact(); exact {
		x.exact[it] = append(x.exact[it], r)
	} else if server := r.pattern.Server(); server != "" {
		x.servers[server] = append(x.servers[server], r)
	} else {
		x.others = append(x.others, r)
	}
}

// addRefs indexes every pattern of the policy.
func (c *compiler) addRefs() {
	x := &c.p.index
	x.exact, x.servers = map[Item][]patternRef{}, map[string][]patternRef{}
	for i := range c.p.decls {
		for _, t := range c.p.decls[i].tools {
			x.add(patternRef{pattern: t.pattern, kind: refTool, owner: int32(i), limit: t.limit})
		}
		for _, p := range c.p.decls[i].texts {
			x.add(patternRef{pattern: p, kind: refPrompt, owner: int32(i)})
		}
	}
	for i, r := range c.p.roles {
		for _, p := range r.denies {
			x.add(patternRef{pattern: p, kind: refDeny, owner: int32(i)})
		}
		for b, list := range r.bounds {
			for _, p := range list {
				x.add(patternRef{pattern: p, kind: refBound, owner: int32(i), bound: int32(b)})
			}
		}
	}
	for i := range c.p.rules {
		for _, p := range c.p.rules[i].tools {
			x.add(patternRef{pattern: p, kind: refRule, owner: int32(i)})
		}
	}
}

// filling is the state of filling one entry.
type filling struct {
	p      *Policy
	e      *entry
	decls  bits
	limits map[int32][]*limit // the limits of the declarations that grant with limits only
	bounds map[[2]int32]bool
}

// fill works out everything about an entry that does not depend on the call.
func (p *Policy) fill(e *entry) {
	e.skills, e.rules, e.denied = newBits(len(p.skills)), newBits(len(p.rules)), newBits(len(p.roles)+1)
	f := &filling{p: p, e: e, decls: newBits(len(p.decls))}
	key := e.item
	key.Kind = Tool
	f.apply(p.index.exact[key])
	f.apply(p.index.servers[e.item.Server])
	f.apply(p.index.others)
	f.finish()
}

func (f *filling) apply(refs []patternRef) {
	for i := range refs {
		r := &refs[i]
		if r.kind == refTool && f.e.item.Kind != Tool || r.kind == refPrompt && f.e.item.Kind != Prompt || !r.pattern.Match(f.e.item) {
			continue
		}
		switch r.kind {
		case refTool, refPrompt:
			f.grant(r)
		case refDeny:
			f.e.denied.set(int(r.owner))
		case refBound:
			if f.bounds == nil {
				f.bounds = map[[2]int32]bool{}
			}
			f.bounds[[2]int32{r.owner, r.bound}] = true
		case refRule:
			if f.p.rules[r.owner].admitsNotes(f.e.notes) {
				f.e.rules.set(int(r.owner))
			}
		}
	}
}

func (f *filling) grant(r *patternRef) {
	known := f.decls.has(int(r.owner))
	f.decls.set(int(r.owner))
	list, limited := f.limits[r.owner]
	switch {
	case r.limit == nil && limited:
		delete(f.limits, r.owner)
	case r.limit != nil && (limited || !known):
		if f.limits == nil {
			f.limits = map[int32][]*limit{}
		}
		f.limits[r.owner] = append(list, r.limit)
	}
}

// finish turns declarations into skills. A skill grants what all of its declarations grant.
func (f *filling) finish() {
	e, p := f.e, f.p
	if e.item.Kind == Resource {
		for i := range p.decls {
			for j := range p.decls[i].uris {
				if p.decls[i].uris[j].match(e.item) {
					f.decls.set(i)
				}
			}
		}
	}
	for s := range p.skills {
		f.skill(s)
	}
	if e.remembers() { // what a skill lists does not count
		e.skills, e.limits = newBits(len(p.skills)), nil
		for _, r := range p.roles {
			e.skills.union(r.recalls)
		}
	}
	for i, r := range p.roles {
		for b := range r.bounds {
			if e.item.Kind == Tool && !e.control && !f.bounds[[2]int32{int32(i), int32(b)}] {
				e.denied.set(i)
			}
		}
		for _, only := range r.only {
			if e.item.Kind == Tool && !slices.ContainsFunc(only, func(p Pattern) bool { return p.Match(e.item) }) {
				e.denied.set(i)
			}
		}
	}
	if name := skillOf(e.item); name != "" {
		if s, ok := p.skillIndex[name]; ok && !p.skills[s].internal {
			e.open = true
			e.skills.set(s)
		}
	}
}

func (f *filling) skill(s int) {
	var groups [][]*limit
	for _, d := range f.p.skills[s].decls {
		if !f.decls.has(int(d)) {
			return
		}
		if list := f.limits[d]; list != nil {
			groups = append(groups, list)
		}
	}
	f.e.skills.set(s)
	if groups != nil {
		f.e.limits = append(f.e.limits, skillLimit{skill: s, groups: groups})
	}
}

// skillOf is the skill whose instructions an item delivers. The item is the prompt mycelium-skills__name or a resource skill://name/….
func skillOf(it Item) string {
	if it.Server != SkillsServer {
		return ""
	}
	if it.Kind == Prompt {
		return it.Name
	}
	if rest, ok := strings.CutPrefix(it.Name, "skill://"); ok && it.Kind == Resource {
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	return ""
}

// entry returns the entry of an item. It makes one for an item that is granted by pattern without being listed. It returns nil for an item
// that does not exist.
func (p *Policy) entry(it Item) *entry {
	if e, ok := p.items[it]; ok {
		return e
	}
	switch {
	case it.Server == AgentServer && it.Kind == Tool:
	case it.Server != AgentServer && it.Kind == Resource:
	case it.Server == SkillsServer && it.Kind == Prompt:
	default:
		return nil
	}
	if !it.valid() {
		return nil
	}
	e := &entry{item: it}
	p.fill(e)
	return e
}

func (c *compiler) addAgentTools() {
	for _, name := range agentTools {
		c.addAgentTool(Item{Server: AgentServer, Name: name})
	}
	for it := range c.p.index.exact {
		c.addAgentTool(it)
	}
}

func (c *compiler) addAgentTool(it Item) {
	if _, ok := c.p.items[it]; !ok && it.Server == AgentServer && it.valid() {
		e := &entry{item: it}
		c.p.fill(e)
		c.p.items[it] = e
	}
}

// remembers reports whether the item is a tool of the memory.
func (e *entry) remembers() bool { return e.item.Kind == Tool && e.item.Server == MemoryServer }

// bits is a set of small numbers. Sets of one kind (skills, roles, rules) have one length.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) set(i int) { b[i/64] |= 1 << (i % 64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// intersects reports whether the two sets share a member.
func (b bits) intersects(o bits) bool {
	for i, w := range b {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

func (b bits) union(o bits) {
	for i, w := range o {
		b[i] |= w
	}
}

// lowestBit is the smallest member of one word of a set.
func lowestBit(w uint64) int { return mathbits.TrailingZeros64(w) }

// skillSet is a set of skills. Up to 256 skills are kept in the value itself, so that a decision needs no heap.
type skillSet struct {
	few  [4]uint64
	many bits // in use instead of few if there are more than 256 skills
	size int  // in words
}

// reset makes s an empty set of a number of words.
func (s *skillSet) reset(words int) {
	s.size = words
	if words > len(s.few) {
		s.many = make(bits, words)
	}
}

func (s *skillSet) words() bits {
	if s.size > len(s.few) {
		return s.many
	}
	return s.few[:s.size]
}
