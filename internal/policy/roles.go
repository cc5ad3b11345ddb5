package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mycelium/internal/policy/remote"
)

// rolePrefix begins the name of the internal skill of a role's toolIds.
const rolePrefix = "role:"

// role is one role, flattened.
type role struct {
	index   int
	view    RoleView
	decls   []*Role // its files; several files bound each other
	chain   []int   // the role and the roles that it inherits
	open    bits    // the skills that it may activate, internal ones included
	always  bits    // the internal skills among them
	recalls bits    // the skills that give it a memory
	names   []named // the other skills, by name
	rules   bits    // the rules whose role filter admits it
	denies  []Pattern
	only    [][]Pattern // onlyTools: the role sees only what each list matches, control tools included
	bounds  [][]Pattern // toolIds of a role that inherits: the role sees only what each list matches
	memory  memory
	teams   map[string]bool
	broken  string  // why no call of the role is allowed; empty if calls are
	bounded []Bound // its limits
	done    int8    // flattening: 1 in progress, 2 done
}

// named is a skill that is open to a role.
type named struct {
	name  string
	skill int
}

// addRoles collects the roles that a file or a skill names. Of several files of a role, the later prompt and the later model are used.
func (c *compiler) addRoles() {
	for i := range c.src.Roles {
		r := &c.src.Roles[i]
		if r.ID == "" {
			c.problem("a role has no id", "give it an id")
			continue
		}
		ro := c.role(r.ID)
		ro.decls = append(ro.decls, r)
		ro.view.Prompt = orElse(r.Prompt, ro.view.Prompt)
		if r.Remote != nil {
			ro.view.Remote = r.Remote
		}
		if was := ro.view.MayStart; r.MayStart != nil { // several files bound each other
			ro.view.MayStart = slices.DeleteFunc(slices.Clone(r.MayStart), func(n string) bool { return was != nil && !slices.Contains(was, n) })
		}
		ro.view.ToolSearch = orElse(r.ToolSearch, ro.view.ToolSearch)
		ro.view.Promotion = StricterPromotion(r.Promotion, ro.view.Promotion)
		if r.Model != nil {
			ro.view.Model = r.Model
		}
		if ro.view.Name == "" {
			ro.view.Name, ro.view.Description = r.Name, r.Description
		}
	}
	c.addAliases()
	for i := range c.p.decls {
		for _, name := range c.p.decls[i].grant.AllowedRoles {
			if name != "*" && name != "" && c.find(name) == nil {
				c.role(name)
			}
		}
	}
	for _, name := range c.src.Expected {
		if name != "*" && name != "" && c.find(name) == nil {
			c.role(name)
		}
	}
	for id, why := range c.src.Broken.Roles {
		c.role(id).broken = "the file of role " + id + " is broken: " + why
	}
}

// role returns the role of an id, and makes it if it does not exist.
func (c *compiler) role(id string) *role {
	if i, ok := c.p.roleIndex[id]; ok {
		return c.p.roles[i]
	}
	r := &role{index: len(c.p.roles), view: RoleView{ID: id}}
	c.p.roleIndex[id] = r.index
	c.p.roles = append(c.p.roles, r)
	return r
}

func (c *compiler) find(name string) *role {
	if i, ok := c.p.roleIndex[name]; ok && i >= 0 {
		return c.p.roles[i]
	}
	return nil
}

// addAliases lets the name of a role stand for its id. An id has precedence over a name. A name that two roles have stands for neither.
func (c *compiler) addAliases() {
	owner := map[string]int{}
	for i, r := range c.p.roles {
		for _, d := range r.decls {
			if d.Name == "" || d.Name == r.view.ID {
				continue
			}
			if o, taken := owner[d.Name]; taken && o != i {
				c.warn(fmt.Sprintf("roles %s and %s have the same name, %q, which now means neither of them",
					c.p.roles[max(o, 0)].view.ID, r.view.ID, d.Name),
					"use their ids")
				owner[d.Name] = -1
				continue
			}
			owner[d.Name] = i
		}
	}
	for name, i := range owner {
		if _, isID := c.p.roleIndex[name]; !isID && i >= 0 {
			c.p.roleIndex[name] = i
		}
	}
}

// flatten computes what a role has, after its ancestors.
func (c *compiler) flatten(r *role) {
	if r.done != 0 {
		return
	}
	r.done = 1
	r.open, r.always, r.recalls = newBits(len(c.p.skills)), newBits(len(c.p.skills)), newBits(len(c.p.skills))
	r.teams = map[string]bool{}
	for s := range c.p.skills {
		if !c.p.skills[s].internal && c.directlyOpen(r, s) {
			r.open.set(s)
		}
	}
	if s, ok := c.p.skillIndex[rolePrefix+r.view.ID]; ok {
		r.open.set(s)
		r.always.set(s)
	}
	r.chain = []int{r.index}
	c.inherit(r)
	for _, d := range r.decls {
		c.bound(r, d)
	}
	for _, i := range r.chain {
		c.addMemory(r, c.p.roles[i])
		r.addCalled(c.p, c.p.roles[i])
	}
	r.done = 2
}

// addCalled adds the names by which rules find a role because it is, or inherits, another: the id, and every name that stands for it.
func (r *role) addCalled(p *Policy, named *role) {
	r.view.Called = append(r.view.Called, named.view.ID)
	for _, d := range named.decls {
		if d.Name != "" && p.roleIndex[d.Name] == named.index {
			r.view.Called = append(r.view.Called, d.Name)
		}
	}
}

// inherit merges the parent into a role. If two files of the role name different parents, the role gets the denies of both and the skills
// of neither.
func (c *compiler) inherit(r *role) {
	same := true
	for _, d := range r.decls {
		same = same && d.Inherits == r.decls[0].Inherits
	}
	seen := map[string]bool{"": true}
	for _, d := range r.decls {
		if seen[d.Inherits] {
			continue
		}
		seen[d.Inherits] = true
		parent := c.find(d.Inherits)
		switch {
		case c.src.Strict:
			c.breakRole(r, fmt.Sprintf("it inherits %s, and policy.strict forbids that", d.Inherits))
		case parent == nil:
			c.breakRole(r, fmt.Sprintf("it inherits %q, a role that no file and no skill names", d.Inherits))
		default:
			c.flatten(parent)
			c.merge(r, parent, same)
		}
	}
}

func (c *compiler) merge(r, parent *role, whole bool) {
	if parent.done == 1 {
		c.breakRole(r, "Circular inheritance detected for role: "+parent.view.ID)
		return
	}
	if parent.broken != "" {
		r.broken = orElse(r.broken, parent.broken)
	}
	r.denies = append(r.denies, parent.denies...)
	r.only = append(r.only, parent.only...)
	r.view.Promotion = StricterPromotion(r.view.Promotion, parent.view.Promotion)
	if !whole {
		return
	}
	r.open.union(parent.open)
	r.always.union(parent.always)
	r.chain = append(r.chain, parent.chain...)
	r.view.ToolIDs = append(r.view.ToolIDs, parent.view.ToolIDs...)
	if r.view.Model == nil {
		r.view.Model = parent.view.Model
	}
	if r.view.Prompt == "" && r.view.Remote == nil {
		r.view.Prompt, r.view.Remote = parent.view.Prompt, parent.view.Remote
	}
	r.view.ToolSearch = orElse(r.view.ToolSearch, parent.view.ToolSearch)
}

// bound applies the ceiling of one file to everything that the role has.
func (c *compiler) bound(r *role, d *Role) {
	if d.AllowedSkills != nil && !slices.Contains(d.AllowedSkills, "*") {
		for s := range c.p.skills {
			if !c.p.skills[s].internal && !slices.Contains(d.AllowedSkills, c.p.skills[s].name) {
				r.open[s/64] &^= 1 << (s % 64)
			}
		}
	}
	wild := func(s string) bool { return hasStar(s) && s != "*" } // "*" alone is no ceiling, as without the key
	if c.src.Strict && (slices.ContainsFunc(d.AllowedSkills, wild) || slices.ContainsFunc(d.ToolIDs, hasStar)) {
		c.breakRole(r, "it has a wildcard, and policy.strict forbids wildcards")
	}
	for _, s := range d.Deny {
		p, err := parseDeny(s)
		if err != nil {
			c.breakRole(r, "deny: "+err.Error())
			continue
		}
		r.denies = append(r.denies, p)
	}
	for _, name := range d.Ask {
		if _, known := EffectNamed(name); !known {
			c.breakRole(r, fmt.Sprintf("ask: there is no effect %q", name))
		}
	}
	if d.OnlyTools != nil {
		var only []Pattern
		for _, s := range d.OnlyTools {
			p, err := parseText(s)
			if err != nil {
				c.breakRole(r, "onlyTools: "+err.Error())
				continue
			}
			only = append(only, p)
		}
		r.only = append(r.only, only)
	}
	if d.ToolIDs != nil && d.Inherits != "" {
		r.bounds = append(r.bounds, c.toolPatterns(r, d, false))
	}
}

func hasStar(s string) bool { return strings.Contains(s, "*") }

// parseDeny reads a pattern of the deny list of a role. A bare name hides the tools of that name of all servers.
func parseDeny(s string) (Pattern, error) {
	if !strings.Contains(s, separator) && !hasStar(s) {
		s = "*" + separator + s
	}
	return parseText(s)
}

func (c *compiler) breakRole(r *role, why string) {
	c.problems = append(c.problems, Problem{Role: r.view.ID, Message: "role " + r.view.ID + ": " + why,
		Hint: "no call of this role, or of one that inherits it, is allowed until this is fixed"})
	r.broken = orElse(r.broken, "role "+r.view.ID+" is broken: "+why)
}

// directlyOpen reports whether every declaration of a skill opens it to the role, without regard to ancestors and ceilings.
func (c *compiler) directlyOpen(r *role, s int) bool {
	for _, di := range c.p.skills[s].decls {
		if !c.opensTo(&c.p.decls[di].grant, r, true) {
			return false
		}
	}
	return true
}

// opensTo reports whether a declaration of a skill opens it to the role: it names the role by id or by name or, where it names no roles,
// a file of the role lists the skill. With star, "*" names everything.
func (c *compiler) opensTo(g *Grant, r *role, star bool) bool {
	if g.AllowedRoles == nil {
		return slices.ContainsFunc(r.decls, func(d *Role) bool {
			return slices.Contains(d.AllowedSkills, g.Name) || star && slices.Contains(d.AllowedSkills, "*")
		})
	}
	return slices.ContainsFunc(g.AllowedRoles, func(name string) bool { return star && name == "*" || c.find(name) == r })
}

// addMemory adds the memory policies of open skills that name the role, or a role that it inherits. "*" never brings a memory policy. The
// widest policy is used, and teams are merged.
func (c *compiler) addMemory(r, named *role) {
	for s := range c.p.skills {
		if !r.open.has(s) || c.p.skills[s].internal {
			continue
		}
		m, teams := memoryAll, map[string]int{}
		decls := c.p.skills[s].decls
		for _, di := range decls {
			g := &c.p.decls[di].grant
			own, _ := parseMemory(g.Grants.Memory)
			if !c.opensTo(g, named, false) {
				own = memoryNone
			}
			m = min(m, own)
			for _, t := range g.Grants.MemoryTeamRoles {
				teams[t]++
			}
		}
		if r.memory = max(r.memory, m); m > memoryNone {
			r.recalls.set(s)
		}
		for t, n := range teams {
			if m >= memoryTeam && n == len(decls) {
				r.teams[t] = true
			}
		}
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// StartSkills are the skills that are active in a new session of a role, sorted: those of session.defaultSkills that are open to the
// role, or without defaultSkills every skill that is open to it.
func (p *Policy) StartSkills(role string) []string {
	open := p.OpenSkills(role)
	if p.start == nil {
		return open
	}
	return slices.DeleteFunc(open, func(s string) bool { return !slices.Contains(p.start, s) })
}

// OpenSkills are the skills that a role may activate, sorted. An unknown role has none. The internal skill of a role's toolIds,
// role:<id>, is not among them: it is always active.
func (p *Policy) OpenSkills(role string) []string {
	i, ok := p.roleIndex[role]
	if !ok {
		return []string{}
	}
	return p.openSkills(p.roles[i])
}

func (p *Policy) openSkills(r *role) []string {
	list := []string{}
	for s := range p.skills {
		if r.broken == "" && p.broken == "" && r.open.has(s) && !p.skills[s].internal {
			list = append(list, p.skills[s].name)
		}
	}
	slices.Sort(list)
	return list
}

// Roles are the ids of every role that a skill or a role file names, sorted.
func (p *Policy) Roles() []string { return slices.Clone(p.roleIDs) }

// Promotions are the modes in which skills become active, the strictest first: only by the operator, by a person's answer, by the policy.
func Promotions() []string { return []string{"manual", "confirm", "auto"} }

// StricterPromotion returns the stricter of two modes of [Promotions]. An empty one says nothing; an unknown one is the strictest.
func StricterPromotion(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	all := Promotions()
	return all[max(0, min(slices.Index(all, a), slices.Index(all, b)))]
}

// RoleView is a role with everything that it inherits.
type RoleView struct {
	ID, Name, Description, Prompt string
	Chain                         []string // the role and the roles that it inherits, child first
	Skills, MayStart              []string // open skills; roles of sub-agents, which are not inherited
	Memory                        string   // none, isolated, team or all
	MemoryTeams                   []string
	Model                         *Model
	Remote                        *remote.Instruction // the server's prompt that is used in place of Prompt
	ToolSearch                    string              // of its files, else of the role that it inherits; empty: none says
	ToolIDs                       []string            // patterns of its own and inherited toolIds
	Absent                        map[string]string   // those of its own that grant nothing, and why
	Called                        []string            // the names by which rules find it
	Denies                        []Pattern
	Promotion                     string // the strictest of its files' and of those that it inherits; empty: none says
	Broken                        string // why no call of the role is allowed; empty if calls are
}

// Role describes a role, by id or by name. It returns false for a role that no skill and no role file names.
func (p *Policy) Role(id string) (RoleView, bool) {
	i, ok := p.roleIndex[id]
	if !ok {
		return RoleView{}, false
	}
	v := p.roles[i].view
	v.Chain, v.Skills = slices.Clone(v.Chain), slices.Clone(v.Skills)
	v.MemoryTeams, v.ToolIDs, v.Absent = slices.Clone(v.MemoryTeams), slices.Clone(v.ToolIDs), maps.Clone(v.Absent)
	v.Called, v.Denies, v.Broken = slices.Clone(v.Called), slices.Clone(p.roles[i].denies), p.roles[i].broken
	return v, true
}
