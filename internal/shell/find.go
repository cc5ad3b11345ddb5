package shell

import (
	"path"
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// searchFiles is find: starting points, tests, and what is done with what is found.
func searchFiles(c *call, args []text) {
	roots, i := c.roots(args)
	if len(roots) == 0 {
		roots = []text{known(".")}
	}
	name := "*"
	for ; i < len(args); i++ {
		t := args[i]
		switch {
		case t.unknown && t.bare:
			c.unclear("an argument of find is not known")
		case t.s == "-name" || t.s == "-iname" || t.s == "-path" || t.s == "-wholename":
			if i++; i < len(args) && !args[i].unknown {
				name = args[i].s
			}
		case t.s == "-o" || t.s == "-or" || t.s == "-not" || t.s == "!" || t.s == ",":
			name = "" // what is found is not what the one name says
		}
		if name == "" {
			break
		}
	}
	if name == "" || strings.Contains(name, "/") {
		name = "*"
	}
	found := make([]text, 0, len(roots))
	for _, r := range roots {
		c.file(policy.Read, r)
		r.s, r.glob = strings.TrimSuffix(r.s, "/")+"/"+name, strings.ContainsAny(name, "*?[")
		found = append(found, r)
	}
	if name != "*" {
		found = append(found, governed(roots, name)...)
	}
	c.r.hits = found
	c.actions(args, found)
}

// governed are the protected files below a folder of the project that a name meets too: find looks into every folder.
func governed(roots []text, name string) (found []text) {
	for _, b := range policy.BasePaths() {
		file, ok := strings.CutPrefix(b.Path, "./")
		meets, err := path.Match(name, path.Base(file))
		if !ok || !meets || err != nil || !strings.Contains(file, "/") {
			continue
		}
		for _, r := range roots {
			if !r.unknown {
				r.s = strings.TrimSuffix(r.s, "/") + "/" + file
				found = append(found, r)
			}
		}
	}
	return found
}

// roots are the starting points of find, and where its tests begin.
func (c *call) roots(args []text) (roots []text, next int) {
	for next < len(args) {
		s := args[next].s
		if s == "-H" || s == "-L" || s == "-P" || strings.HasPrefix(s, "-O") {
			next++
			continue
		}
		if !args[next].unknown && (strings.HasPrefix(s, "-") || s == "(" || s == "!" || s == ",") {
			break
		}
		roots = append(roots, args[next])
		next++
	}
	return roots, next
}

// actions are the parts of find that do something.
func (c *call) actions(args, found []text) {
	var runs [][]text
	at := c.st
	for i := 0; i < len(args); i++ {
		var next text
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch args[i].s {
		case "-delete":
			for _, f := range found {
				c.file(policy.Delete, f)
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			c.file(policy.Write, next)
		case "-newer", "-samefile", "-files0-from", "-anewer", "-cnewer":
			c.file(policy.Read, next)
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end].s != ";" && (args[end].s != "+" || args[end-1].s != "{}") {
				end++
			}
			runs = append(runs, filled(args[i+1:min(end, len(args))], "{}", found, true, false))
			i = end
		}
	}
	c.finish()
	for _, words := range runs {
		if len(words) > 0 {
			inner := call{r: c.r, st: at, words: words, env: c.env}
			inner.run()
		}
	}
}

// listed are the files whose names the commands from a part on write: of find, ls, git ls-files and grep -l, also where filters
// follow. nil: not known.
func (r *reader) listed(from int) []text {
	if from >= len(r.parts) {
		return nil
	}
	for i := range r.parts[from:] {
		p := &r.parts[from+i]
		if i > 0 && (!isFilter(p.Program) || len(p.Paths) > 0) {
			return nil
		}
	}
	p := &r.parts[from]
	switch p.Program {
	case "find":
		return r.hits
	case "ls", "git", "fd", "rg", "grep":
		if p.Program == "git" && (len(p.Argv) < 2 || p.Argv[1] != "ls-files" && p.Argv[1] != "diff" && p.Argv[1] != "grep") {
			return nil
		}
	case "go":
		if len(p.Argv) > 1 && p.Argv[1] == "list" {
			return []text{known("./...")}
		}
		return nil
	default:
		return nil
	}
	hidden := p.Program == "ls" && slices.ContainsFunc(p.Argv[1:], func(w string) bool { return strings.HasPrefix(w, "-") && strings.ContainsAny(w, "aAf") })
	var roots []text
	for _, at := range p.Paths {
		if at.Access == policy.Read && at.Clean != "" {
			roots = append(roots, text{s: at.Clean + "/*", glob: true})
			if hidden {
				roots = append(roots, text{s: at.Clean + "/.*", glob: true})
			}
		}
	}
	return roots
}

// isFilter reports whether a program writes some of what it reads, and nothing else.
func isFilter(name string) bool {
	switch name {
	case "grep", "egrep", "fgrep", "rg", "head", "tail", "sort", "uniq", "tac", "shuf":
		return true
	}
	return false
}
