package policy

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"mycelium/internal/policy/box"
	"mycelium/internal/policy/paths"
	"mycelium/internal/policy/protected"
	"mycelium/internal/policy/when"
)

// Policy is an immutable compiled set, safe for concurrent use.
type Policy struct {
	places     // the folders that path patterns begin from
	items      map[Item]*entry
	sorted     []*entry // of items, by kind, server and name
	skills     []skill
	decls      []decl
	skillIndex map[string]int
	roles      []*role
	roleIndex  map[string]int // by id and by name
	nobody     *role          // the role of principals without a role and with an unknown one
	roleIDs    []string
	rules      []rule // the rules that hide, then by effect; among these in file order
	hiders     bits   // deny rules that depend only on scope and tool
	guards     []guard
	byPerson   bool // a rule that hides looks at the id of a principal
	index      refIndex
	base       *baseSet
	start      []string // Source.Default
	mcp, agent Effect   // fallback
	ceiling    ceiling  // what the fallback may allow to change
	boxes      box.Profiles
	wall       box.Box // where agents' commands run by default; the zero value: outside
	boxed      bool    // some call may have to run in a sandbox
	broken     string  // why no call is allowed; empty if calls are
}

// entry is an item with everything about it that does not depend on the call.
type entry struct {
	item    Item
	notes   Annotations
	control bool
	skills  bits // the skills that grant it
	rules   bits // the rules whose tool pattern and annotations match it
	denied  bits // the roles that hide it
	limits  []skillLimit
	open    bool // an instruction prompt or resource of a skill: seen wherever the skill is open, active or not
}

// skillLimit says within which limits a skill grants a tool. A call must stay within one limit of each group.
type skillLimit struct {
	skill  int
	groups [][]*limit
}

// New compiles what people declared. It always returns a usable policy: a declaration that has a problem denies, and the problems say
// why.
func New(src Source) (*Policy, []Problem) {
	c := &compiler{src: &src, p: &Policy{
		places: places{dir: strings.TrimRight(src.Dir, "/"), home: strings.TrimRight(src.Home, "/"),
			foldedHome: paths.FoldString(strings.TrimRight(src.Home, "/"))},
		items:      make(map[Item]*entry, len(src.Catalog)),
		skillIndex: map[string]int{}, roleIndex: map[string]int{},
		start: src.Default,
	}}
	if c.p.boxes = src.Boxes; c.p.boxes == nil {
		c.p.boxes = box.Shipped()
	}
	c.addWall()
	c.p.base = compileBase(c.p.dir, c.p.home, src.Programs, src.State)
	if src.Memory != "" {
		c.p.base.protect(protected.Memory(src.Memory))
	}
	c.p.ceiling = c.p.places.ceiling()
	c.p.mcp = c.fallback("mcp", src.Fallback.MCP, Allow)
	c.p.agent = c.fallback("agent", src.Fallback.Agent, Ask)
	if src.Broken.All != "" {
		c.p.broken = "the configuration is broken: " + src.Broken.All
	}
	c.addCatalog()
	c.addSkills()
	c.addRoles()
	for _, r := range c.p.roles {
		c.addToolIDs(r)
	}
	c.p.nobody = &role{index: len(c.p.roles), open: newBits(len(c.p.skills)), always: newBits(len(c.p.skills))}
	for _, r := range c.p.roles {
		c.flatten(r)
	}
	c.placeLimits()
	c.addLimits()
	c.addRules()
	c.addRefs()
	for _, e := range c.p.sorted {
		c.p.fill(e)
	}
	c.addAgentTools()
	c.finishRoles()
	return c.p, c.problems
}

// compiler builds one policy.
type compiler struct {
	src      *Source
	p        *Policy
	problems []Problem
	byName   map[string][]Item // tools of the catalog by their bare name, for toolIds

	conditions when.Compiler
}

// addWall sets the wall. With a profile that does not exist no call is allowed: commands would run outside.
func (c *compiler) addWall() {
	if c.src.Wall == "" || c.src.Wall == NoWall {
		return
	}
	c.p.wall, c.p.boxed = box.Of(c.src.Wall), true
	if err := c.p.boxes.Check(c.p.wall, false); err != nil {
		c.problem("policy.wall: "+strings.TrimPrefix(err.Error(), "sandbox: "), "until then no call is allowed")
		c.p.broken = orElse(c.p.broken, "policy.wall names the profile "+c.src.Wall+", which does not exist")
	}
}

func (c *compiler) problem(message, hint string) {
	c.problems = append(c.problems, Problem{Message: message, Hint: hint})
}

func (c *compiler) warn(message, hint string) {
	c.problems = append(c.problems, Problem{Message: message, Hint: hint, Warning: true})
}

func (c *compiler) fallback(key, s string, preset Effect) Effect {
	if s == "" {
		return preset
	}
	e, err := ParseEffect(s)
	if err != nil {
		c.problem("policy.fallback."+key+": "+err.Error(), "write allow, ask or deny; until then it is deny")
	}
	return e
}

// addCatalog adds the definitions. If two definitions have the same item, it drops both, because it is not known which of them a call
// would run.
func (c *compiler) addCatalog() {
	c.byName = map[string][]Item{}
	twice := map[Item]bool{}
	for i := range c.src.Catalog {
		d := &c.src.Catalog[i]
		switch _, taken := c.p.items[d.Item]; {
		case !d.Item.valid():
			c.problem(fmt.Sprintf("catalog: %q of server %q is not a valid name", d.Item.Name, d.Item.Server), "it is left out")
		case d.Item.Server == AgentServer:
			c.problem(fmt.Sprintf("catalog: %q claims the reserved server %q", d.Item.Name, AgentServer),
				"it is left out; give the server another name")
		case taken:
			twice[d.Item] = true
		default:
			c.p.items[d.Item] = &entry{item: d.Item, notes: d.Annotations, control: d.Item.IsControl()}
		}
	}
	for _, it := range slices.SortedFunc(maps.Keys(twice), Item.compare) {
		c.problem(fmt.Sprintf("catalog: %s is defined twice", it), "both are left out")
		delete(c.p.items, it)
	}
	for it, e := range c.p.items {
		c.p.sorted = append(c.p.sorted, e)
		if it.Kind == Tool {
			c.byName[it.Name] = append(c.byName[it.Name], it)
		}
	}
	slices.SortFunc(c.p.sorted, func(a, b *entry) int { return a.item.compare(b.item) })
}

func (it Item) compare(o Item) int {
	if it.Kind != o.Kind {
		return int(it.Kind) - int(o.Kind)
	}
	if n := strings.Compare(it.Server, o.Server); n != 0 {
		return n
	}
	return strings.Compare(it.Name, o.Name)
}

// addToolIDs makes the internal skill of a role. Each file of the role that has toolIds is a declaration of it.
func (c *compiler) addToolIDs(r *role) {
	for _, d := range r.decls {
		if d.ToolIDs == nil {
			continue
		}
		dc := &decl{grant: Grant{Name: rolePrefix + r.view.ID}}
		for _, p := range c.toolPatterns(r, d, true) {
			dc.tools = append(dc.tools, toolGrant{pattern: p})
		}
		c.addDecl(dc, true)
		r.view.ToolIDs = append(r.view.ToolIDs, d.ToolIDs...)
	}
}

// toolPatterns reads the toolIds of a role. An unknown id grants nothing; with report, a warning says so.
func (c *compiler) toolPatterns(r *role, d *Role, report bool) []Pattern {
	var list []Pattern
	for _, id := range d.ToolIDs {
		p, fault := c.toolID(strings.TrimPrefix(id, "?"))
		if fault == nil {
			list = append(list, p)
		} else if report && !strings.HasPrefix(id, "?") {
			if r.view.Absent == nil {
				r.view.Absent = map[string]string{}
			}
			r.view.Absent[id] = fault.Message
			fault.Role, fault.Message, fault.Warning = r.view.ID, fmt.Sprintf("role %s: toolIds: %q %s", r.view.ID, id, fault.Message), true
			c.problems = append(c.problems, *fault)
		}
	}
	return list
}

// toolID reads one entry of toolIds. It is a pattern, or the bare name of a tool of the server files or of the only tool of that name.
func (c *compiler) toolID(id string) (Pattern, *Problem) {
	if !strings.Contains(id, separator) && !hasStar(id) {
		return c.bareTool(id)
	}
	p, err := ParsePattern(id)
	if err != nil {
		return p, &Problem{Message: "is not a tool: " + err.Error(), Hint: "it grants nothing"}
	}
	if it, exact := p.Exact(); exact && it.Server != AgentServer && c.p.items[it] == nil {
		return p, &Problem{Message: "is not in the catalog", Hint: "it grants nothing", Tool: id}
	}
	return p, nil
}

func (c *compiler) bareTool(id string) (Pattern, *Problem) {
	owners := c.byName[id]
	files := Item{Server: "files", Name: id}
	switch {
	case slices.Contains(owners, files):
		owners = []Item{files}
	case len(owners) == 0:
		return Pattern{}, &Problem{Message: "is not the name of a tool", Hint: "it grants nothing", Tool: id}
	case len(owners) > 1:
		names := make([]string, len(owners))
		for i, it := range owners {
			names[i] = it.String()
		}
		slices.Sort(names)
		return Pattern{}, &Problem{Message: "is the name of several tools",
			Hint: "write one of " + strings.Join(names, ", ") + "; until then it grants no tool"}
	}
	p, err := ParsePattern(owners[0].String())
	if err != nil {
		return p, &Problem{Message: err.Error(), Hint: "it grants nothing"}
	}
	return p, nil
}

// placeLimits compiles the limits over paths. Relative ones start from the project folder.
func (c *compiler) placeLimits() {
	for i := range c.p.decls {
		for j := range c.p.decls[i].tools {
			t := &c.p.decls[i].tools[j]
			if err := t.limit.place(c.p.places); err != nil {
				c.skillProblem(c.p.decls[i].grant.Name, &keyError{"allowedTools", err}, "the entry admits no tool until this is fixed")
				t.limit.host = &glob{pattern: "", prefix: "\x00"}
			}
		}
	}
}

// finishRoles completes the views of the roles.
func (c *compiler) finishRoles() {
	for _, r := range c.p.roles {
		c.p.roleIDs = append(c.p.roleIDs, r.view.ID)
		for _, i := range r.chain {
			r.view.Chain = append(r.view.Chain, c.p.roles[i].view.ID)
		}
		for s := range c.p.skills {
			if r.open.has(s) && !c.p.skills[s].internal {
				r.names = append(r.names, named{c.p.skills[s].name, s})
			}
		}
		slices.SortFunc(r.names, func(a, b named) int { return strings.Compare(a.name, b.name) })
		r.view.Skills = c.p.openSkills(r)
		r.view.Memory = memoryNames[r.memory]
		for t := range r.teams {
			r.view.MemoryTeams = append(r.view.MemoryTeams, t)
		}
		sort.Strings(r.view.MemoryTeams)
	}
	sort.Strings(c.p.roleIDs)
}
