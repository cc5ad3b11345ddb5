package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// skill is a compiled skill, or the compiled toolIds of a role. Several declarations of one name bound each other.
type skill struct {
	name     string
	internal bool // role:<id>: it is always active where it is open
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
	limit   *limit // as in agent__Bash(git *); nil for no limit
}

// uriGrant is one entry of allowedResources.
type uriGrant struct {
	server string // "*" is any server
	uri    *glob
}

func (u *uriGrant) match(it Item) bool {
	return (u.server == "*" || u.server == it.Server) && u.uri.match(it.Name)
}

// keyError is an error in one key of a declaration.
type keyError struct {
	key string
	err error
}

func (e *keyError) Error() string { return e.key + ": " + e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

// skillProblem reports a fault in the declaration of a skill.
func (c *compiler) skillProblem(skill string, err error, hint string) {
	p := Problem{Skill: skill, Message: "skill " + skill + ": " + err.Error(), Hint: hint}
	var of *keyError
	if errors.As(err, &of) {
		p.Key = of.key
	}
	c.problems = append(c.problems, p)
}

// addSkills compiles the grants. A grant with an entry that cannot be read grants nothing.
func (c *compiler) addSkills() {
	for i := range c.src.Grants {
		g := &c.src.Grants[i]
		d, err := c.compileGrant(g)
		if err == nil && c.src.Strict {
			err = strictGrant(g)
		}
		if err != nil {
			c.skillProblem(g.Name, err, "the skill is left out until this is fixed")
			d = &decl{grant: Grant{Name: g.Name, AllowedRoles: []string{}}} // so that another declaration of the skill does not stand alone
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
		return nil, fmt.Errorf("%q is not the name of a skill", g.Name)
	}
	if _, err := parseMemory(g.Grants.Memory); err != nil {
		return nil, err
	}
	d := &decl{grant: *g}
	for _, s := range g.AllowedTools {
		t, err := parseToolGrant(s)
		if err != nil {
			return nil, &keyError{"allowedTools", err}
		}
		d.tools = append(d.tools, t)
	}
	for _, s := range g.AllowedResources {
		u, err := parseURIGrant(s)
		if err != nil {
			return nil, &keyError{"allowedResources", err}
		}
		d.uris = append(d.uris, u)
	}
	for _, s := range g.AllowedPrompts {
		p, err := ParsePattern(strings.TrimPrefix(s, "?"))
		if err != nil {
			return nil, &keyError{"allowedPrompts", err}
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
		return uriGrant{}, fmt.Errorf("%q: %q is not a server name", s, server)
	case uri == "*":
		uri = "**"
	}
	g, err := compileGlob(uri)
	return uriGrant{server: server, uri: g}, err
}

// strictGrant refuses a grant that strict: true forbids. A skill without tools, resources and prompts may be for every role, because it
// gives nobody anything.
func strictGrant(g *Grant) error {
	if len(g.AllowedTools)+len(g.AllowedResources)+len(g.AllowedPrompts) == 0 && slices.Equal(g.AllowedRoles, []string{EveryRole}) &&
		(g.Grants.Memory == "" || g.Grants.Memory == memoryNames[memoryNone]) {
		return nil
	}
	for _, l := range []struct {
		key  string
		list []string
	}{{"allowedRoles", g.AllowedRoles}, {"allowedTools", g.AllowedTools}, {"allowedResources", g.AllowedResources}, {"allowedPrompts",
		g.AllowedPrompts}} {
		for _, s := range l.list {
			if name, _, _ := strings.Cut(s, "("); hasStar(name) {
				return &keyError{l.key, fmt.Errorf("%q has a wildcard, and policy.strict forbids wildcards", s)}
			}
		}
	}
	return nil
}

// memory is a memory policy. A larger value is wider.
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
	return memoryNone, &keyError{"grants.memory", fmt.Errorf("%q is not one of none, isolated, team, all", s)}
}

// limit is the text in the parentheses of agent__Bash(git *). It says which calls the entry admits. Its syntax is that of Claude Code's
// permission rules.
type limit struct {
	text  string
	parts []string     // for a command: the text between the stars
	words bool         // for a command that ends in " *": more words may follow
	paths *pathMatcher // for any other tool: it must match every path
	host  *glob        // for domain:example.com: it must match every host
}

func parseLimit(p Pattern, spec string) (*limit, error) {
	if spec == "" {
		return nil, errors.New("empty parentheses; write what the call may be, or leave them out")
	}
	l := &limit{text: p.String() + "(" + spec + ")"}
	it, exact := p.Exact()
	if !exact {
		return nil, fmt.Errorf("%q: a limit needs the name of one tool", l.text)
	}
	if it.Name == "Bash" {
		if rest, ok := strings.CutSuffix(spec, ":*"); ok {
			spec = rest + " *"
		}
		if rest, ok := strings.CutSuffix(spec, " *"); ok {
			l.words, spec = true, rest
		}
		l.parts = strings.Split(spec, "*")
		return l, nil
	}
	if domain, ok := strings.CutPrefix(spec, "domain:"); ok {
		g, err := compileGlob(strings.ToLower(domain))
		l.host = g
		return l, err
	}
	return l, nil // the paths are compiled with the places
}

// place compiles a limit over paths. A relative one starts from the project folder.
func (l *limit) place(pl places) error {
	if l == nil || l.parts != nil || l.host != nil {
		return nil
	}
	_, spec, _ := strings.Cut(strings.TrimSuffix(l.text, ")"), "(")
	pm, err := pl.compile(Value{Glob: &spec}, false)
	l.paths = &pm
	return err
}

// admits reports whether a part of a call stays within the limit. A part that was not understood does not.
func (l *limit) admits(pl *places, part *Part) bool {
	switch {
	case isUnclear(part):
		return false
	case l.parts != nil:
		return l.command(part)
	case l.host != nil:
		for _, h := range part.Hosts {
			if !l.host.match(strings.ToLower(h)) {
				return false
			}
		}
		return len(part.Hosts) > 0
	}
	for i := range part.Paths {
		if !l.paths.allForms(pl, &part.Paths[i]) {
			return false
		}
	}
	return len(part.Paths) > 0
}

func (l *limit) command(part *Part) bool {
	if len(part.Argv) == 0 || part.Program == "" {
		return false
	}
	line := strings.Join(part.Argv, " ")
	if part.Argv[0] != part.Program {
		line = part.Program + line[len(part.Argv[0]):] // /usr/bin/git is judged as git
	}
	if !l.words {
		return matchStars(l.parts, line)
	}
	if matchStars(l.parts, line) {
		return true
	}
	return matchStars(append(l.parts[:len(l.parts)-1:len(l.parts)-1], l.parts[len(l.parts)-1]+" ", ""), line)
}

// isUnclear reports whether something of the part was not understood.
func isUnclear(part *Part) bool {
	if len(part.Unclear) > 0 {
		return true
	}
	for _, e := range part.Effects {
		if e == "unclear" {
			return true
		}
	}
	return false
}
