package facts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mycelium/internal/policy"
)

// resolver follows links. dir and home are as in [Of].
type resolver struct{ dir, home string }

// paths sets where each path leads when links are followed; Resolved stays empty if that is not known. A path that programs read in
// two ways is listed once for each: link/../x is one file to a program that cleans it first and another to the kernel, and ~/x is in
// the home folder to some servers and in a folder named ~ to others.
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

// Bounds of the expansion of a shell's pattern.
const (
	maxEntries = 2000 // names in a folder
	maxMatches = 200  // paths that one pattern becomes
)

// expand adds the files that the patterns of a shell command match now. The pattern itself stays, because it may match other files
// when the command runs. A pattern in a folder's name is not expanded.
func (r resolver) expand(part *policy.Part) {
	for _, p := range part.Paths { // without those that this loop adds
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

// entries returns the names in a folder, at most maxEntries, and whether there may be more.
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

// resolve follows the links of an absolute path as the kernel does, part by part; ".." leaves the folder that a link led to. The
// last parts need not exist, and a dangling link is followed to where a write through it would go. It returns "" for a loop, a
// folder that may not be searched, a path below a file, and any other path that it cannot resolve.
func (r resolver) resolve(path string) string {
	if len(path) > maxPath || !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return ""
	}
	at, rest := "/", path
	if below, ok := strings.CutPrefix(path, r.dir); ok && r.dir != "" && (below == "" || below[0] == '/') {
		at, rest = r.dir, below // links in dir are resolved already
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
		if absent { // no link is below a folder that does not exist
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
		case errors.Is(err, syscall.EINVAL): // it exists and is not a link
			at = next
		case errors.Is(err, syscall.ENOENT):
			at, absent = next, true
		default:
			return ""
		}
	}
	return at
}

// Resolve follows the links of an absolute path. It returns "" if it cannot.
func Resolve(path string) string { return resolver{}.resolve(path) }

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
