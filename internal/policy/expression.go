package policy

import (
	"slices"
	"strings"

	"mycelium/internal/policy/globs"
	"mycelium/internal/policy/paths"
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
func (m *pathMatcher) meets(pl *places, f *Facts, p *Path) bool {
	list := p.expressions(f, false)
	for i := range list {
		e := &list[i]
		switch {
		case m.glob != nil:
			if m.meetsIn(e, pl, m.glob.pattern) {
				return true
			}
		case m.regex == nil:
			if m.meetsIn(e, pl, globs.Quote(m.literal)) {
				return true
			}
		default:
			text := m.regex.String()
			if !strings.HasPrefix(text, `\A`) { // it may match anywhere
				text = ".*(?:" + text + ").*"
			}
			re := globs.Regex(text, false)
			if e.Language().Meets(re) {
				return true
			}
			for _, dir := range append([]string{pl.dir}, pl.trees...) {
				rest, inside := strings.CutPrefix(e.Text, dir+"/")
				if inside && dir != "" && globs.Aimed(rest, false).Meets(re) {
					return true
				}
			}
		}
	}
	return false
}

// meetsIn reports whether a glob may match, also where it begins at another folder of the project.
func (m *pathMatcher) meetsIn(e *globs.Expression, pl *places, glob string) bool {
	if e.Meets(glob) {
		return true
	}
	rest, below := strings.CutPrefix(glob, globs.Quote(pl.dir)+"/")
	return m.project && below && slices.ContainsFunc(pl.trees, func(tree string) bool { return e.Meets(globs.Quote(tree) + "/" + rest) })
}

// meets returns the constraint that protects a path which a pattern may mean.
func (b *baseSet) meets(f *Facts, p *Path, a use) *baseRule {
	list := p.expressions(f, true)
	dirs := append([]string{b.dir}, paths.FoldAll(f.Worktrees)...)
	for i := range list {
		if r := b.wholeMeets(&list[i], a); r != nil {
			return r
		}
		inProject := slices.ContainsFunc(dirs, func(dir string) bool { return paths.Under([]byte(list[i].Text), dir) })
		for _, c := range b.table {
			if c.ChangeOnly && !a.change || c.Secret && a.closed || c.Name == "root-home" && inProject {
				continue
			}
			for _, path := range c.Paths {
				if b.meetsPath(&list[i], dirs, paths.FoldString(path), a.remove) {
					return constraintRule(c)
				}
			}
		}
		for _, tree := range dirs[1:] {
			if a.change && slices.ContainsFunc(links(tree), func(link string) bool { return list[i].Meets(globs.Quote(link)) }) {
				return &worktreeConstraint
			}
		}
	}
	return nil
}

// wholeMeets returns the constraint of a folder all of whose names a pattern means, as in rm -rf ~/*.
func (b *baseSet) wholeMeets(e *globs.Expression, a use) *baseRule {
	if dir, all := strings.CutSuffix(e.Text, "/*"); all && !globs.Has(dir) && dir != b.dir {
		return b.whole([]byte(dir+"/"), a)
	}
	return nil
}

// meetsPath reports whether a pattern may mean a path of a constraint. dirs are the folders of the project.
func (b *baseSet) meetsPath(e *globs.Expression, dirs []string, path string, above bool) bool {
	if !strings.HasPrefix(path, "./") {
		dirs = dirs[:1]
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return e.Meets(b.glob(dir, path, above)) })
}

// glob returns a path of a base constraint as a glob for it and everything below. Who removes a folder removes what is in it, so with
// above set the glob also matches the folders on the way to the path. dir is the folder of the project.
func (b *baseSet) glob(dir, path string, above bool) string {
	zone, rest := "", ""
	switch {
	case strings.HasPrefix(path, "**/"):
		return path + "/**"
	case strings.HasPrefix(path, "./"):
		zone, rest = globs.Quote(dir), path[2:]
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

// Protects reports whether a base constraint, or a rule that denies or asks, names the path for some caller. worktrees are the other
// folders of the project: see [Facts.Worktrees]. A rule with the key named says nothing about a path that the call only comes upon.
func (p *Policy) Protects(path Path, worktrees []string) bool {
	f := &Facts{Dir: p.dir, Worktrees: worktrees}
	pl := p.with(f)
	if p.base.refuses(f, &path) != nil {
		return true
	}
	for i := range p.rules {
		r := &p.rules[i]
		if r.effect == Allow || r.src.Named && path.Passed {
			continue
		}
		for j := range r.fields {
			fd := &r.fields[j]
			if fd.kind == fieldAccess && fd.access != path.Access || fd.kind == fieldSecret && !pl.opensSecret(f, &path) {
				continue
			}
			if slices.ContainsFunc(fd.paths, func(m pathMatcher) bool { return m.anyForm(&pl, f, &path) }) {
				return true
			}
		}
	}
	return false
}
