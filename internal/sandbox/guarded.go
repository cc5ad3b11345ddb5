package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
	"mycelium/internal/policy/paths"
)

// Guarded are the paths of a project that a command inside finds otherwise than the rest, although the project is writable.
type Guarded struct {
	// What the command may write, which was looked at; see Command.
	Project  string
	Write    []string
	Worktree *Worktree
	Closed   policy.Closed

	Fixed   []string // read-only: what governs agents, hooks of git, and the settings of every agent's hook
	Hidden  []string // they look empty: what no agent may open, and folders that cannot be read
	Secrets []string // they look empty too: files with secrets. Those that a command makes stay where they are
	Covered []string // files that git has and no agent may open: a file of the same size and time without the contents stands in their place
	Configs []string // the configurations of git repositories: the command finds a private copy of each
	Targets []string // read-only: what links of Fixed lead to, inside the project

	// Sockets look empty: path sockets at which a program outside may listen. They are looked for before a command only.
	Sockets []string

	// Locks are lock files of package managers, which name what the command finds of the person's caches. They are looked for before a
	// command only.
	Locks []string `json:"-"`

	// Links are the symbolic links of Fixed, with the places that they lead to; "" if they lead nowhere.
	Links map[string]string
	// Through are the places of files that govern because a link leads to their folder, each with the link.
	Through map[string]string
	// Inside are the files named .git of Fixed whose repository lies in what may be written, so that it is looked at too.
	Inside []string
}

// Since returns what a later look finds that was not there before: governed names, and configurations of git.
func (g *Guarded) Since(before *Guarded) (governed, configs []string) {
	was := set(before.Fixed, before.Hidden, before.Covered, before.Configs)
	inside, wasInside := set(g.Inside), set(before.Inside)
	for _, path := range slices.Concat(g.Fixed, g.Hidden) {
		switch {
		case !was[path] && (!inside[path] || !utf8.ValidString(path)), // the note and the child take names in UTF-8 only
			was[path] && wasInside[path] && !inside[path],
			was[path] && g.Links[path] != "" && g.Links[path] != before.Links[path]:
			governed = append(governed, path)
		}
	}
	for path, link := range g.Through {
		if was[link] && g.Links[link] == before.Links[link] && before.Through[path] == "" {
			governed = append(governed, path) // the link is the person's, the file is new
		}
	}
	for _, path := range g.Configs {
		if !was[path] {
			configs = append(configs, path)
		}
	}
	return governed, configs
}

// within returns what another look has found too. What a run that lasts has made is not there for the runs that begin meanwhile: its
// end takes the file away, and whoever makes it again has made it. What that run cannot write is none of its work, such as the files of
// another worktree.
func (g *Guarded) within(other *Guarded) *Guarded {
	has := set(other.Fixed, other.Hidden, other.Configs)
	roots := other.roots()
	absent := func(path string) bool { return !has[path] && other.writes(roots, path) }
	out := *g
	out.Through = map[string]string{}
	for path, link := range g.Through {
		if other.Through[path] != "" || !other.writes(roots, path) {
			out.Through[path] = link
		}
	}
	out.Fixed = slices.DeleteFunc(slices.Clone(g.Fixed), absent)
	out.Hidden = slices.DeleteFunc(slices.Clone(g.Hidden), absent)
	out.Configs = slices.DeleteFunc(slices.Clone(g.Configs), absent)
	return &out
}

// roots are those of the command; see Command.roots.
func (g *Guarded) roots() []string {
	return (&Command{Project: g.Project, Write: g.Write, Worktree: g.Worktree}).roots()
}

// writes reports whether the command may write a path, by its roots: the innermost root that has the path is not in a folder that is
// read-only as a whole.
func (g *Guarded) writes(roots []string, path string) bool {
	inner := ""
	for _, r := range roots {
		if below(path, r) && len(r) > len(inner) {
			inner = r
		}
	}
	return inner != "" && !slices.ContainsFunc(g.Fixed, func(f string) bool { return path != f && below(path, f) && len(f) > len(inner) })
}

// sort puts the lists in order, without repetitions.
func (g *Guarded) sort() {
	for _, list := range []*[]string{&g.Fixed, &g.Hidden, &g.Configs, &g.Targets, &g.Inside, &g.Sockets, &g.Secrets, &g.Covered} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

func set(lists ...[]string) map[string]bool {
	out := map[string]bool{}
	for _, list := range lists {
		for _, s := range list {
			out[s] = true
		}
	}
	return out
}

// forms are the protected paths of the policy, as they are looked for in one project. As in the policy, case does not count, because a
// file system may ignore it.
type forms struct {
	exact map[string]policy.BasePath   // absolute
	last  map[string]bool              // the last components of exact
	ends  map[string][]policy.BasePath // "**/a/b", by the last component
	// folders are the names of folders that govern by what is in them (".claude" by "settings.json").
	folders map[string]folderForm
}

// folderForm says what in a folder governs. A link of that name is another way to it.
type folderForm struct {
	names []string
	// usual: the name is common for other things, so that a link of that name counts only if the file is there.
	usual bool
}

func guardedForms(project, home string) forms {
	out := forms{map[string]policy.BasePath{}, map[string]bool{}, map[string][]policy.BasePath{}, map[string]folderForm{}}
	for _, b := range policy.BasePaths() {
		first, rest, _ := strings.Cut(b.Path, "/")
		switch first {
		case "**":
			name := paths.FoldString(filepath.Base(rest))
			out.ends[name] = append(out.ends[name], b)
			out.folder(rest)
		case ".":
			out.add(filepath.Join(project, rest), b)
			out.folder(rest)
		case "~":
			out.add(filepath.Join(home, rest), b)
		case "":
			if b.Path != "/root" { // the home of root is empty inside, and a project may lie in it
				out.add(b.Path, b)
			}
		}
	}
	return out
}

func (f forms) add(path string, b policy.BasePath) {
	path = paths.FoldString(path)
	f.exact[path] = b
	f.last[filepath.Base(path)] = true
}

func (f forms) folder(rest string) {
	dir, name := filepath.Split(rest)
	if dir == "" {
		return
	}
	dir = paths.FoldString(filepath.Base(dir))
	was := f.folders[dir]
	f.folders[dir] = folderForm{append(was.names, name), !strings.HasPrefix(dir, ".")}
}

// of returns the form that a path has. name is its last component, folded.
func (f forms) of(path, name string) (policy.BasePath, bool) {
	ends, exact := f.ends[name], f.last[name]
	if len(ends) == 0 && !exact {
		return policy.BasePath{}, false
	}
	path = paths.FoldString(path)
	if b, ok := f.exact[path]; ok {
		return b, true
	}
	for _, b := range ends {
		if strings.HasSuffix(path, paths.FoldString(strings.TrimPrefix(b.Path, "**"))) {
			return b, true
		}
	}
	return policy.BasePath{}, false
}

// below reports whether a path is a folder or lies in it.
func below(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}
