package policy

import (
	"fmt"
	"strings"
)

// skill is one skill, or the toolIds of one role, compiled. Several declarations of one name bound each other.
type skill struct {
	name     string
	internal bool // role:<id>: always active where it is open
	decls    []int32
}

// decl is one declaration of a skill.
type decl struct {
	grant Grant
	skill int32
	tools []toolGrant
	uris  []uriGrant
	texts []Pattern // prompts
}

// toolGrant is one entry of allowedTools.
type toolGrant struct {
	pattern Pattern
	limit   *limit // of agent__Bash(git *); nil: no limit
}

// uriGrant is one entry of allowedResources.
type uriGrant struct {
	server string // "*": any
	uri    *glob
}

func (u *uriGrant) match(it Item) bool {
	return (u.server == "*" || u.server == it.Server) && u.uri.match(it.Name)
}

// addSkills compiles the grants. A grant with an entry that cannot be read takes no effect at all.
func (c *compiler) addSkills() {
	for i := range c.src.Grants {
		g := &c.src.Grants[i]
		d, err := c.compileGrant(g)
		if err == nil && c.src.Strict {
			err = strictGrant(g)
		}
		if err != nil {
			c.problem("skill "+g.Name+": "+err.Error(), "the skill is left out until this is mended")
			d = &decl{grant: Grant{Name: g.Name, AllowedRoles: []string{}}} // of several declarations, the good one must not stand alone
		}
		if g.Name != "" {
			c.addDecl(d, false)
		}
	}
}

func (c *compiler) addDecl(d *decl, internal bool) {
	s, ok := c.p.skillIndex[d.grant.Name]
	if !ok {
		s = len(c.p.skills)
		c.p.skillIndex[d.grant.Name] = s
		c.p.skills = append(c.p.skills, skill{name: d.grant.Name, internal: internal})
	}
	d.skill = int32(s)
	c.p.skills[s].decls = append(c.p.skills[s].decls, int32(len(c.p.decls)))
	c.p.decls = append(c.p.decls, *d)
}

func (c *compiler) compileGrant(g *Grant) (*decl, error) {
	if g.Name == "" || strings.HasPrefix(g.Name, rolePrefix) {
		return nil, fmt.Errorf("%q is no name of a skill", g.Name)
	}
	if _, err := parseMemory(g.Grants.Memory); err != nil {
		return nil, err
	}
	d := &decl{grant: *g}
	for _, s := range g.AllowedTools {
		t, err := parseToolGrant(s)
		if err != nil {
			return nil, fmt.Errorf("allowedTools: %w", err)
		}
		d.tools = append(d.tools, t)
	}
	for _, s := range g.AllowedResources {
		u, err := parseURIGrant(s)
		if err != nil {
			return nil, fmt.Errorf("allowedResources: %w", err)
		}
		d.uris = append(d.uris, u)
	}
	for _, s := range g.AllowedPrompts {
		p, err := ParsePattern(strings.TrimPrefix(s, "?"))
		if err != nil {
			return nil, fmt.Errorf("allowedPrompts: %w", err)
		}
		d.texts = append(d.texts, p)
	}
	return d, nil
}

func parseToolGrant(s string) (toolGrant, error) {
	name, spec, limited := strings.Cut(strings.TrimPrefix(s, "?"), "(")
	p, err := ParsePattern(name)
	if err != nil || !limited {
		return toolGrant{pattern: p}, err
	}
	spec, closed := strings.CutSuffix(spec, ")")
	if !closed {
		return toolGrant{}, fmt.Errorf("%q: no \")\" at the end", s)
	}
	l, err := parseLimit(p, spec)
	return toolGrant{pattern: p, limit: l}, err
}

func parseURIGrant(s string) (uriGrant, error) {
	s = strings.TrimPrefix(s, "?")
	server, uri, found := strings.Cut(s, separator)
	switch {
	case s == "*":
		server, uri = "*", "**"
	case !found || uri == "":
		return uriGrant{}, fmt.Errorf("%q: write server__uri", s)
	case server != "*" && !validServer(server):
		return uriGrant{}, fmt.Errorf("%q: %q is no server name", s, server)
	case uri == "*":
		uri = "**"
	}
	g, err := compileGlob(uri)
	return uriGrant{server: server, uri: g}, err
}

// strictGrant refuses what strict: true forbids.
func strictGrant(g *Grant) error {
	for _, l := range []struct {
		key  string
		list []string
	}{{"allowedRoles", g.AllowedRoles}, {"allowedTools", g.AllowedTools}, {"allowedResources", g.AllowedResources}, {"allowedPrompts", g.AllowedPrompts}} {
		for _, s := range l.list {
			if name, _, _ := strings.Cut(s, "("); hasStar(name) {
				return fmt.Errorf("%s: %q has a wildcard, and policy.strict forbids wildcards", l.key, s)
			}
		}
	}
	return nil
}

// memory is a memory policy; a larger one is wider.
type memory uint8

const (
	memoryNone memory = iota
	memoryIsolated
	memoryTeam
	memoryAll
)

var memoryNames = [...]string{"none", "isolated", "team", "all"}

func parseMemory(s string) (memory, error) {
	if s == "" {
		return memoryNone, nil
	}
	for i, name := range memoryNames {
		if s == name {
			return memory(i), nil
		}
	}
	return memoryNone, fmt.Errorf("grants.memory: %q is not one of none, isolated, team, all", s)
}
