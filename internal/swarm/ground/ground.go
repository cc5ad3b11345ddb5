// Package ground is the git ground that a swarm stands on: the branch of a session, a working tree for each attempt, snapshots that
// can be gone back to, and the queue that brings the work of many onto one branch that is always green.
//
// The checkout of the person is never touched: nothing is checked out, stashed or reset there. [Repo.HandOver], which the person
// asks for, is the one exception, and it only fast-forwards.
//
// What git itself would lose lies under refs/mycelium: the commits of attempts whose trees are gone, snapshots, undo points. It runs
// the git program (2.38 or newer) with its settings named one by one: a worker owns its tree, so nothing in the tree, neither its
// .git file nor a repository inside it, decides where git looks or what git starts.
//
// A submodule, or any repository inside a tree, is not looked into: a snapshot has the commit that the index names and none of its
// files, an undo leaves its files alone, and a tree that holds one is not removed.
package ground

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
	"mycelium/internal/worktree"
	"mycelium/internal/worktree/git"
)

// Commit is the full name of a commit, 40 or 64 hexadecimal digits.
type Commit string

// Options say what a ground is.
type Options struct {
	Project string     // a folder in a working tree of the repository, absolute
	Trees   string     // where the working trees lie, absolute: workers write there, so it is no part of the state; empty: trees in State
	State   string     // a folder of our own, outside the checkout or ignored by it; it is created if it is not there
	Session string     // letters, digits, - and _; at most 64
	Inside  git.Inside // nil: there are no walls
	Share   []string   // paths below the project that git ignores and that each tree gets a copy of, such as node_modules
}

// Repo is the ground of one session. It is safe for concurrent use, also by several processes. One attempt's tree belongs to one
// caller at a time: nothing else may work in it during [Tree.Snapshot], [Tree.Undo] and [Tree.Remove].
type Repo struct {
	opts   Options
	top    string // of the person's checkout
	prefix string // from a top to the project
	common string // the git folder that all working trees share
	zero   string // the object name that stands for "no object"

	// unfiltered are settings that switch off the filters of the person, such as that of Git LFS: they are programs, and the files of workers
	// are no input for programs outside of their walls. So workers find what git keeps.
	unfiltered []string

	mu sync.Mutex // one working tree is made or removed at a time
}

// Open finds the repository of a project. It changes nothing in it. It refuses a folder without a repository, a bare repository, one
// without a commit, a git that is too old, a state that git would take into the project, and names that are not fit for a branch;
// each says how to mend that.
func Open(ctx context.Context, o Options) (_ *Repo, err error) {
	if err := checkName("session", o.Session); err != nil {
		return nil, err
	}
	r := &Repo{opts: o}
	ask := git.Git{Dir: o.Project}
	if err := checkVersion(ctx, ask); err != nil {
		return nil, err
	}
	if err := r.find(ctx, ask); err != nil {
		return nil, err
	}
	if r.opts.Trees == "" {
		r.opts.Trees = filepath.Join(o.State, "trees")
	}
	for _, folder := range []*string{&r.opts.State, &r.opts.Trees} {
		if *folder, err = r.folder(ctx, ask, *folder); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Join(r.opts.State, "empty"), 0o700); err != nil {
		return nil, fmt.Errorf("make the state of the swarm: %w", err)
	}
	return r, nil
}

// folder makes a folder of ours, and returns its path without links. It refuses one that git would take into the project.
func (r *Repo) folder(ctx context.Context, ask git.Git, path string) (string, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("make a folder of the swarm: %w", err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("find a folder of the swarm: %w", err)
	}
	if rel, err := filepath.Rel(r.top, resolved); err == nil && filepath.IsLocal(rel) {
		if _, err := ask.Run(ctx, "check-ignore", "-q", "--", resolved); err != nil {
			return "", text.Hinted(fmt.Errorf("the state %s lies in the project, and git would take it in", resolved),
				"put it outside, or into .gitignore")
		}
	}
	return resolved, nil
}

// checkVersion refuses a git without merge-tree --write-tree, which came with 2.38.0 (its release notes).
func checkVersion(ctx context.Context, ask git.Git) error {
	line, err := ask.Line(ctx, "version")
	if errors.Is(err, os.ErrNotExist) {
		if _, miss := os.Stat(ask.Dir); miss != nil {
			return fmt.Errorf("open the project: %w", miss)
		}
	}
	if err != nil {
		return text.Hinted(fmt.Errorf("start git: %w", err), "install git 2.38 or newer")
	}
	if v := parseVersion(line); v[0] < 2 || v[0] == 2 && v[1] < 38 {
		return text.Hinted(fmt.Errorf("the swarm needs git 2.38 or newer, and this is %q", text.OneLine(line)), "install a newer git")
	}
	return nil
}

// parseVersion reads the first two numbers of what "git version" prints, such as "git version 2.39.5 (Apple Git-154)".
func parseVersion(line string) (v [2]int) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return v
	}
	for i, part := range strings.SplitN(words[2], ".", 3) {
		if i < len(v) {
			v[i], _ = strconv.Atoi(part)
		}
	}
	return v
}

// find asks git once for what does not change while the repository stays where it is.
func (r *Repo) find(ctx context.Context, ask git.Git) error {
	common, err := ask.Line(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return text.Hinted(fmt.Errorf("find the repository of %s: %w", r.opts.Project, err), "run git init there, and commit")
	}
	top, err := ask.Line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return text.Hinted(fmt.Errorf("the repository of %s is bare: it has no checkout", r.opts.Project), "clone it, and work in the clone")
	}
	prefix, err := ask.Line(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return fmt.Errorf("find the project in its repository: %w", err)
	}
	head, err := ask.Line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return text.Hinted(fmt.Errorf("the repository %s has no commit yet", top), "git add what belongs to it, and git commit")
	}
	r.common, r.top, r.prefix, r.zero = common, top, prefix, strings.Repeat("0", len(head))
	names, err := ask.List(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	if err != nil && git.Code(err) != 1 { // there are none
		return fmt.Errorf("find the filters of git: %w", err)
	}
	for _, name := range names {
		value := ""
		if strings.HasSuffix(name, ".required") {
			value = "false"
		}
		r.unfiltered = append(r.unfiltered, "-c", name+"="+value)
	}
	return nil
}

// Head returns the commit of the person's checkout, and its branch: empty if none is checked out.
func (r *Repo) Head(ctx context.Context) (Commit, string, error) {
	g := git.Git{Dir: r.top}
	head, err := g.Line(ctx, "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return "", "", fmt.Errorf("find the commit of the checkout: %w", err)
	}
	branch, err := g.Line(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil && git.Code(err) != 1 {
		return "", "", fmt.Errorf("find the branch of the checkout: %w", err)
	}
	return Commit(head), branch, nil
}

// mostListed bounds what git may list, in bytes: 100 for each of two million files.
const mostListed = 256 << 20

// plumbing is git without any working tree: an empty folder stands for it, so that no file of a person or worker has a say.
func (r *Repo) plumbing(env ...string) git.Git {
	empty := filepath.Join(r.opts.State, "empty")
	env = append([]string{"GIT_DIR=" + r.common, "GIT_WORK_TREE=" + empty,
		"GIT_AUTHOR_NAME=Mycelium", "GIT_AUTHOR_EMAIL=mycelium@localhost",
		"GIT_COMMITTER_NAME=Mycelium", "GIT_COMMITTER_EMAIL=mycelium@localhost"}, env...)
	return git.Git{Dir: empty, Env: env, Settings: r.unfiltered, Most: mostListed}
}

// checkName refuses what is not fit to be a part of a branch name, a folder name and a ref. A dot is not allowed, so that the dot
// between the session and the attempt is the only one.
func checkName(what, name string) error {
	most := 64
	if what == "attempt" {
		most = 80 // the id of a feature, and a number
	}
	good := name != "" && len(name) <= most && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
	switch {
	case !good, strings.HasPrefix(name, "-"):
		return text.Hinted(fmt.Errorf("%s %q is not a name", what, text.Truncate(name, 80)), "take letters, digits, - and _, at most 64")
	case what == "attempt" && (name == queueName || name == "lock"):
		return text.Hinted(fmt.Errorf("%s %q is a name of git's or of the queue", what, name), "take another name")
	}
	return nil
}

// refs of one session.
func (r *Repo) branch() string                { return "refs/heads/swarm/" + r.opts.Session }
func (r *Repo) attemptBranch(a string) string { return r.branch() + "." + a }

// Branch returns the short name of the session's branch.
func (r *Repo) Branch() string { return "swarm/" + r.opts.Session }

// Prefix is the path from the top of a working tree to the project, with slashes; it ends in one, and is empty where both are the same.
func (r *Repo) Prefix() string { return r.prefix }

// Begin makes the session's branch at a commit. It does nothing if the branch stands there already, and refuses if it stands elsewhere.
func (r *Repo) Begin(ctx context.Context, from Commit) error {
	err := r.update(ctx, change{r.branch(), from, Commit(r.zero)})
	if tip, seen := r.Tip(ctx); err != nil && seen == nil {
		if tip == from {
			return nil
		}
		return text.Hinted(fmt.Errorf("the branch %s is there already, at %.12s", r.Branch(), tip), "take another name for the session")
	}
	return err
}

// Tip returns the commit at the session's branch.
func (r *Repo) Tip(ctx context.Context) (Commit, error) {
	tip, err := r.resolve(ctx, r.branch())
	if err != nil {
		return "", fmt.Errorf("find the branch %s of the session: %w", r.Branch(), err)
	}
	return tip, nil
}

func (r *Repo) resolve(ctx context.Context, revision string) (Commit, error) {
	line, err := r.plumbing().Line(ctx, "rev-parse", "--verify", "--end-of-options", revision+"^{commit}")
	return Commit(line), err
}

// lock keeps others from making and removing working trees: eight at a time lock each other inside git. A git that is given the lock
// file as its Hold has the lock too: when this process is killed, the next one waits until that git has ended.
func (r *Repo) lock(ctx context.Context) (held *os.File, unlock func(), err error) {
	r.mu.Lock()
	m, err := atomicfile.OpenMutex(filepath.Join(r.opts.State, "trees.lock"))
	if err == nil {
		if err = m.Lock(ctx, time.Minute); err == nil {
			return m.File(), func() { _ = m.Close(); r.mu.Unlock() }, nil
		}
		_ = m.Close()
	}
	r.mu.Unlock()
	return nil, nil, fmt.Errorf("wait for the working trees of the swarm: %w", err)
}

// project returns the folder in a tree that stands for the project; see [worktree.Main] for the way back.
func (r *Repo) project(top string) string { return filepath.Join(top, filepath.FromSlash(r.prefix)) }

// mainProject returns the project in the main working tree, which has what git ignores.
func (r *Repo) mainProject() string { return worktree.Main(r.project(r.top), r.owns()) }
