package ground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
	"mycelium/internal/worktree/git"
)

// Tree is the working tree of one attempt.
type Tree struct {
	Attempt string // "queue" for the queue's own
	Dir     string // its top
	Project string // the folder in it that stands for the project
	Branch  string // its branch, short; empty for the queue's own
	Half    bool   // it was not made to its end, or not removed to its end: [Repo.Recover] removes it

	own  string // its git folder
	repo *Repo
}

const (
	queueName  = "queue"
	halfMarker = "mycelium: not ready" // why git must leave a tree alone while we make or remove it
	gitsMarker = "initializing"        // the same, of git itself (builtin/worktree.c)
)

// owns is the folder with the driver's git folders of the working trees.
func (r *Repo) owns() string { return filepath.Join(r.opts.State, "git") }

// trees is the folder with the working trees.
func (r *Repo) trees() string { return r.opts.Trees }

func (r *Repo) tree(attempt string) *Tree {
	name := r.opts.Session + "." + attempt // git names the folder of a tree by the last element of its path
	dir := filepath.Join(r.trees(), name)
	t := &Tree{Attempt: attempt, Dir: dir, Project: r.project(dir), own: filepath.Join(r.owns(), name), repo: r}
	if attempt != queueName {
		t.Branch = strings.TrimPrefix(r.attemptBranch(attempt), "refs/heads/")
	}
	return t
}

// linked reports whether git's folder of the tree names the tree.
func (t *Tree) linked() bool {
	back, err := read(filepath.Join(t.own, "gitdir"), mostLine)
	return err == nil && strings.TrimSuffix(string(back), "\n") == filepath.Join(t.Dir, ".git")
}

// ref returns a ref of our own: what is kept of the attempt.
func (t *Tree) ref(kind, name string) string {
	return "refs/mycelium/" + kind + "/" + t.repo.opts.Session + "/" + t.Attempt + "/" + name
}

// in is git in a tree, with the driver's git folder. The folders are named, not looked for: what a worker wrote into the tree's .git does
// not lead us elsewhere.
func (t *Tree) in(env ...string) git.Git {
	g := t.repo.plumbing(append([]string{"GIT_DIR=" + t.own, "GIT_COMMON_DIR=" + t.repo.common, "GIT_WORK_TREE=" + t.Dir}, env...)...)
	g.Dir = t.Dir
	return g
}

// mostLine bounds a file of git's with one line: a path, which Linux bounds by 4096 bytes (linux/limits.h), and a word before it.
const mostLine = 4096 + 64

// read reads a file that a worker may have written, or may have put something else in the place of.
func read(file string, most int64) ([]byte, error) {
	f, info, err := atomicfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info.IsDir() || info.Size() > most {
		return nil, fmt.Errorf("%s is larger than any that git makes", file)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// Add makes the working tree of an attempt, with a branch of its own, and copies what is shared. It refuses a name that was used and
// not removed. What an error leaves behind, [Repo.Recover] removes. With 5,000 files and 3,000 that are copied, on a file system
// that cannot share blocks, it took 1.4 s of the processor with Remove (BenchmarkGround).
func (r *Repo) Add(ctx context.Context, attempt string, from Commit) (*Tree, error) {
	if err := checkName("attempt", attempt); err != nil {
		return nil, err
	}
	return r.tree(attempt).add(ctx, from)
}

// Queue returns the queue's own working tree, and makes it at the first time. It is reused, so that caches stay warm; see
// [Tree.Checkout].
func (r *Repo) Queue(ctx context.Context) (*Tree, error) {
	all, err := r.all()
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Attempt == queueName && !t.Half {
			return &t, nil
		}
	}
	tip, err := r.Tip(ctx)
	if err != nil {
		return nil, err
	}
	return r.tree(queueName).add(ctx, tip)
}

// add makes a working tree. Until it is whole, it is locked with a reason that says so.
func (t *Tree) add(ctx context.Context, from Commit) (*Tree, error) {
	_, unlock, err := t.repo.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := os.MkdirAll(t.repo.trees(), 0o700); err != nil {
		return nil, fmt.Errorf("make a working tree: %w", err)
	}
	for _, taken := range []string{t.own, t.Dir} {
		if _, err := os.Lstat(taken); err == nil {
			return nil, text.Hinted(fmt.Errorf("the working tree of %s is there already: %s", t.Attempt, taken), "remove it first")
		}
	}
	if from, err = t.repo.resolve(ctx, string(from)); err == nil {
		err = t.begin(ctx, from)
	}
	if err != nil {
		return nil, fmt.Errorf("make the working tree of %s: %w", t.Attempt, err)
	}
	if err := t.share(ctx); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(t.own, "locked")); err != nil { // all that git worktree unlock does
		return nil, fmt.Errorf("make the working tree of %s: %w", t.Attempt, err)
	}
	return t, nil
}

// List returns the working trees of the session's attempts, also those that a crash has left behind.
func (r *Repo) List() ([]Tree, error) {
	all, err := r.all()
	return slices.DeleteFunc(all, func(t Tree) bool { return t.Attempt == queueName }), err
}

// Named returns the working tree of an attempt; nil: there is none that is whole.
func (r *Repo) Named(attempt string) (*Tree, error) {
	all, err := r.List()
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Attempt == attempt && !t.Half {
			return &t, nil
		}
	}
	return nil, nil
}

// all returns the working trees of the session, the queue's own among them. It reads git's folders of them, because git does not
// list one that it has only begun to make.
func (r *Repo) all() ([]Tree, error) {
	entries, err := os.ReadDir(r.owns())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list working trees: %w", err)
	}
	var found []Tree
	for _, e := range entries {
		attempt, ours := strings.CutPrefix(e.Name(), r.opts.Session+".")
		if !ours || !e.IsDir() || attempt != queueName && checkName("attempt", attempt) != nil {
			continue
		}
		t := r.tree(attempt)
		_, err := os.Lstat(filepath.Join(t.own, "gitdir"))
		if err == nil && !t.linked() {
			continue // of another state
		}
		_, missing := os.Lstat(t.Dir)
		locked, _ := read(filepath.Join(t.own, "locked"), mostLine)
		why := strings.TrimSpace(string(locked))
		t.Half = err != nil || missing != nil || why == halfMarker || why == gitsMarker
		found = append(found, *t)
	}
	return found, nil
}

// UnsavedError says why a working tree stays: it has work that is neither committed nor in a snapshot.
type UnsavedError struct {
	Attempt string
	Files   []string // what has changed since the last commit and is in no snapshot
	Nested  []string // repositories inside the tree, which nobody looks into
}

func (e *UnsavedError) Error() string {
	if len(e.Nested) > 0 {
		return fmt.Sprintf("the working tree of %s holds %s, a repository of its own, which is in no snapshot: remove that folder first",
			e.Attempt, text.OneLine(e.Nested[0]))
	}
	return fmt.Sprintf("the working tree of %s has %s in no commit and no snapshot, such as %s: take a snapshot first",
		e.Attempt, text.Count(len(e.Files), "changed file"), text.OneLine(e.Files[0]))
}

// Remove removes the working tree of an attempt and its branch. The commits stay under refs/mycelium/attempts. It refuses with an
// [*UnsavedError] if the tree has changed or untracked files that are in no snapshot of the attempt; files that git ignores are not
// work, and go. To remove what is not there is no error.
func (t *Tree) Remove(ctx context.Context) error {
	_, unlock, err := t.repo.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Lstat(t.own); errors.Is(err, fs.ErrNotExist) {
		return t.keep(ctx)
	}
	if t.Branch != "" { // in the queue's own, only verifications work
		if err := t.checkSaved(ctx); err != nil {
			return err
		}
	}
	return t.drop(ctx)
}

func (t *Tree) checkSaved(ctx context.Context) error {
	if err := t.gather(ctx); err != nil {
		return err
	}
	state, err := t.look(ctx)
	if err != nil {
		return err
	}
	defer state.close()
	if len(state.nested) > 0 {
		return &UnsavedError{Attempt: t.Attempt, Nested: state.nested}
	}
	g := t.repo.plumbing()
	known, err := g.Run(ctx, "for-each-ref", "--format=%(tree)", t.ref("snapshots", ""), t.ref("undo", ""))
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	if slices.Contains(strings.Fields(string(known)), state.tree) {
		return nil
	}
	files, err := g.List(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", string(state.head), state.tree)
	if err != nil {
		return fmt.Errorf("compare the working tree of %s with its commit: %w", t.Attempt, err)
	}
	if len(files) > 0 {
		return &UnsavedError{Attempt: t.Attempt, Files: files}
	}
	return nil
}

// drop removes a working tree after its commits are kept.
func (t *Tree) drop(ctx context.Context) error {
	if err := atomicfile.Write(filepath.Join(t.own, "locked"), []byte(halfMarker), 0o600); err != nil { // if we die, Recover goes on
		return fmt.Errorf("remove the working tree of %s: %w", t.Attempt, err)
	}
	if head, err := read(filepath.Join(t.own, "HEAD"), mostLine); err == nil && t.Branch != "" {
		if at := strings.TrimSpace(string(head)); at != "ref: refs/heads/"+t.Branch {
			if err := t.keepHead(ctx, strings.TrimPrefix(at, "ref: ")); err != nil {
				return err
			}
		}
	}
	if err := t.keepBranches(ctx); err != nil {
		return err
	}
	if err := removeAll(t.Dir); err != nil {
		return fmt.Errorf("remove the working tree of %s: %w", t.Attempt, err)
	}
	if err := removeAll(t.own); err != nil {
		return fmt.Errorf("remove the working tree of %s: %w", t.Attempt, err)
	}
	return t.keep(ctx)
}

// keepHead keeps the commit of a tree that is not on its own branch.
func (t *Tree) keepHead(ctx context.Context, at string) error {
	commit, err := t.repo.resolve(ctx, at)
	if err != nil {
		return nil //nolint:nilerr // a branch without a commit has nothing to keep
	}
	return t.repo.update(ctx, change{t.ref("attempts", "head-"+string(commit[:12])), commit, ""})
}

// keepBranches keeps the commits of the worker's other branches.
func (t *Tree) keepBranches(ctx context.Context) error {
	theirs, err := t.branches(ctx)
	if err != nil || len(theirs) == 0 {
		return err
	}
	var changes []change
	kept := map[Commit]bool{}
	for _, at := range []string{"refs/heads/" + t.Branch, "HEAD"} { // which are kept by their own names
		if c, err := t.in().Line(ctx, "rev-parse", "--verify", "--quiet", at); err == nil {
			kept[Commit(c)] = true
		}
	}
	for ref, c := range theirs {
		session := strings.HasPrefix(ref, t.repo.branch()) && !strings.HasPrefix(ref, t.repo.attemptBranch(t.Attempt))
		if !kept[c] && !session && t.Branch != "" {
			changes = append(changes, change{t.ref("attempts", "head-"+string(c[:12])), c, ""})
		}
		kept[c] = true
		changes = append(changes, change{t.ref("fetched", ref), Commit(t.repo.zero), c})
	}
	return t.repo.update(ctx, changes...)
}

// keep turns the branch of an attempt into a ref of our own. The same attempt may be made, removed and made again: each commit is kept.
func (t *Tree) keep(ctx context.Context) error {
	if t.Branch == "" {
		return nil
	}
	tip, err := t.repo.resolve(ctx, "refs/heads/"+t.Branch)
	if err != nil {
		return nil //nolint:nilerr // it is kept already
	}
	return t.repo.update(ctx, change{t.ref("attempts", string(tip[:12])), tip, ""},
		change{"refs/heads/" + t.Branch, Commit(t.repo.zero), tip})
}

// removeAll removes a folder, also one in which folders are read-only, as the module cache of Go makes them.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(path, 0o700) //nolint:gosec // a folder that is about to go
			if err != nil {
				return fs.SkipDir
			}
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Recover takes over the trees of a session that an earlier version began, and removes what a crash has left: trees that were not made or not removed to their end, the branches of attempts without a
// tree, whose commits it keeps, and temporary files. It is called at the start, before anything else works on the ground.
func (r *Repo) Recover(ctx context.Context) error {
	_, unlock, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := r.adopt(ctx); err != nil {
		return err
	}
	all, err := r.all()
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, t := range all {
		has[t.Branch] = !t.Half
		if t.Half {
			if err := t.drop(ctx); err != nil {
				return err
			}
		}
	}
	branches, err := r.plumbing().Run(ctx, "for-each-ref", "--format=%(refname:lstrip=2)", r.attemptBranch("*"))
	if err != nil {
		return fmt.Errorf("list the branches of attempts: %w", err)
	}
	for _, b := range strings.Fields(string(branches)) {
		attempt := strings.TrimPrefix(b, r.Branch()+".")
		if !has[b] && checkName("attempt", attempt) == nil {
			if err := r.tree(attempt).keep(ctx); err != nil {
				return err
			}
		}
	}
	leftovers, err := filepath.Glob(filepath.Join(r.opts.State, scratchPrefix+"*"))
	for _, dir := range leftovers {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}
