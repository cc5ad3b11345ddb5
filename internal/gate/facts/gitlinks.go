package facts

import (
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// maxAsked bounds the names of one part about which git is asked.
const maxAsked = 500

// revisions are those of which a git command may put files into the working tree of a folder. The index is always one of them.
type revisions struct {
	dir  string
	revs []string
}

// puts notes the revisions of which a part may put files into the working tree.
func (t *trees) puts(part *policy.Part) {
	writes := func(p policy.Path) bool { return p.Access == policy.Write }
	if part.Program != "git" || part.Dir == "*" || len(part.Trees) == 0 && !slices.ContainsFunc(part.Paths, writes) {
		return
	}
	r := revisions{part.Dir, []string{"HEAD"}}
	if r.dir == "" {
		r.dir = t.at.Dir
	}
	for _, tree := range part.Trees {
		switch kind, revision, _ := strings.Cut(tree, " "); kind {
		case policy.TreeOf, policy.TreeMerge, policy.TreePick, policy.TreeNamed, policy.TreeHead:
			if _, to, isRange := strings.Cut(revision, ".."); isRange {
				revision = strings.TrimPrefix(to, ".")
			}
			r.revs = append(r.revs, revision, "origin/"+revision)
		case policy.TreeStash:
			r.revs = append(r.revs, revision, revision+"^3") // the second has the files that git did not know
		}
	}
	t.from = append(t.from, r)
}

// links notes those of the links that commands before may have put into the working tree through which the paths of a part lead.
func (t *trees) links(part *policy.Part, before *made) {
	if len(t.from) == 0 || len(part.Paths) == 0 {
		return
	}
	g, done := t.ask(part, "")
	defer done()
	for _, r := range t.from {
		g.Git = gitAt(&t.at, r.dir)
		root, ok := g.line("rev-parse", "--show-toplevel")
		if !ok {
			continue
		}
		g.Dir = root
		names := namesBelow(root, part.Paths)
		for len(names) > 0 && before.fromGit(g, root, r.revs, names) {
			more := namesBelow(root, []policy.Path{}) // where a link leads, another may lie
			for at, to := range before.links {
				if !filepath.IsAbs(to) {
					to = filepath.Join(filepath.Dir(at), to)
				}
				for _, name := range names {
					if rest, ok := strings.CutPrefix(filepath.Join(root, name), at); ok && (rest == "" || rest[0] == '/') {
						more = append(more, namesBelow(root, []policy.Path{{Clean: to + rest}})...)
					}
				}
			}
			names = slices.DeleteFunc(more, func(name string) bool { return slices.Contains(names, name) })
		}
	}
}

// namesBelow returns the names of the paths, and of the folders above them, as git writes them from the top of a repository.
func namesBelow(root string, paths []policy.Path) (names []string) {
	for _, p := range paths {
		if p.Pattern || p.Clean == "" || !holds(root, p.Clean) {
			continue
		}
		for at := p.Clean; len(at) > len(root) && len(names) < maxAsked; at = filepath.Dir(at) {
			if name := at[len(root)+1:]; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// fromGit notes the links among the names, and reports whether there is one that was not known.
func (m *made) fromGit(g gitIn, root string, revs, names []string) (some bool) {
	entries, _ := g.list(append([]string{"ls-files", "-z", "--stage", "--"}, literal(names)...)...)
	for _, rev := range revs {
		if commit, ok := g.commit(rev); ok {
			more, _ := g.list(append([]string{"ls-tree", "-z", "--full-tree", commit, "--"}, names...)...)
			entries = append(entries, more...)
		}
	}
	for _, e := range entries {
		head, name, _ := strings.Cut(e, "\t")
		words := strings.Fields(head) // MODE HASH STAGE, or MODE TYPE HASH
		if len(words) != 3 || words[0] != "120000" {
			continue
		}
		hash := words[1]
		if hash == "blob" {
			hash = words[2]
		}
		text, ok := g.run("cat-file", "blob", hash)
		if at := filepath.Join(root, name); ok && m.links[at] != string(text) {
			m.note(at, string(text))
			some = true
		}
	}
	return some
}

// literal returns names as pathspecs that stand for themselves.
func literal(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = ":(literal)" + name
	}
	return out
}
