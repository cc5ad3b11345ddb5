package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// Workers of the swarm work in trees with a repository of their own. That such a tree belongs to a project stands in the state and nowhere
// else: the .git of the tree is the worker's. For each tree there is a git folder of its name in the state. Its file gitdir names the .git
// of the tree, as in a linked working tree, and its file main the top of the project's repository.

// Worker returns the tree of a worker that a folder lies in. workers is the folder of the state with the git folders of the trees; "" means
// that there are none. dir is absolute and has its links resolved.
func Worker(dir, workers string) (Tree, bool) {
	if workers == "" {
		return Tree{}, false
	}
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		own := filepath.Join(workers, filepath.Base(at))
		if link, ok := readLink(filepath.Join(own, "gitdir"), ""); !ok || link != filepath.Join(at, gitName) {
			continue
		}
		if main, ok := readLink(filepath.Join(own, "main"), ""); ok {
			return Tree{Dir: at, Main: main, Own: own}, true
		}
	}
	return Tree{}, false
}

// ofWorkers returns the folders in the trees of workers that stand for a folder of the main working tree.
func ofWorkers(workers, dir string) (out []string) {
	if workers == "" {
		return nil
	}
	entries, err := os.ReadDir(workers)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), maxLinked)] {
		link, ok := readLink(filepath.Join(workers, e.Name(), "gitdir"), "")
		if !ok {
			continue
		}
		t, ok := Worker(filepath.Dir(link), workers)
		if rest, below := strings.CutPrefix(dir, t.Main); ok && below && (rest == "" || rest[0] == '/') {
			out = append(out, t.Dir+rest)
		}
	}
	return out
}
