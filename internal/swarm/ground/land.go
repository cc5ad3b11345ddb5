package ground

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/text"
	"mycelium/internal/worktree/git"
)

// change of a ref, in one transaction with others. An old of zeros means that it must not exist, an empty one that anything may
// stand there; a new of zeros deletes it.
type change struct {
	ref      string
	new, old Commit
}

// staleLock is the age from which the lock of a ref is of a git that was killed: git holds one for milliseconds.
const staleLock = 5 * time.Second

// update changes refs, all or none.
func (r *Repo) update(ctx context.Context, changes ...change) error {
	var in strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&in, "update %s\x00%s\x00%s\x00", c.ref, c.new, c.old)
	}
	run := func() error {
		return r.plumbing().Pipe(ctx, strings.NewReader(in.String()), io.Discard,
			"update-ref", "-m", "mycelium", "--create-reflog", "-z", "--stdin")
	}
	err := run()
	if err != nil && r.unlockStale(changes) {
		err = run()
	}
	if err != nil {
		return fmt.Errorf("move %s: %w", changes[0].ref, err)
	}
	return nil
}

// unlockStale removes the locks of refs of ours that a killed git has left. It reports whether there was one.
func (r *Repo) unlockStale(changes []change) (removed bool) {
	for _, c := range changes {
		lock := filepath.Join(r.common, c.ref+".lock")
		if info, err := os.Lstat(lock); err == nil && time.Since(info.ModTime()) > staleLock {
			removed = os.Remove(lock) == nil || removed
		}
	}
	return removed
}

// MovedError says that a branch is not where it was thought to be: somebody else was faster.
type MovedError struct {
	Branch   string
	Old, Now Commit
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s is at %.12s and no longer at %.12s: merge anew", e.Branch, e.Now, e.Old)
}

// Land moves the session's branch from one commit to another that was made on it, by compare and swap. It fails with a [*MovedError]
// if the branch is elsewhere, and refuses while somebody has the branch checked out, because their files would no longer be what
// their branch says. Who calls it has recorded what is to land, and asks [Repo.Landed] after a crash.
func (r *Repo) Land(ctx context.Context, old, to Commit) error {
	at, err := r.checkedOut(ctx, r.branch())
	if err != nil {
		return err
	}
	if at != "" {
		return text.Hinted(fmt.Errorf("the branch %s is checked out in %s, so nothing can land on it", r.Branch(), text.OneLine(at)),
			"switch to another branch there")
	}
	err = r.update(ctx, change{r.branch(), to, old})
	if err == nil {
		return nil
	}
	if now, seen := r.Tip(ctx); seen == nil && now != old {
		return &MovedError{r.Branch(), old, now}
	}
	return err
}

// Whether is what happened to a landing that nobody saw the end of.
type Whether int

// The answers of [Repo.Landed].
const (
	Elsewhere Whether = iota // the branch is at neither: verify anew
	Yes                      // it is at the new commit, or beyond it
	No                       // it is at the old one: land once more
)

// Landed says, after a crash, whether the landing from old to a new commit took place.
func (r *Repo) Landed(ctx context.Context, old, to Commit) (Whether, error) {
	tip, err := r.Tip(ctx)
	if err != nil {
		return Elsewhere, err
	}
	switch tip {
	case to:
		return Yes, nil
	case old:
		return No, nil
	}
	_, err = r.plumbing().Run(ctx, "merge-base", "--is-ancestor", string(to), string(tip))
	switch git.Code(err) {
	case 0:
		return Yes, nil
	case 1:
		return Elsewhere, nil
	}
	return Elsewhere, fmt.Errorf("find out whether %.12s has landed: %w", to, err)
}

// checkedOut returns the working tree that has a branch checked out; empty if none has.
func (r *Repo) checkedOut(ctx context.Context, ref string) (string, error) {
	out, err := r.plumbing().Run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", fmt.Errorf("find who has %s checked out: %w", ref, err)
	}
	for record := range strings.SplitSeq(string(out), "\x00\x00") {
		dir := ""
		for line := range strings.SplitSeq(record, "\x00") {
			if d, ok := strings.CutPrefix(line, "worktree "); ok {
				dir = d
			}
			if line == "branch "+ref {
				return dir, nil
			}
		}
	}
	return "", nil
}

// HandOver moves a branch of the person forward to a commit that has landed. It is called when the person asks for it. moved is false where the
// branch has that commit already, and nothing is done then. It refuses what is no fast-forward. Where the branch is checked out, git
// changes the files that differ, and refuses, with nothing changed, if one of them has changes that are not committed or lies where an
// untracked or ignored file is; other changes stay. No hook runs.
func (r *Repo) HandOver(ctx context.Context, branch string, tip Commit) (moved bool, err error) {
	ref := "refs/heads/" + branch
	old, err := r.resolve(ctx, ref)
	if err != nil {
		return false, text.Hinted(fmt.Errorf("hand over to the branch %s: %w", text.OneLine(branch), err), "name a branch that is there")
	}
	if _, err := r.plumbing().Run(ctx, "merge-base", "--is-ancestor", string(old), string(tip)); err != nil {
		if git.Code(err) == 1 {
			return false, text.Hinted(fmt.Errorf("%s has commits that %s does not have: it cannot be moved forward", branch, r.Branch()),
				"git merge "+r.Branch()+", or open a pull request")
		}
		return false, fmt.Errorf("hand over to the branch %s: %w", branch, err)
	}
	if old == tip {
		return false, nil
	}
	at, err := r.checkedOut(ctx, ref)
	if err != nil {
		return false, err
	}
	if at == "" {
		err = r.update(ctx, change{ref, tip, old})
	} else {
		err = fastForward(ctx, at, branch, tip)
	}
	return err == nil, err
}

// Restore puts the session's branch back to a commit that has landed, if it stands elsewhere or is gone, and keeps the commit at which it
// stood under a ref of our own. It returns that ref; "" if the branch was in its place, or gone. It refuses while somebody has the branch
// checked out.
func (r *Repo) Restore(ctx context.Context, to Commit) (kept string, err error) {
	now, err := r.Tip(ctx)
	if err == nil && now == to {
		return "", nil
	}
	at, busy := r.checkedOut(ctx, r.branch())
	if busy == nil && at != "" {
		busy = text.Hinted(fmt.Errorf("the branch %s was moved, and is checked out in %s", r.Branch(), text.OneLine(at)),
			"switch to another branch there")
	}
	switch {
	case busy != nil:
		return "", busy
	case err != nil:
		return "", r.update(ctx, change{r.branch(), to, Commit(r.zero)})
	}
	kept = Keep{r}.keptAt("moved") + string(now[:12])
	return kept, r.update(ctx, change{kept, now, ""}, change{r.branch(), to, now})
}

// Ends returns the commit of a branch of the person, that of the session, and the one that both share, from which they differ.
func (r *Repo) Ends(ctx context.Context, branch string) (old, tip, shared Commit, err error) {
	if tip, err = r.Tip(ctx); err == nil {
		old, err = r.resolve(ctx, "refs/heads/"+branch)
	}
	if err != nil {
		return "", "", "", text.Hinted(fmt.Errorf("compare with the branch %s: %w", text.OneLine(branch), err), "name a branch that is there")
	}
	base, err := r.plumbing().Line(ctx, "merge-base", string(old), string(tip))
	if err != nil {
		return "", "", "", fmt.Errorf("compare with the branch %s: %w", text.OneLine(branch), err)
	}
	return old, tip, Commit(base), nil
}

// End ends the session: it removes the queue's working tree and the session's branch. The commits stay under refs/mycelium/sessions.
// It refuses while an attempt has a working tree, and while somebody has the branch checked out. Nothing of another session is
// touched.
func (r *Repo) End(ctx context.Context) error {
	all, err := r.all()
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Attempt != queueName {
			return text.Hinted(fmt.Errorf("the attempt %s has a working tree still: %s", t.Attempt, t.Dir), "remove it first")
		}
	}
	if at, err := r.checkedOut(ctx, r.branch()); err != nil || at != "" {
		return errors.Join(err, text.Hinted(fmt.Errorf("the branch %s is checked out in %q", r.Branch(), at), "switch to another branch there"))
	}
	for _, t := range all {
		if err := t.Remove(ctx); err != nil {
			return err
		}
	}
	if err := removeAll(r.pool()); err != nil {
		return fmt.Errorf("remove what the workers of the session have read: %w", err)
	}
	_ = os.Remove(filepath.Dir(r.pool())) // if no other session has any
	tip, err := r.Tip(ctx)
	if err != nil {
		return nil //nolint:nilerr // it has ended already
	}
	kept := "refs/mycelium/sessions/" + r.opts.Session + "/" + string(tip[:12])
	return r.update(ctx, change{kept, tip, ""}, change{r.branch(), Commit(r.zero), tip})
}

// fastForward moves the branch that a working tree has checked out.
func fastForward(ctx context.Context, dir, branch string, tip Commit) error {
	g := git.Git{Dir: dir, Settings: []string{"-c", "merge.autoStash=false", "-c", "merge.verifySignatures=false"}}
	on, err := g.Line(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil || on != "refs/heads/"+branch {
		return text.Hinted(fmt.Errorf("%s is in the middle of something with %s", dir, branch), "end the rebase or bisection there first")
	}
	for _, under := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		path, err := g.Line(ctx, "rev-parse", "--path-format=absolute", "--git-path", under)
		if err != nil {
			return fmt.Errorf("hand over to %s: %w", dir, err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return text.Hinted(fmt.Errorf("%s is in the middle of a merge or rebase", dir), "end it first")
		}
	}
	if _, err := g.Run(ctx, "merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-stat", string(tip)); err != nil {
		return text.Hinted(fmt.Errorf("hand over in %s, where nothing has changed: %w", dir, err), "commit or move these files, and ask again")
	}
	return nil
}
