package gate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mycelium/internal/policy"
	"mycelium/internal/shell"
)

// maxPaths bounds the paths that one call may name: each costs a look at the file system. A call that names more is refused.
const maxPaths = 1000

// Facts says what a call would do. What the arguments tell is the policy's to read; the file system is asked here. Relative
// paths are meant from dir (absolute, links resolved): the project folder, which is the working directory of servers, or the folder
// of the built-in files server. home is the user's home folder; "" leaves ~ alone. It is an error, for the caller, to name
// more paths than can be looked at.
func Facts(it policy.Item, notes policy.Annotations, args policy.Args, dir, home string) (policy.Facts, error) {
	f := commandFacts(it, notes, args, dir, home)
	r := resolver{dir, home}
	n := 0
	for i := range f.Parts {
		if it == bashTool {
			r.expand(&f.Parts[i])
		}
		if n += len(f.Parts[i].Paths); n > maxPaths {
			return policy.Facts{Dir: dir}, fmt.Errorf("they name more than %d paths", maxPaths)
		}
		f.Parts[i].Paths = r.paths(f.Parts[i].Paths)
		r.pushed(&f.Parts[i])
	}
	return f, nil
}

// commandFacts are the facts before links are resolved: of a command what the shell would do, of any other call what its arguments
// show. An MCP tool that runs commands is a second shell (W2): it gets both.
func commandFacts(it policy.Item, notes policy.Annotations, args policy.Args, dir, home string) policy.Facts {
	if it == bashTool {
		if command, ok := args["command"].(string); ok {
			return shell.Facts(command, shell.Options{Dir: dir, Home: home})
		}
		return policy.ArgFacts(it, notes, args, dir)
	}
	f := policy.ArgFacts(it, notes, args, dir)
	for key, v := range args {
		switch strings.ToLower(strings.ReplaceAll(key, "_", "")) {
		case "command", "cmd", "commandline", "script", "shellcommand", "commands":
			if policy.KindOf(it).Commands {
				f.Parts = append(f.Parts, shell.Facts(commandLine(v, args["args"]), shell.Options{Dir: dir, Home: home}).Parts...)
			}
		}
	}
	return f
}

var bashTool = policy.Item{Server: policy.AgentServer, Name: "Bash"}

// commandLine is the command of an argument: a text, or a list of words, with the words of a second argument behind it. What is
// neither is a command that nobody can read.
func commandLine(v, more any) string {
	var b strings.Builder
	switch v := v.(type) {
	case string:
		b.WriteString(v)
	case []any:
		for _, w := range v {
			quoteInto(&b, w)
		}
	default:
		return "'"
	}
	if list, ok := more.([]any); ok {
		for _, w := range list {
			quoteInto(&b, w)
		}
	}
	return b.String()
}

// quoteInto adds a word so that a shell takes it as it is.
func quoteInto(b *strings.Builder, w any) {
	s, ok := w.(string)
	if !ok {
		s = fmt.Sprint(w)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
}

// resolver follows links, from the two folders that it knows.
type resolver struct{ dir, home string }

// paths fills in where each path leads when links are followed; where that cannot be told it stays empty. What one
// program reads otherwise than another is listed once for each reading: link/../x is one file to a program that cleans it
// first and another to the kernel, and ~/x is in the home folder to some servers and in a folder named ~ to the others.
func (r resolver) paths(paths []policy.Path) []policy.Path {
	for i := range paths {
		p := &paths[i]
		if p.Clean == "" {
			continue
		}
		p.Resolved = r.resolve(p.Clean)
		if rest, ok := strings.CutPrefix(p.Raw, "~"); ok && r.home != "" && (rest == "" || rest[0] == '/') {
			clean := filepath.Join(r.home, rest)
			paths = append(paths, policy.Path{Access: p.Access, Raw: p.Raw, Clean: clean, Resolved: r.resolve(clean)})
			continue
		}
		if !strings.Contains(p.Raw, "..") {
			continue
		}
		full := p.Raw
		if !filepath.IsAbs(full) {
			full = r.dir + "/" + full // not Join: that would clean it
		}
		if walked := r.resolve(full); walked != p.Resolved {
			paths = append(paths, policy.Path{Access: p.Access, Raw: p.Raw, Clean: p.Clean, Resolved: walked})
		}
	}
	return paths
}

// Bounds of what a pattern of a shell is compared with.
const (
	maxEntries = 2000 // names in a folder
	maxMatches = 200  // paths that one pattern becomes
)

// expand adds the files that the patterns of a shell command match now. The pattern itself stays: what matches may be another file by
// then. A pattern in a folder's name is not followed.
func (r resolver) expand(part *policy.Part) {
	for _, p := range part.Paths { // those that are there now
		i := strings.LastIndexByte(p.Clean, '/')
		if i < 0 || !strings.ContainsAny(p.Clean[i:], "*?[") {
			continue
		}
		dir, pattern := p.Clean[:i+1], strings.Replace(p.Clean[i+1:], "[!", "[^", 1)
		names, more := entries(dir)
		n := 0
		for _, name := range names {
			if ok, err := filepath.Match(pattern, name); err != nil || !ok || name[0] == '.' && pattern[0] != '.' {
				continue
			}
			if n++; n <= maxMatches {
				part.Paths = append(part.Paths, policy.Path{Access: p.Access, Raw: dir + name, Clean: dir + name})
			}
		}
		if more || n > maxMatches {
			part.Unclear = append(part.Unclear, "a pattern matches more files than can be looked at")
		}
	}
}

// entries are the names in a folder, up to a bound.
func entries(dir string) (names []string, more bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	names, err = f.Readdirnames(maxEntries)
	slices.Sort(names)
	return names, err == nil && len(names) == maxEntries
}

// Bounds of Linux on a path: PATH_MAX bytes, MAXSYMLINKS links (linux/limits.h, linux/namei.h).
const (
	maxPath  = 4096
	maxLinks = 40
)

// resolve follows the links of an absolute path as the kernel does, part by part; "..", where it still stands, leaves the folder
// that a link led to. The end need not exist, and a link that leads nowhere is followed to where a write through it would go.
// It returns "" for a loop, a folder that may not be searched, a path below a file, and whatever else it cannot tell.
func (r resolver) resolve(path string) string {
	if len(path) > maxPath || !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return ""
	}
	at, rest := "/", path
	if below, ok := strings.CutPrefix(path, r.dir); ok && r.dir != "" && (below == "" || below[0] == '/') {
		at, rest = r.dir, below // the project folder was resolved when the gate began
	}
	links, absent := 0, false
	for rest != "" {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			at, absent = filepath.Dir(at), false
			continue
		}
		next := at + "/" + part
		if at == "/" {
			next = at + part
		}
		if absent { // nothing is below what does not exist
			at = next
			continue
		}
		target, err := readLink(next)
		switch {
		case err == nil:
			if links++; links > maxLinks || len(target)+len(rest) > maxPath {
				return ""
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			rest = target + "/" + rest
		case errors.Is(err, syscall.EINVAL): // it exists and is no link
			at = next
		case errors.Is(err, syscall.ENOENT):
			at, absent = next, true
		default:
			return ""
		}
	}
	return at
}

// readLink is readlink(2) without the allocations of os.Readlink: it is called for every part of every path of every call.
func readLink(path string) (string, error) {
	var buf [maxPath]byte
	for {
		n, err := syscall.Readlink(path, buf[:])
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return "", err
		case n <= 0 || n == len(buf):
			return "", syscall.ENAMETOOLONG
		}
		return string(buf[:n]), nil
	}
}
