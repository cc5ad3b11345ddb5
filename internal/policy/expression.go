package policy

import (
	"slices"
	"strings"

	"mycelium/internal/policy/globs"
)

// expressions are the forms of a path that is a pattern.
func (p *Path) expressions(f *Facts, fold bool) []globs.Expression {
	clean := p.Clean
	if clean == "" {
		clean = cleanPath(f.Dir, p.Raw)
	}
	var list []globs.Expression
	for _, s := range slices.Compact([]string{clean, p.Resolved}) {
		if s != "" {
			list = append(list, globs.NewExpression(s, fold))
		}
	}
	return list
}

// meets reports whether the pattern of a rule may match a path that is a pattern itself.
func (m *pathMatcher) meets(pl places, f *Facts, p *Path) bool {
	list := p.expressions(f, false)
	for i := range list {
		e := &list[i]
		switch {
		case m.glob != nil:
			if e.Meets(m.glob.pattern) {
				return true
			}
		case m.regex == nil:
			if e.Meets(globs.Quote(m.literal)) {
				return true
			}
		default:
			text := m.regex.String()
			if !strings.HasPrefix(text, `\A`) { // it may match anywhere
				text = ".*(?:" + text + ").*"
			}
			re := globs.Regex(text, false)
			rest, inside := strings.CutPrefix(e.Text, pl.dir+"/")
			if e.Language().Meets(re) || inside && pl.dir != "" && globs.Aimed(rest, false).Meets(re) {
				return true
			}
		}
	}
	return false
}

// meets returns the constraint that protects a path which a pattern may mean.
func (b *baseSet) meets(f *Facts, p *Path, a use) *baseRule {
	list := p.expressions(f, true)
	for i := range list {
		inProject := under([]byte(list[i].Text), b.dir)
		for j := range baseConstraints {
			c := &baseConstraints[j]
			if c.access == changes && !a.change || c.name == "root-home" && inProject {
				continue
			}
			for _, path := range c.paths {
				if list[i].Meets(b.glob(foldString(path), a.remove)) {
					return c.rule()
				}
			}
		}
	}
	return nil
}

// glob returns a path of a base constraint as a glob for it and everything below. Who removes a folder removes what is in it, so with
// above set the glob also matches the folders on the way to the path.
func (b *baseSet) glob(path string, above bool) string {
	zone, rest := "", ""
	switch {
	case strings.HasPrefix(path, "**/"):
		return path + "/**"
	case strings.HasPrefix(path, "./"):
		zone, rest = globs.Quote(b.dir), path[2:]
	case strings.HasPrefix(path, "~/"):
		zone, rest = "{/home/*,/users/*,/root,c:/users/*,/mnt/c/users/*,"+globs.Quote(b.home)+"}", path[2:]
	case strings.HasPrefix(path, "c:/"):
		zone, rest = "{c:,/mnt/c}", path[3:]
	default:
		rest = path[1:]
	}
	if above {
		if first, below, deep := strings.Cut(rest, "/"); deep {
			return zone + "/" + first + "{,/" + below + "/**}"
		}
	}
	return zone + "/" + rest + "/**"
}

// Protects reports whether a base constraint, or a rule that denies or asks, names the path for some caller.
func (p *Policy) Protects(path Path) bool {
	f := &Facts{Dir: p.dir}
	if p.base.refuses(f, &path) != nil {
		return true
	}
	for i := range p.rules {
		r := &p.rules[i]
		if r.effect == Allow {
			continue
		}
		for j := range r.fields {
			fd := &r.fields[j]
			if fd.kind == fieldAccess && fd.access != path.Access {
				continue
			}
			if slices.ContainsFunc(fd.paths, func(m pathMatcher) bool { return m.anyForm(p.places, f, &path) }) {
				return true
			}
		}
	}
	return false
}
