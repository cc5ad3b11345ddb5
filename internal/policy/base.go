package policy

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy/paths"
	"mycelium/internal/policy/protected"
)

// baseAccess says which accesses a constraint refuses.
type baseAccess uint8

const (
	anyAccess baseAccess = iota
	changes              // write, delete, and any access that is not known to be read or execute
)

// baseSet is the table compiled for one project and one user. All texts in it are folded (see fold). A path is looked up by its first
// component below each zone that it lies in, so that a decision looks at few constraints.
type baseSet struct {
	dir, home string
	table     []protected.Constraint
	root      zone                  // absolute paths
	project   zone                  // below dir
	own       zone                  // below home
	homes     zone                  // below any home
	names     map[string][]basePath // by the last component
	nameEnds  [256]bool             // the last bytes of the keys of names
}

// zone holds the constraints below one folder, by the first component below it.
type zone map[string][]basePath

type basePath struct {
	text   string // relative to the zone, without a slash at either end
	rule   *baseRule
	access baseAccess
	atRoot bool // the home of root: a project in it is excepted
	secret bool // it closes what is in the file, and not its name
}

// baseRule is the rule and the reason of a decision by a base constraint.
type baseRule struct{ name, reason string }

// programsConstraint protects the programs of a policy's source, which have no fixed place.
var programsConstraint = baseRule{"base:mycelium-programs",
	"base constraint mycelium-programs: the program that guards this agent cannot be changed by an agent"}

// worktreeConstraint protects the links by which a linked working tree belongs to its project: without one it would be a folder without
// this policy.
var worktreeConstraint = baseRule{"base:mycelium-worktrees",
	"base constraint mycelium-worktrees: what makes this folder a part of the project cannot be changed by an agent"}

// stateConstraint protects the state of a policy's source where it is in no fixed place.
var stateConstraint = baseRule{"base:mycelium-state", "base constraint mycelium-state: state, keys and log of the guard"}

// whole returns the constraint of a folder that holds everything, or nil.
func (b *baseSet) whole(folded []byte, a use) *baseRule {
	if !a.remove {
		return nil
	}
	if c := protected.Whole(folded, b.home, b.dir); c != nil {
		return constraintRule(*c)
	}
	return nil
}

func compileBase(dir, home string, programs []string, state string) *baseSet {
	b := &baseSet{dir: paths.FoldString(dir), home: paths.FoldString(home), root: zone{}, project: zone{}, own: zone{}, homes: zone{},
		names: map[string][]basePath{}}
	for _, c := range protected.Constraints() {
		b.protect(c)
	}
	for _, p := range programs {
		if strings.HasPrefix(p, "/") {
			b.add(paths.FoldString(p), basePath{rule: &programsConstraint, access: changes})
		}
	}
	if strings.HasPrefix(state, "/") {
		b.add(paths.FoldString(state), basePath{rule: &stateConstraint, access: anyAccess})
	}
	return b
}

// protect adds a constraint.
func (b *baseSet) protect(c protected.Constraint) {
	b.table = append(b.table, c)
	rule := constraintRule(c)
	for _, p := range c.Paths {
		b.add(paths.FoldString(p), basePath{rule: rule, access: accessOf(c), atRoot: c.Name == "root-home", secret: c.Secret})
	}
}

func constraintRule(c protected.Constraint) *baseRule {
	what := "opened to"
	if c.ChangeOnly {
		what = "changed by"
	}
	return &baseRule{name: "base:" + c.Name, reason: "base constraint " + c.Name + ": " + c.Reason + " cannot be " + what + " an agent"}
}

func accessOf(c protected.Constraint) baseAccess {
	if c.ChangeOnly {
		return changes
	}
	return anyAccess
}

func (b *baseSet) add(p string, bp basePath) {
	put := func(z zone, text string) {
		bp.text = text
		first, _, _ := strings.Cut(text, "/")
		z[first] = append(z[first], bp)
	}
	switch {
	case strings.HasPrefix(p, "**/"):
		bp.text = p[3:]
		last := bp.text[strings.LastIndexByte(bp.text, '/')+1:]
		b.names[last] = append(b.names[last], bp)
		b.nameEnds[last[len(last)-1]] = true
	case strings.HasPrefix(p, "./"):
		put(b.project, p[2:])
	case strings.HasPrefix(p, "~/"):
		put(b.own, p[2:])
		put(b.homes, p[2:])
	case strings.HasPrefix(p, "c:/"):
		put(b.root, p)
		put(b.root, "mnt/c"+p[2:])
	default:
		put(b.root, p[1:])
	}
}

// refusesPart returns the constraint that forbids what the part does to one of its paths, or nil.
func (b *baseSet) refusesPart(f *Facts, part *Part) *baseRule {
	for i := range part.Paths {
		if i+1 < len(part.Paths) && part.Paths[i].Access == Read && part.Paths[i+1].samePlace(&part.Paths[i]) {
			continue // a path that must not be read must not be changed either
		}
		if r := b.refuses(f, &part.Paths[i]); r != nil {
			return r
		}
	}
	return nil
}

// samePlace reports whether two paths have the same names.
func (p *Path) samePlace(o *Path) bool {
	return p.Raw == o.Raw && p.Clean == o.Clean && p.Resolved == o.Resolved
}

// refuses returns the constraint that forbids the access to the path under any of its names, or nil.
func (b *baseSet) refuses(f *Facts, p *Path) *baseRule {
	a := use{change: p.Access != Read && p.Access != Execute}
	a.remove = a.change && p.Access != Write
	a.closed = p.staysClosed()
	clean := p.Clean
	if clean == "" {
		clean = cleanPath(f.Dir, p.Raw)
	}
	if p.Pattern {
		if r := b.meets(f, p, a); r != nil {
			return r
		}
	}
	if r := b.form(clean, f.Worktrees, a); r != nil {
		return r
	}
	if p.Resolved != clean {
		if r := b.form(p.Resolved, f.Worktrees, a); r != nil {
			return r
		}
	}
	if endsClean(clean, p.Raw) {
		return nil
	}
	return b.form(p.Raw, f.Worktrees, a)
}

// endsClean reports whether the path as written is the end of the cleaned path, which was judged already.
func endsClean(clean, raw string) bool {
	if !strings.HasSuffix(clean, raw) || raw != "" && (raw[0] == '~' || raw[0] == '\\') {
		return false
	}
	return len(raw) == len(clean) || len(raw) < 2 || raw[1] != ':'
}

// use is what a call does to a path, as far as a constraint distinguishes.
type use struct {
	change, remove bool
	closed         bool // the file is not opened
}

// forbids reports whether the constraint is about the use.
func (bp *basePath) forbids(a use) bool {
	return (a.change || bp.access == anyAccess) && (!bp.secret || !a.closed)
}

// form judges one form of a path. trees are the other folders of the project.
func (b *baseSet) form(s string, trees []string, a use) *baseRule {
	if s == "" {
		return nil
	}
	var buf [256]byte
	folded := paths.Fold(buf[:0], s)
	if r := b.whole(folded, a); r != nil {
		return r
	}
	if len(folded) > 1 && folded[0] == '~' && folded[1] == '/' {
		if bp := b.homes.find(folded[2:], a); bp != nil {
			return bp.rule
		}
		if b.home != "" {
			folded = append([]byte(b.home), folded[1:]...)
		}
	}
	if len(trees) > 0 {
		trees = paths.FoldAll(trees)
	}
	if bp := b.root.find(paths.Relative(folded), a); bp != nil && (!bp.atRoot || !b.inProject(folded, trees)) {
		return bp.rule
	}
	if r := b.inTrees(folded, trees, a); r != nil {
		return r
	}
	if bp := b.project.within(folded, b.dir, a); bp != nil {
		return bp.rule
	}
	if bp := b.own.within(folded, b.home, a); bp != nil {
		return bp.rule
	}
	if rest := paths.BelowHome(folded); rest != nil {
		if bp := b.homes.find(rest, a); bp != nil {
			return bp.rule
		}
	}
	return b.named(folded, a)
}

// inProject reports whether a path lies in a folder of the project.
func (b *baseSet) inProject(s []byte, trees []string) bool {
	return paths.Under(s, b.dir) || slices.ContainsFunc(trees, func(tree string) bool { return paths.Under(s, tree) })
}

// inTrees judges a path by the other folders of the project. What is protected in one of them decides nothing there: the policy is that of
// the project's own folder. So who removes the whole folder is judged by the rules, and not here.
func (b *baseSet) inTrees(s []byte, trees []string, a use) *baseRule {
	for _, tree := range trees {
		if below := len(s) > len(tree)+1 && paths.Under(s, tree); below {
			if bp := b.project.find(paths.Relative(s[len(tree):]), a); bp != nil {
				return bp.rule
			}
		}
		if a.change && slices.Contains(links(tree), string(s)) {
			return &worktreeConstraint
		}
	}
	return nil
}

// links are the places where the link of a working tree may be: a folder of the project stands for its top, or for a folder below it.
func links(tree string) []string {
	var out []string
	for dir := tree; ; dir = path.Dir(dir) {
		if out = append(out, path.Join(dir, ".git")); dir == path.Dir(dir) {
			return out
		}
	}
}

// within looks up a path in the zone of a folder.
func (z zone) within(s []byte, folder string, a use) *basePath {
	if folder != "" && paths.Under(s, folder) {
		return z.find(paths.Relative(s[len(folder):]), a)
	}
	return nil
}

// find looks up a path relative to the folder of the zone.
func (z zone) find(rest []byte, a use) *basePath {
	if len(rest) == 0 {
		return nil // see whole
	}
	n := 0
	for n < len(rest) && rest[n] != '/' {
		n++
	}
	list := z[string(rest[:n])]
	for i := range list {
		bp := &list[i]
		if bp.forbids(a) && (protected.Under(rest, bp.text) || a.remove && paths.Above(rest, bp.text)) {
			return bp
		}
	}
	return nil
}

// named looks for a protected name among the components of a path.
func (b *baseSet) named(s []byte, a use) *baseRule {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '/' {
			continue
		}
		if i > start && b.nameEnds[s[i-1]] {
			list := b.names[string(s[start:i])]
			for j := range list {
				if bp := &list[j]; bp.forbids(a) && paths.EndsWith(s[:i], bp.text) {
					return bp.rule
				}
			}
		}
		start = i + 1
	}
	return nil
}

// BasePath is a path that a base constraint protects: /x is absolute, ~/x is in the home, **/x is anywhere, ./x is in the project, c:/x
// is on Windows. Each also stands for everything below it.
type BasePath struct {
	Constraint string
	Path       string
	ChangeOnly bool // reading is allowed
}

// BasePaths are all protected paths. The configuration of another program can name them.
func BasePaths() []BasePath {
	var out []BasePath
	for _, c := range protected.Constraints() {
		for _, p := range c.Paths {
			out = append(out, BasePath{Constraint: c.Name, Path: p, ChangeOnly: c.ChangeOnly})
		}
	}
	return out
}
