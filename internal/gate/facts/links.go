package facts

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"

	"mycelium/internal/policy"
)

// resolver follows links: those on the disk, and those that the call makes before. dir and home are as in [Of].
type resolver struct {
	dir, home string
	made      *made // nil: none
}

// paths sets where each path leads when links are followed; Resolved stays empty if that is not known. A path that programs read in
// two ways is listed once for each: link/../x is one file to a program that cleans it first and another to the kernel, and ~/x is in
// the home folder to some servers and in a folder named ~ to others.
func (r resolver) paths(paths []policy.Path) []policy.Path {
	for i := range paths {
		p := &paths[i]
		if p.Clean == "" {
			continue
		}
		if p.Pattern {
			p.Resolved = r.resolvePattern(p.Clean)
			continue
		}
		if p.Resolved == "" {
			p.Resolved = r.resolve(p.Clean)
		}
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
		target, isMade := r.made.at(next)
		if absent && !isMade { // no link is below a folder that does not exist
			at = next
			continue
		}
		var err error
		if !isMade {
			target, err = readLink(next)
		}
		switch {
		case err == nil:
			if links++; links > maxLinks || len(target)+len(rest) > maxPath {
				return ""
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			absent = false
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
