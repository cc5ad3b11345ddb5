// Package worktree says how the working trees of a git repository belong together, from git's own files: which linked working trees a main
// one has, and of which main one a folder is a linked one. It does not run git, because a repository's settings can make git run a program.
//
// An agent may write a file that looks like git's. So a link counts only if both ends name each other.
package worktree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mycelium/internal/atomicfile"
)

// Bounds of what is read. Git writes one path into each of these files, and Linux bounds a path by PATH_MAX (linux/limits.h).
const (
	maxLink     = 4096 + 64 // bytes of a file with one path
	maxSettings = 1 << 20   // bytes of a file with settings
	maxLinked   = 1000      // working trees of one repository; those beyond are not found, so no project is wider by them
)

// treesName is the folder in a repository that has a git folder for each linked working tree.
const treesName = "worktrees"

// gitName is the name of a repository's folder in its main working tree, and of the file that links another working tree to it.
const gitName = ".git"

// Tree is a linked working tree. Both paths are absolute and have their links resolved.
type Tree struct {
	Dir  string // its top
	Main string // the top of the main working tree

	// Own is the git folder in the state of the tree of a worker, with an index and a HEAD of ours; "" for a linked working tree.
	Own string
}

// Of returns the linked working tree, or the tree of a worker, that a folder lies in. workers is the folder of the state with the git folders
// of the trees of a project's workers; "" means that there are none. dir is absolute and has its links resolved. Of returns false for any
// other folder: one of a main working tree, of a submodule, of no repository, and of a repository without a main working tree (a bare one).
func Of(dir, workers string) (Tree, bool) {
	if t, ok := Worker(dir, workers); ok {
		return t, true
	}
	top, info := nearest(dir)
	if info == nil || !info.Mode().IsRegular() {
		return Tree{}, false
	}
	own, ok := readLink(filepath.Join(top, gitName), "gitdir: ")
	if !ok {
		return Tree{}, false
	}
	own, err := filepath.EvalSymlinks(own)
	if err != nil {
		return Tree{}, false
	}
	folder := filepath.Dir(own)
	common := filepath.Dir(folder)
	return Tree{Dir: top, Main: filepath.Dir(common)},
		filepath.Base(folder) == treesName && filepath.Base(common) == gitName && names(own, top, common) && hasTree(common)
}

// nearest returns the nearest folder upward that has a .git, and what that is. The information is nil if there is none.
func nearest(dir string) (string, fs.FileInfo) {
	for {
		if info, err := os.Lstat(filepath.Join(dir, gitName)); err == nil {
			return dir, info
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}

// names reports whether the git folder of a linked working tree names its top and the repository. These paths have their links resolved.
func names(own, top, common string) bool {
	back, ok := readLink(filepath.Join(own, "gitdir"), "")
	if !ok || filepath.Base(back) != gitName || !leads(filepath.Dir(back), top) {
		return false
	}
	shared, ok := readLink(filepath.Join(own, "commondir"), "") // a submodule has none
	return ok && leads(shared, common)
}

// leads reports whether a path leads to a folder whose links are resolved.
func leads(path, to string) bool {
	if path == to {
		return true
	}
	resolved, err := filepath.EvalSymlinks(path)
	return err == nil && resolved == to
}

// settingsFiles are the files of a repository that say where its main working tree is.
var settingsFiles = []string{"config", "config.worktree"}

// hasTree reports whether a repository that is named .git has its working tree beside it. A bare one has none; core.worktree puts it
// elsewhere.
func hasTree(common string) bool {
	if info, err := os.Lstat(common); err != nil || !info.IsDir() {
		return false
	}
	for _, name := range settingsFiles {
		text, err := read(filepath.Join(common, name), maxSettings)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false
		}
		for key, value := range Settings(text) {
			if key == "core.worktree" || key == "core.bare" && !isFalse(value) {
				return false
			}
		}
	}
	return true
}

// readLink reads a file with one path, which follows a prefix. A relative path begins at the folder of the file (git 2.48 and
// worktree.useRelativePaths). The path is absolute and cleaned.
func readLink(file, prefix string) (path string, ok bool) {
	text, err := read(file, maxLink)
	if err != nil {
		return "", false
	}
	path, ok = strings.CutPrefix(string(text), prefix)
	path = strings.TrimRight(path, "\r\n")
	if !ok || path == "" || strings.ContainsAny(path, "\x00\n") {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.Clean(path), true
}

// errLarge means that a file is larger than any that git writes.
var errLarge = errors.New("too large")

// read reads a regular file of at most so many bytes.
func read(file string, most int64) ([]byte, error) {
	f, info, err := atomicfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.IsDir() || info.Size() > most {
		return nil, errLarge
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = errLarge
	}
	return text, err
}

// Main returns the folder of the main working tree that a folder of a linked one stands for: the one with the same path below the top, or
// the nearest folder above it that is there. Links below the top are not followed, because they can lead to another project. A folder that
// lies in neither a linked working tree nor the tree of a worker stands for itself. The arguments are those of [Of].
func Main(dir, workers string) string {
	t, ok := Of(dir, workers)
	if !ok {
		return dir
	}
	at := t.Main
	for name := range strings.SplitSeq(strings.TrimPrefix(dir[len(t.Dir):], "/"), "/") {
		next := filepath.Join(at, name)
		if info, err := os.Lstat(next); err != nil || !info.IsDir() {
			break
		}
		at = next
	}
	return at
}

// Linked returns the folders of all other working trees that stand for a folder of the main one; see [Main]. They need not be there, only
// the tops of their trees are. The arguments are those of [Of].
func Linked(dir, workers string) []string {
	return (&Cache{Workers: workers}).Linked(dir)
}
