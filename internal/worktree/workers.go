package worktree

import (
	"os"
	"path/filepath"
	"strings"
)

// Workers of the swarm work in trees with a repository of their own. That such a tree belongs to a project stands in the state and nowhere
// else: what is in the tree is the worker's. The trees of a project lie in STATE-trees/PROJECT, and for each there is a folder of its name
// in STATE/projects/PROJECT/swarm/git.

// The files of a record.
const (
	recordTree = "gitdir" // the .git of the tree
	recordMain = "main"   // the top of the project's repository
)

// records returns the folder of the state that has the records of the trees in a folder; "" if it is none of that kind.
func records(trees string) string {
	root, ok := strings.CutSuffix(filepath.Dir(trees), "-trees")
	if !ok || root == "" || strings.HasSuffix(root, "/") {
		return ""
	}
	return filepath.Join(root, "projects", filepath.Base(trees), "swarm", "git")
}

// ofWorker returns the tree of a worker that a folder lies in.
func ofWorker(dir string) (Tree, bool) {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if folder := records(filepath.Dir(at)); folder != "" {
			own := filepath.Join(folder, filepath.Base(at))
			if main, ok := record(own, at); ok {
				return Tree{Dir: at, Main: main, Record: own}, true
			}
		}
	}
	return Tree{}, false
}

// record reads the record of a tree.
func record(folder, tree string) (main string, ok bool) {
	to, ok := readLink(filepath.Join(folder, recordTree), "")
	if !ok || tree != "" && to != filepath.Join(tree, gitName) {
		return "", false
	}
	return readLink(filepath.Join(folder, recordMain), "")
}

// Worker returns the tree of a worker that a folder lies in. What is in its .git is the worker's.
func Worker(dir string) (Tree, bool) { return ofWorker(dir) }

// All returns the folders of all working trees that stand for a folder of the main one: the linked ones, and those of workers. records is
// the folder with the records of the latter.
func All(dir, records string) []string { return (&Cache{Records: records}).Linked(dir) }

// Workers returns the folders in the trees of workers that stand for a folder of the main working tree. folder has their records.
func Workers(folder, dir string) (out []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries[:min(len(entries), maxLinked)] {
		own := filepath.Join(folder, e.Name())
		main, ok := record(own, "")
		rest, below := strings.CutPrefix(dir, main)
		if !ok || !below || rest != "" && rest[0] != '/' {
			continue
		}
		if link, ok := readLink(filepath.Join(own, recordTree), ""); ok {
			if t, ok := ofWorker(filepath.Dir(link)); ok && t.Main == main {
				out = append(out, t.Dir+rest)
			}
		}
	}
	return out
}
