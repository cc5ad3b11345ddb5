// Package names finds rules, roles and settings that name what does not exist, or that can never match: an unknown tool, role, skill,
// effect or argument, and a pattern written as a literal.
//
// What it finds does not break a policy that is in force: such a rule matched nothing yesterday either, and a server that drops a tool
// must not stop a project. It keeps files from being accepted, and the commands that check files fail with it.
package names

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/skill"
	"mycelium/internal/text"
)

// Known is what rules and roles may name.
type Known struct {
	Roles   []string                   // ids
	Called  []string                   // names of roles, which stand for their ids
	Skills  []string                   // also those that are invalid: their own problem says so
	Catalog []policy.Definition        // of every server whose catalog is known
	Held    []policy.Item              // in quarantine: they exist, and nobody may use them
	Pending []string                   // servers whose catalog is not known yet
	Args    func(policy.Item) []string // the arguments of a tool; nil: not known, or it takes others too
}

// Role is a declaration of a role, with the place of a key of it.
type Role struct {
	policy.Role
	Place func(key string) (file string, line int)
}

// Setting is a name in mycelium.yaml, with its place.
type Setting struct {
	Key  string // such as session.defaultRole
	Kind string // of what is named: role, skill or tool
	Name string
	File string
	Line int
}

// Check returns what is wrong with the names in rules, roles and settings, in their order. A problem is a warning if the name
// may come to exist: the catalog of its server is not known yet, or the file is the user's own, which is for projects with other servers
// and roles too.
func Check(rules []policy.Rule, roles []Role, settings []Setting, k Known) []policy.Problem {
	c := &checker{Known: k, servers: map[string]bool{}}
	for _, d := range k.Catalog {
		c.servers[d.Item.Server] = true
		if d.Item.Kind == policy.Tool {
			c.tools = append(c.tools, d.Item.String())
		}
	}
	for _, it := range k.Held {
		c.servers[it.Server] = true
	}
	for _, name := range policy.AgentTools() {
		c.tools = append(c.tools, policy.AgentServer+"__"+name)
	}
	for i := range rules {
		c.rule(&rules[i], i)
	}
	for i := range roles {
		c.role(&roles[i])
	}
	for _, s := range settings {
		c.setting(s)
	}
	return c.problems
}

// checker collects the problems.
type checker struct {
	Known
	servers  map[string]bool // whose catalog is known
	tools    []string        // in text form
	problems []policy.Problem
}

// finding says that a name stands for nothing.
type finding struct {
	message, hint string
	certain       bool // an error even where the rest of its list names something
	waits         bool // it may come to exist
}

// add reports a finding at a place.
func (c *checker) add(file string, line int, what string, f finding, warning bool) {
	c.problems = append(c.problems, policy.Problem{File: file, Line: line, Message: what + ": " + f.message, Hint: f.hint,
		Warning: warning || f.waits || ofUser(file)})
}

// ofUser reports whether a file, as shown, is outside of the project.
func ofUser(file string) bool { return strings.HasPrefix(file, "~") || strings.HasPrefix(file, "/") }

// rule checks one rule. Of a list, a name that is no slip of the pen is a warning only, as long as another name of the list exists.
func (c *checker) rule(r *policy.Rule, i int) {
	name := r.Name
	if name == "" {
		name = fmt.Sprintf("#%d", i+1)
	}
	what := "rule " + name
	for _, list := range []struct {
		names policy.Names
		check func(string) *finding
	}{{r.Tool, c.ruleTool}, {r.Role, c.roleName}, {r.Skill, c.skillName}} {
		var found []finding
		for _, n := range list.names {
			if f := list.check(n); f != nil {
				found = append(found, *f)
			}
		}
		for _, f := range found {
			c.add(r.File, r.Line, what, f, !f.certain && len(found) < len(list.names))
		}
	}
	for _, f := range c.fields(r) {
		c.add(r.File, r.Line, what, f, false)
	}
}

// role checks one declaration of a role.
func (c *checker) role(r *Role) {
	what := "role " + r.ID
	for i, name := range r.AllowedSkills {
		if f := c.skillName(name); f != nil {
			file, line := r.Place(fmt.Sprintf("allowedSkills[%d]", i))
			f.message = "allowedSkills: " + f.message
			c.add(file, line, what, *f, false)
		}
	}
	for i, text := range r.Deny {
		if f := c.denied(text); f != nil {
			file, line := r.Place(fmt.Sprintf("deny[%d]", i))
			f.message = "deny: " + f.message + ", so it hides nothing"
			c.add(file, line, what, *f, false)
		}
	}
}

// setting checks one name in mycelium.yaml.
func (c *checker) setting(s Setting) {
	check := map[string]func(string) *finding{"role": c.roleName, "skill": c.skillName, "tool": c.ruleTool}[s.Kind]
	if f := check(s.Name); f != nil {
		c.add(s.File, s.Line, s.Key, *f, false)
	}
}

// roleName checks the name of a role.
func (c *checker) roleName(name string) *finding {
	if slices.Contains(c.Called, name) {
		return nil
	}
	return c.named("role", name, c.Roles)
}

// skillName checks the name of a skill. One that begins with a server and a dot is the server's, which may serve it later.
func (c *checker) skillName(name string) *finding {
	f := c.named("skill", name, c.Skills)
	if server, _, served := strings.Cut(name, "."); f != nil && served && slices.Contains(c.known(), server) {
		f.message, f.hint, f.waits = fmt.Sprintf("the server %s serves no skill %q yet", server, name),
			"myc skill list shows those that it serves", true
	}
	return f
}

func (c *checker) named(kind, name string, known []string) *finding {
	if name == "" || strings.Contains(name, "*") || slices.Contains(known, name) {
		return nil
	}
	return &finding{message: fmt.Sprintf("there is no %s %q", kind, name), hint: Hint(kind, name, known),
		certain: text.Nearest(name, known) != ""}
}

// Hint says which name was probably meant by one that is not known, or which are known.
func Hint(kind, name string, known []string) string {
	if len(known) == 0 {
		return "no " + kind + " is declared; run: myc init"
	}
	return suggest(text.Nearest(name, known), "known "+kind+"s: "+list(known))
}

// ruleTool checks a tool of a rule.
func (c *checker) ruleTool(text string) *finding {
	p, err := policy.ParseRuleTool(text)
	if err != nil {
		return nil // the policy reports it
	}
	return c.tool(text, p)
}

// denied checks a pattern of a role's deny.
func (c *checker) denied(text string) *finding {
	p, err := policy.ParsePattern(text)
	if err != nil || strings.ContainsAny(text, ":/") { // a resource: servers need not list theirs
		return nil
	}
	return c.tool(text, p)
}

// tool checks a pattern over tools. One that reaches across servers is not judged.
func (c *checker) tool(written string, p policy.Pattern) *finding {
	server := p.Server()
	if server == "" || strings.Contains(server, "*") || c.exists(p) {
		return nil
	}
	full := p.String()
	near := skill.NearestTool(full, c.tools)
	f := &finding{message: fmt.Sprintf("no tool is named %s", written), hint: suggest(near, "myc tools --all lists the tools that exist"),
		certain: near != ""}
	switch {
	case slices.Contains(c.Pending, server):
		f.message, f.hint, f.waits = fmt.Sprintf("%s waits for the catalog of the server %s", written, server),
			"myc tools sync asks for it", true
	case server == policy.AgentServer && near == "":
		f.message, f.hint, f.waits = fmt.Sprintf("no agent that is known here has a tool %s", written),
			"known are "+list(policy.AgentTools()), true
	case server == policy.AgentServer:
		f.hint = suggest(strings.TrimPrefix(near, policy.AgentServer+"__"), "")
	case strings.HasSuffix(full, "__*"), !c.servers[server]:
		servers := c.known()
		nearServer := text.Nearest(server, servers)
		f.message = fmt.Sprintf("no server %s is configured, so there is no %s", server, written)
		f.hint = suggest(nearServer, "servers are "+list(servers))
		f.certain = nearServer != ""
	}
	return f
}

// known are the servers, sorted.
func (c *checker) known() []string {
	out := slices.Clone(c.Pending)
	for s := range c.servers {
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// exists reports whether a pattern names anything: tools of agents, of catalogs, prompts, or what is in quarantine.
func (c *checker) exists(p policy.Pattern) bool {
	for _, name := range policy.AgentTools() {
		if p.Match(policy.Item{Server: policy.AgentServer, Name: name}) {
			return true
		}
	}
	match := func(it policy.Item) bool {
		it.Kind = policy.Tool // a pattern of a rule is of tools, that of a role's deny of every kind
		return p.Match(it)
	}
	return slices.ContainsFunc(c.Catalog, func(d policy.Definition) bool { return match(d.Item) }) || slices.ContainsFunc(c.Held, match)
}

// suggest is the hint for a name: the nearest known one, else what is known.
func suggest(near, otherwise string) string {
	if near == "" {
		return otherwise
	}
	return "did you mean " + near + "?"
}

// list shows names, at most ten.
func list(names []string) string {
	const most = 10
	if len(names) == 0 {
		return "none"
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
