package facts

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"mycelium/internal/policy"
	"mycelium/internal/policy/globs"
)

// Bounds of what is looked up on the disk for the patterns of one call.
const (
	maxNames   = 100_000 // names in folders
	maxMatches = 200     // protected files that match
)

// searcher looks for the protected files that the patterns of a call match now. A pattern that may mean a protected name is refused by its
// text already; the disk tells what a broad one, such as *.json, means.
type searcher struct {
	resolver
	protects func(policy.Path) bool // nil: every file is protected
	trees    func() []string        // the other folders of the project
	twins    *twins                 // nil: other names of a file are not looked for
	dots     bool                   // of Grep: wildcards match a dot at the beginning of a name too
	secrets  *secrets               // in the files; nil: nobody looks
	whole    bool                   // a tool shows whole files: none of them is left out
	names    int                    // looked at so far
}

// search adds the protected files that the patterns of a part match, and the links. The pattern itself stays: it stands for the rest.
func (s *searcher) search(part *policy.Part) {
	for _, p := range part.Paths { // without those that this loop adds
		if p.File && s.some(p, isFolder) {
			part.Unclear = append(part.Unclear, p.Raw+" is a folder, of which ls lists the names that are in it")
		}
		if !p.Pattern || p.Clean == "" {
			continue
		}
		if p.Split && s.some(p, hasSpace) {
			part.Unclear = append(part.Unclear, "the name of a file that "+p.Raw+" matches has a space, at which the shell splits it; quote the variable")
		}
		m := matching{searcher: s, pattern: &p}
		for _, glob := range globs.Alternatives(p.Clean) {
			begin, rest := literalFolder(glob)
			m.walk(begin, s.resolve(begin), rest, false)
		}
		if s.names > maxNames || len(m.found) > maxMatches {
			part.Unclear = append(part.Unclear, "a pattern matches more files than can be looked at")
		}
		if m.everything() {
			if len(m.found) > 0 { // who reads what lies anywhere below a folder may leave these files out
				part.Unclear = append(part.Unclear, "it also reads "+m.found[0].Clean+", which is protected; leave such files out")
			}
			continue
		}
		part.Paths = append(part.Paths, m.found[:min(len(m.found), maxMatches)]...)
	}
}

// some reports whether a path is one of a kind, or a pattern matches one now.
func (s *searcher) some(p policy.Path, kind func(policy.Path) bool) bool {
	if !p.Pattern {
		return kind(p)
	}
	look := *s
	look.protects, look.twins, look.secrets = kind, nil, nil
	m := matching{searcher: &look, pattern: &p}
	for _, glob := range globs.Alternatives(p.Clean) {
		begin, rest := literalFolder(glob)
		m.walk(begin, s.resolve(begin), rest, false)
	}
	s.names = look.names
	return slices.ContainsFunc(m.found, kind) // links out are found too
}

func hasSpace(p policy.Path) bool { return strings.ContainsAny(p.Clean, " \t\n") }

func isFolder(p policy.Path) bool {
	info, err := os.Stat(p.Clean)
	return err == nil && info.IsDir()
}

// mayFind reports whether a pattern of a part may match a protected file that its text does not mean: "*env" may, "*.go" does not. Looking
// on the disk for each search of an agent would take long.
func (s *searcher) mayFind(part *policy.Part) bool {
	return slices.ContainsFunc(part.Paths, func(p policy.Path) bool {
		dir, last := filepath.Split(p.Clean)
		if last == "**" { // below a folder of the name before
			dir, last = filepath.Split(strings.TrimSuffix(dir, "/"))
		}
		if !p.Pattern || !globs.Broad(last) || s.protects == nil {
			return false
		}
		p.Clean = dir + "{,}" + strings.NewReplacer("**", aimed, "*", aimed).Replace(last)
		return s.protects(p)
	})
}

// aimed is any text, as a glob that is not broad.
const aimed = "{,?}*"

// literalFolder splits a glob into the folder that it names as text, and the names below it.
func literalFolder(glob string) (folder string, names []string) {
	all := strings.Split(strings.TrimPrefix(glob, "/"), "/")
	n := 0
	for n < len(all)-1 {
		name, plain := text(all[n])
		if !plain {
			break
		}
		folder += "/" + name
		n++
	}
	if folder == "" {
		folder = "/"
	}
	return folder, all[n:]
}

// text returns the one name that a name in a glob means. ok is false if it may mean several.
func text(name string) (s string, ok bool) {
	if strings.ContainsAny(name, "*?[{") && !strings.Contains(name, `\`) {
		return "", false
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '\\' && i+1 < len(name) {
			i++
		} else if strings.IndexByte("*?[{", name[i]) >= 0 {
			return "", false
		}
		s += name[i : i+1]
	}
	return s, true
}

// matching is the search for one pattern.
type matching struct {
	*searcher
	pattern *policy.Path
	found   []policy.Path
}

func (m *matching) over() bool { return m.names > maxNames || len(m.found) > maxMatches }

// walk looks in a folder for what the names lead to. to is where the folder leads, and deep is set below a "**".
func (m *matching) walk(folder, to string, names []string, deep bool) {
	if m.over() || m.leavesOut(folder) {
		return
	}
	if len(names) == 0 {
		m.add(folder, to, false)
		return
	}
	if name, plain := text(names[0]); plain {
		next, at := filepath.Join(folder, name), filepath.Join(to, name)
		if info, err := os.Lstat(next); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			at = m.resolve(next)
		}
		m.walk(next, at, names[1:], deep)
		return
	}
	if names[0] == "**" {
		if info, err := os.Lstat(folder); len(names) == 1 && err == nil && !info.IsDir() { // "a/**" matches "a"
			m.add(folder, to, info.Mode()&fs.ModeSymlink != 0)
		}
		if len(names) > 1 {
			m.walk(folder, to, names[1:], true)
		}
		deep = true
	}
	for _, e := range m.entries(folder) {
		m.enter(folder, to, e, names, deep)
	}
}

// enter goes on with an entry of a folder, if the first name matches it.
func (m *matching) enter(folder, to string, e fs.DirEntry, names []string, deep bool) {
	name := e.Name()
	next, at, link := filepath.Join(folder, name), filepath.Join(to, name), e.Type()&fs.ModeSymlink != 0
	switch {
	case names[0] == "**":
		switch {
		case e.IsDir() && m.reads() && installed(name):
		case e.IsDir():
			m.walk(next, at, names, true)
		case len(names) == 1 && !m.leavesOut(next):
			m.add(next, at, link)
		}
		return
	case name[0] == '.' && !deep && !m.dots && (names[0][0] == '*' || names[0][0] == '?' || names[0][0] == '['):
		return // only a dot matches it
	}
	glob := strings.ReplaceAll(names[0], "[!", "[^")
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	if ok, err := doublestar.Match(glob, name); err == nil && !ok {
		return
	}
	if link {
		at = m.resolve(next)
	}
	m.walk(next, at, names[1:], deep)
}

// reads reports whether the pattern only says what is read.
func (m *matching) reads() bool { return m.pattern.Access == policy.Read }

// installed reports whether a folder holds what a package manager fetched. Its files are published: nothing in them is secret.
func installed(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", "venv", "site-packages"}, name)
}

// leavesOut reports whether the call says that it leaves a path out.
func (m *matching) leavesOut(path string) bool {
	return slices.ContainsFunc(m.pattern.Except, func(glob string) bool {
		ok, err := doublestar.Match(glob, path)
		return ok && err == nil
	})
}

// entries returns what lies in a folder, within the bounds.
func (m *matching) entries(folder string) []fs.DirEntry {
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(maxNames - m.names + 1)
	m.names += len(list)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// everything reports whether files are read wherever they lie below a folder.
func (m *matching) everything() bool {
	return m.reads() && !m.whole && strings.Contains(m.pattern.Clean, "/**")
}

// passes reports whether the pattern only comes upon the files that it matches: no character of it is one of their names. "*.yaml" names
// files, "*" names no file. The globs of Grep say which files a search of everything below a folder looks at.
func (m *matching) passes() bool {
	bare := strings.Trim(filepath.Base(m.pattern.Clean), "*?") == ""
	return m.everything() || m.reads() && !m.whole && (m.dots || bare)
}

// add keeps a path if it is protected, or if it is a link that leads out of the working directory. Who reads everything follows no links.
func (m *matching) add(path, to string, link bool) {
	if link {
		to = m.resolve(path)
	}
	p := policy.Path{Access: m.pattern.Access, Only: m.pattern.Only, Raw: path, Clean: path, Resolved: to, Passed: m.passes()}
	if m.twins != nil && to != "" {
		if name, ok := m.twins.of(to); ok {
			p.Raw, p.Clean, p.Resolved = name, name, name
		}
	}
	if m.secrets != nil {
		p.Content = m.secrets.of(&p, m.everything() || !m.reads())
	}
	if m.protects == nil || m.protects(p) || to != path && !holds(m.dir, to) && !m.everything() {
		m.found = append(m.found, p)
	}
}

// resolvePattern follows the links of the folder that a pattern names as text.
func (r resolver) resolvePattern(glob string) string {
	folder, names := literalFolder(glob)
	to := r.resolve(folder)
	if to == "" {
		return ""
	}
	return strings.TrimSuffix(globs.Quote(to), "/") + "/" + strings.Join(names, "/")
}
