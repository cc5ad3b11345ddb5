package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Cache finds what [Linked] finds, and looks again only if one of the files has changed that the last answer came from. It is safe for
// concurrent use. The zero value is ready.
type Cache struct {
	Workers string // see [Of]. What is in there is looked at each time.

	mu     sync.Mutex
	dir    string
	found  []string
	looked []stamp
}

// stamp is what a file was when it was looked at. A file that was not there has the zero identity.
type stamp struct {
	path string
	is   identity
}

// settled is how old a change must be so that another one has another time: more than the clock of any file system's times is coarse,
// which is 2 s on FAT.
const settled = 3 * time.Second

// identity changes when a file is written or replaced. The system sets the time of the last change itself, so it cannot be put back.
type identity struct {
	device, inode uint64
	size          int64
	changed       syscall.Timespec
}

// identify looks at a file, without following a link.
func identify(path string) (id identity) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) == nil {
		id = identity{uint64(st.Dev), st.Ino, st.Size, changeTime(&st)} //nolint:unconvert // the widths differ between systems
	}
	return id
}

// Linked is like the function.
func (c *Cache) Linked(dir string) []string {
	return append(slices.Clip(c.ofGit(dir)), ofWorkers(c.Workers, dir)...)
}

// ofGit are the linked working trees of git.
func (c *Cache) ofGit(dir string) []string {
	if !filepath.IsAbs(dir) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	same := func(s stamp) bool { return identify(s.path) == s.is }
	if c.dir == dir && len(c.looked) > 0 && !slices.ContainsFunc(c.looked, func(s stamp) bool { return !same(s) }) {
		return c.found
	}
	c.dir, c.found, c.looked = dir, nil, nil
	now := time.Now()
	c.look()
	if slices.ContainsFunc(c.looked, func(s stamp) bool { return s.is.changed.Nano() > now.Add(-settled).UnixNano() }) {
		c.looked = nil // a second change could have the same time
	}
	return c.found
}

// note keeps what a file is before it is read.
func (c *Cache) note(path string) { c.looked = append(c.looked, stamp{path, identify(path)}) }

// look looks for the working trees anew.
func (c *Cache) look() {
	top, info := nearest(c.dir)
	isMain := info != nil && info.IsDir()
	for at := c.dir; at != top || !isMain; at = filepath.Dir(at) { // a repository may be made there
		if c.note(filepath.Join(at, gitName)); at == top || at == filepath.Dir(at) {
			return
		}
	}
	common := filepath.Join(top, gitName)
	folder := filepath.Join(common, treesName)
	c.note(folder)
	f, err := os.Open(folder)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	for _, name := range settingsFiles {
		c.note(filepath.Join(common, name))
	}
	entries, _ := f.ReadDir(maxLinked)
	if len(entries) == 0 || !hasTree(common) {
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if tree, ok := c.linked(filepath.Join(folder, e.Name()), common); ok {
			c.found = append(c.found, tree+c.dir[len(top):])
		}
	}
}

// linked returns the working tree that a git folder names, if the tree names it, too.
func (c *Cache) linked(own, common string) (tree string, ok bool) {
	c.note(filepath.Join(own, "gitdir"))
	c.note(filepath.Join(own, "commondir"))
	back, ok := readLink(filepath.Join(own, "gitdir"), "")
	if !ok || filepath.Base(back) != gitName {
		return "", false
	}
	c.note(back)
	tree, err := filepath.EvalSymlinks(filepath.Dir(back))
	if err != nil {
		return "", false
	}
	link := filepath.Join(tree, gitName)
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	forth, ok := readLink(link, "gitdir: ")
	return tree, ok && leads(forth, own) && names(own, tree, common)
}
