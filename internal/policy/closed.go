package policy

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Closed are the names of files that the rules close to a scope, whatever command opens them. The sandbox makes its walls of it, so that a
// wrong reading of a command opens nothing. It is text, because the program that builds the walls does not have the policy. The zero value
// closes nothing.
//
// Base constraints and files with secrets are not in it: they are the same for every scope, and the sandbox knows them.
type Closed struct {
	Dir   string       `json:"dir,omitempty"` // the project folder of the policy
	Home  string       `json:"home,omitempty"`
	Rules []ClosedRule `json:"rules,omitempty"`
}

// ClosedRule is a rule as far as it closes names. A path is closed if one pattern of each group matches it.
type ClosedRule struct {
	Rule   string        `json:"rule"`
	Read   bool          `json:"read,omitempty"`   // it must not be opened
	Change bool          `json:"change,omitempty"` // it must not be changed
	Search bool          `json:"search,omitempty"` // regular expressions match a part of the value: the older form
	Groups []ClosedGroup `json:"groups"`
}

// ClosedGroup is one condition of a rule over paths.
type ClosedGroup struct {
	Paths Values `json:"paths,omitempty"`
	Args  Values `json:"args,omitempty"` // over the argument of a tool that names the file
}

// closing are the tools whose rules close names, with their access to the file. Rules about the shell close the names in them without a further
// condition: those with one are about some commands, and not about the file.
var closing = []struct {
	tool   string
	access Access
	shell  bool
}{{"Read", Read, false}, {"Write", Write, false}, {"Edit", Write, false}, {"Bash", Read, true}, {"Bash", Write, true}}

// Closed returns the names that the rules close to a scope. Rules that deny or ask close the reads of an agent's tools, and rules that deny
// their writes. The conditions of a rule over role, skills and stage are asked; each other condition beside the path (when, program, arguments)
// counts as if it held. Not so a rule with named: it says that a call which comes upon the file may have it. An error says that a rule
// cannot be evaluated, so that nothing may run.
func (p *Policy) Closed(s Scope) (Closed, error) {
	out := Closed{Dir: p.dir, Home: p.home}
	depth := 0
	for who := &s.Principal; who != nil; who = who.Parent {
		if depth++; depth > maxAncestors {
			return Closed{}, fmt.Errorf("who asks has more than %d ancestors", maxAncestors)
		}
		var v view
		v.set(p, &s, who)
		for _, c := range closing {
			it := Item{Server: AgentServer, Name: c.tool}
			e := p.entry(it)
			if e == nil {
				continue
			}
			call := Call{Scope: s, Item: it}
			for w, set := range e.rules {
				for set &= v.role.rules[w] &^ p.hiders[w]; set != 0; set &= set - 1 {
					r := &p.rules[w*64+lowestBit(set)]
					if r.effect == Allow || r.effect == Ask && c.access != Read || r.src.Named || !r.inScope(&v) {
						continue
					}
					if r.broken != "" {
						return Closed{}, fmt.Errorf("%s", r.broken)
					}
					if len(r.when) > 0 && scopeOnly(r.when) && r.evalWhen(p, &v, &call, &noPart) == misses {
						continue
					}
					out.add(r, c.access, c.shell)
				}
			}
		}
	}
	return out, nil
}

// add adds the names that a rule closes to an access.
func (c *Closed) add(r *rule, access Access, shell bool) {
	var groups []ClosedGroup
	for i := range r.fields {
		f := &r.fields[i]
		var g ClosedGroup
		switch f.kind {
		case fieldPath:
			g.Paths = r.src.Match[f.arg]
		case fieldPathArg:
			g.Paths, g.Args = r.src.Match[f.arg], r.src.Match[f.arg]
		case fieldAccess:
			if f.access == access {
				g.Paths = r.src.Match[f.arg]
			} else if !r.anyOf {
				return
			}
		case fieldArg:
			if !shell && IsPathArg(f.arg) && !r.legacy {
				g.Args = r.src.Args[f.arg]
			} else if shell && !r.anyOf {
				return
			}
		case fieldEffect:
			if !f.value(string(access)) && !r.anyOf {
				return
			}
		case fieldProgram:
			if shell && !r.anyOf {
				return
			}
		case fieldHost, fieldSecret: // no file has a host, and the sandbox knows the files with secrets
			if !r.anyOf {
				return
			}
		}
		if len(g.Paths)+len(g.Args) > 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 || shell && len(r.when) > 0 && !scopeOnly(r.when) {
		return // it is not about paths
	}
	if !r.anyOf {
		c.put(r, access, groups)
		return
	}
	for _, g := range groups {
		c.put(r, access, []ClosedGroup{g})
	}
}

// put adds a rule, once.
func (c *Closed) put(r *rule, access Access, groups []ClosedGroup) {
	add := ClosedRule{Rule: r.name, Read: access == Read, Change: access != Read, Search: r.legacy, Groups: groups}
	for i := range c.Rules {
		if o := &c.Rules[i]; o.Rule == add.Rule && slices.EqualFunc(o.Groups, groups, sameGroup) {
			o.Read, o.Change = o.Read || add.Read, o.Change || add.Change
			return
		}
	}
	c.Rules = append(c.Rules, add)
}

func sameGroup(a, b ClosedGroup) bool {
	same := func(v, w Values) bool { return len(v) == len(w) && (len(v) == 0 || &v[0] == &w[0]) }
	return same(a.Paths, b.Paths) && same(a.Args, b.Args)
}

// Closer is Closed, compiled.
type Closer struct {
	places
	rules []closerRule
}

type closerRule struct {
	read, change bool
	groups       []closerGroup
}

type closerGroup struct {
	paths []closerPath
	args  []matcher
}

// closerPath is a pattern over paths.
type closerPath struct {
	pathMatcher
	top  bool   // it ends with "/**": with a folder that matches, everything below it does, too
	need string // text that every path has which a regular expression matches, in lower case; most paths are sorted out by it
}

// Compile compiles the rules. trees are other folders with the files of the project: see [Facts.Worktrees].
func (c Closed) Compile(trees ...string) (*Closer, error) {
	out := &Closer{places: places{dir: c.Dir, home: c.Home, trees: trees}}
	for _, r := range c.Rules {
		to := closerRule{read: r.Read, change: r.Change}
		for _, g := range r.Groups {
			var group closerGroup
			for _, v := range g.Paths {
				m, err := out.compile(v, r.Search)
				if err != nil {
					return nil, fmt.Errorf("rule %s: %w", r.Rule, err)
				}
				one := closerPath{pathMatcher: m, top: v.Glob != nil && strings.HasSuffix(*v.Glob, "/**")}
				if v.Regex != nil {
					one.need = needed(*v.Regex)
				}
				group.paths = append(group.paths, one)
			}
			for _, v := range g.Args {
				m, err := compileValue(v, r.Search)
				if err != nil {
					return nil, fmt.Errorf("rule %s: %w", r.Rule, err)
				}
				group.args = append(group.args, m)
			}
			to.groups = append(to.groups, group)
		}
		out.rules = append(out.rules, to)
	}
	return out, nil
}

// Any reports whether the rules close anything.
func (c *Closer) Any() bool { return c != nil && len(c.rules) > 0 }

// Of reports whether a path is closed. Both are absolute; resolved is the path without links, "" if it leads nowhere.
func (c *Closer) Of(clean, resolved string) (read, change bool) { return c.of(clean, resolved, false) }

// Whole reports whether a folder is closed with everything that is or will be below it.
func (c *Closer) Whole(clean, resolved string) (read, change bool) {
	return c.of(clean, resolved, true)
}

func (c *Closer) of(clean, resolved string, whole bool) (read, change bool) {
	if c == nil {
		return false, false
	}
	facts, path := Facts{Dir: c.dir, Worktrees: c.trees}, Path{Raw: clean, Clean: clean, Resolved: resolved}
	for i := range c.rules {
		r := &c.rules[i]
		if (read || !r.read) && (change || !r.change) {
			continue
		}
		if !slices.ContainsFunc(r.groups, func(g closerGroup) bool { return !g.match(&c.places, &facts, &path, whole) }) {
			read, change = read || r.read, change || r.change
		}
	}
	return read, change
}

func (g *closerGroup) match(pl *places, f *Facts, p *Path, whole bool) bool {
	for i := range g.paths {
		m := &g.paths[i]
		if (!whole || m.top) && (m.need == "" || hasFold(p.Clean, m.need) || p.Resolved != p.Clean && hasFold(p.Resolved, m.need)) &&
			m.anyForm(pl, f, p) {
			return true
		}
	}
	if whole {
		return false
	}
	for i := range g.args {
		for _, dir := range append([]string{""}, append([]string{pl.dir}, pl.trees...)...) {
			rest, below := strings.CutPrefix(p.Clean, dir+"/")
			if dir == "" && g.args[i].match(p.Clean) || dir != "" && below && (g.args[i].match(rest) || g.args[i].match("./"+rest)) {
				return true
			}
		}
	}
	return false
}

// Literals are the paths that the rules name without a pattern, absolute. One may be a link, or lie behind one.
func (c *Closer) Literals() (list []string) {
	if c == nil {
		return nil
	}
	for _, r := range c.rules {
		for _, g := range r.groups {
			for _, m := range g.paths {
				if m.glob == nil && m.regex == nil && strings.HasPrefix(m.literal, "/") {
					list = append(list, m.literal)
				}
			}
		}
	}
	return list
}

// needed returns a text that is in whatever a regular expression matches, in lower case; "" if there is none.
func needed(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return ""
	}
	return literalOf(re.Simplify())
}

func literalOf(re *syntax.Regexp) (best string) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			lower := unicode.ToLower(r)
			if r >= utf8.RuneSelf || re.Flags&syntax.FoldCase != 0 && (lower == 'k' || lower == 's') { // letters outside of ASCII fold to these
				return ""
			}
		}
		return strings.ToLower(string(re.Rune))
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
		for _, sub := range re.Sub {
			if s := literalOf(sub); len(s) > len(best) {
				best = s
			}
		}
	default:
	}
	return best
}

// hasFold reports whether a text has another one in it, which is in lower case.
func hasFold(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i]|0x20 == lower[0]|0x20 && strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}
