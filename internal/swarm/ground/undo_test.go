package ground

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/text"
)

// TestUndoFiles: only the files that are named go back, folders whole; the branch and everything else stay; and that is undone too.
func TestUndoFiles(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	write(t, "draft", tree.Dir, "draft")
	write(t, "old ignored", tree.Dir, "sub/x.log")
	snap := must[Commit](t)(tree.Snapshot(ctx, "s"))
	head := commit(t, tree, map[string]string{"a": "changed", "sub/new": "new", "sub/b": "changed", "draft": "changed", ":(top)odd": "odd"})
	write(t, "ignored", tree.Dir, "sub/x.log")
	now := contents(t, tree.Dir)
	point := must[Commit](t)(tree.Undo(ctx, "u", snap, "sub/", "draft", ":(top)odd"))
	for name, want := range map[string]string{"draft": "draft", "sub/b": "b\n", "sub/x.log": "ignored", "a": "changed"} {
		if got := read1(t, tree.Dir, name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if exists(tree.Dir, "sub/new") || exists(tree.Dir, ":(top)odd") {
		t.Error("files that came since are there")
	}
	if got := run(t, tree.Dir, "rev-parse", "HEAD"); got != string(head) {
		t.Errorf("the branch has moved to %s", got)
	}
	must[Commit](t)(tree.Undo(ctx, "uu", point, "sub", "draft", ":(top)odd"))
	same(t, "undone", contents(t, tree.Dir), now)
}

// TestUndoRefuses: a path that leaves the tree, and one that nobody knows, before anything has changed.
func TestUndoRefuses(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	snap := must[Commit](t)(tree.Snapshot(ctx, "s"))
	write(t, "changed", tree.Dir, "a")
	if err := os.Symlink("/etc", filepath.Join(tree.Dir, "out")); err != nil {
		t.Fatal(err)
	}
	now := contents(t, tree.Dir)
	for path, want := range map[string]string{"../a": "not the path", "/etc/passwd": "not the path", "sub/../../a": "not the path",
		".": "not the path", "": "not the path", ".git/config": "not the path", "sub/.GIT/x": "not the path", "out/passwd": "symbolic link",
		"absent": "neither", "*": "neither",
		"sub//b": "not the path", "\x00": "not the path"} {
		if _, err := tree.Undo(ctx, "u", snap, "a", path); err == nil || !strings.Contains(err.Error(), want) || text.HintOf(err) == "" {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, to := range []Commit{"", "absent", "--all", Commit(strings.Repeat("1", 40))} {
		if _, err := tree.Undo(ctx, "u", to); err == nil {
			t.Errorf("went back to %q", to)
		}
	}
	if _, err := must[*Tree](t)(p.Queue(ctx)).Undo(ctx, "u", snap); err == nil {
		t.Error("undid the queue")
	}
	same(t, "after refusals", contents(t, tree.Dir), now)
	if refs := run(t, p.top, "for-each-ref", "refs/mycelium/undo"); refs != "" {
		t.Errorf("an undo point: %s", refs)
	}
	must[Commit](t)(tree.Undo(ctx, "u", snap, "out")) // the link itself
	if exists(tree.Dir, "out") {
		t.Error("the link is there")
	}
}

// TestUndoMidway: in the middle of a merge, on another branch, with locks of a git that was killed, and an undo that was broken off.
func TestUndoMidway(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	write(t, "draft", tree.Dir, "draft")
	snap := must[Commit](t)(tree.Snapshot(ctx, "s"))
	want := contents(t, tree.Dir)
	own := commit(t, tree, map[string]string{"a": "own"})
	run(t, tree.Dir, "checkout", "-q", "-b", "aside", string(p.base))
	aside := commit(t, tree, map[string]string{"a": "aside"})
	if out, err := runs(tree.Dir, "merge", tree.Branch); err == nil || !strings.Contains(out, "CONFLICT") {
		t.Fatalf("no conflict: %s", out)
	}
	for _, lock := range []string{"index.lock", "HEAD.lock"} {
		write(t, "", tree.own, lock)
	}
	now := contents(t, tree.Dir)
	point := must[Commit](t)(tree.Undo(ctx, "u", snap))
	same(t, "undone", contents(t, tree.Dir), want)
	on := "# branch.oid " + string(p.base) + "\n# branch.head " + tree.Branch + "\n"
	if got := run(t, tree.Dir, "status", "--porcelain=2", "--branch"); !strings.Contains(got, on) ||
		exists(tree.Dir, ".git/MERGE_HEAD") || !strings.HasSuffix(got, "? draft") {
		t.Errorf("after the undo:\n%s", got)
	}
	if got := run(t, tree.Dir, "rev-parse", "aside"); got != string(aside) {
		t.Errorf("the other branch is at %s", got)
	}
	if got := run(t, p.top, "rev-parse", "refs/mycelium/attempts/s-1/w/"+string(own[:12])); got != string(own) {
		t.Errorf("the work on its own branch is lost: %s", got)
	}
	must[Commit](t)(tree.Undo(ctx, "uu", point))
	same(t, "the undo is undone", contents(t, tree.Dir), now)

	if err := os.Remove(filepath.Join(tree.Dir, "sub/b")); err != nil { // as if the undo "v" had been killed after its undo point
		t.Fatal(err)
	}
	whole := contents(t, tree.Dir)
	first := must[Commit](t)(tree.Undo(ctx, "v", point))
	write(t, "half", tree.Dir, "half")
	if again := must[Commit](t)(tree.Undo(ctx, "v", snap)); again != first {
		t.Errorf("the undo point is %s, want the first, %s", again, first)
	}
	same(t, "finished", contents(t, tree.Dir), want)
	must[Commit](t)(tree.Undo(ctx, "vv", first))
	same(t, "the first undo point", contents(t, tree.Dir), whole)
	if got := run(t, p.top, "for-each-ref", "--format=%(objectname)", "refs/mycelium/undo/s-1/w/"); !strings.Contains(got, "\n") {
		t.Errorf("the half way is not kept: %s", got)
	}
}

// TestUndoKeepsIgnored: what is ignored now and lay in the snapshot is overwritten, and comes back with the undo of the undo.
func TestUndoKeepsIgnored(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	write(t, "one", tree.Dir, "local")
	write(t, "one", tree.Dir, "dir")
	snap := must[Commit](t)(tree.Snapshot(ctx, "s"))
	write(t, "local\ndir/\na\n", tree.Dir, ".gitignore")
	write(t, "two", tree.Dir, "local")
	_ = os.Remove(filepath.Join(tree.Dir, "dir"))
	write(t, "deep", tree.Dir, "dir/deep")
	_ = os.Remove(filepath.Join(tree.Dir, "a")) // committed, ignored and deleted
	now := contents(t, tree.Dir)
	point := must[Commit](t)(tree.Undo(ctx, "u", snap))
	if read1(t, tree.Dir, "local") != "one" || read1(t, tree.Dir, "dir") != "one" {
		t.Error("the snapshot is not back")
	}
	must[Commit](t)(tree.Undo(ctx, "uu", point))
	same(t, "undone", contents(t, tree.Dir), now)
	run(t, tree.Dir, "add", "-A")
	run(t, tree.Dir, "commit", "-q", "-m", "deleted") // the commit does not have it either
	now = contents(t, tree.Dir)
	point = must[Commit](t)(tree.Undo(ctx, "v", snap))
	must[Commit](t)(tree.Undo(ctx, "vv", point))
	same(t, "undone after a commit", contents(t, tree.Dir), now)
}

// TestCommit: all work but the views of our state; nothing to commit is no error; a worker that is on another branch is not
// committed for.
func TestCommit(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	write(t, "x", tree.Dir, "new")
	write(t, "x", tree.Dir, ".claude/x")
	write(t, "x", tree.Dir, "claude-progress.txt")
	write(t, "x", tree.Dir, "x.log")
	run(t, tree.Dir, "add", ".claude")
	_ = os.Remove(filepath.Join(tree.Dir, "a"))
	except := []string{".claude", "claude-progress.txt", "init.sh"}
	c := must[Commit](t)(tree.Commit(ctx, "Progress\n\nbody", except...))
	got := run(t, tree.Dir, "log", "-1", "--format=%P %s %b", "--name-status", tree.Branch)
	if got != string(p.base)+" Progress body\n\n\nD\ta\nA\tnew" {
		t.Errorf("%q", got)
	}
	if got := run(t, tree.Dir, "status", "--porcelain"); got != "?? .claude/\n?? claude-progress.txt" {
		t.Errorf("%q", got)
	}
	if again := must[Commit](t)(tree.Commit(ctx, "Nothing", except...)); again != c {
		t.Errorf("an empty commit: %s", again)
	}
	run(t, tree.Dir, "checkout", "-q", "-b", "aside")
	if _, err := tree.Commit(ctx, "Aside"); err == nil || !strings.Contains(err.Error(), "not on the branch") {
		t.Errorf("%v", err)
	}
}

// TestFiltersAndSparse: line ends are as the attributes say. A filter of the person's runs for no file of a worker, which has what git keeps.
// The sparse checkout of the person is the person's.
func TestFiltersAndSparse(t *testing.T) {
	t.Parallel()
	top := repository(t)
	write(t, "*.txt text eol=crlf\n*.up filter=up\n", top, ".gitattributes")
	write(t, "one\r\n", top, "lines.txt")
	write(t, "far", top, "far/away")
	write(t, "loud\n", top, "loud.up")
	run(t, top, "config", "filter.up.clean", "tr a-z A-Z")
	run(t, top, "config", "filter.up.smudge", "tr A-Z a-z")
	run(t, top, "add", ".")
	run(t, top, "commit", "-q", "-m", "filters")
	run(t, top, "sparse-checkout", "set", "--no-cone", "/*", "!/far/")
	p := stand(t, top)
	tree, ctx := add(t, p, "w"), t.Context()
	if read1(t, tree.Dir, "loud.up") != "LOUD\n" || read1(t, tree.Dir, "far/away") != "far" || read1(t, tree.Dir, "lines.txt") != "one\r\n" {
		t.Error("the files are not what they should be")
	}
	if got := run(t, tree.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("the worker's git says %q", got)
	}
	write(t, "two\r\n", tree.Dir, "lines.txt")
	write(t, "shout\n", tree.Dir, "x.up")
	want := contents(t, tree.Dir)
	snap := must[Commit](t)(tree.Snapshot(ctx, "s"))
	if got := run(t, p.top, "show", string(snap)+":x.up") + run(t, p.top, "show", string(snap)+":far/away"); got != "shoutfar" {
		t.Errorf("in the snapshot: %q", got)
	}
	write(t, "three\r\n", tree.Dir, "lines.txt")
	_ = os.Remove(filepath.Join(tree.Dir, "x.up"))
	must[Commit](t)(tree.Undo(ctx, "u", snap))
	same(t, "undone", contents(t, tree.Dir), want)
	if f := must[Facts](t)(tree.Facts(ctx, p.base)); fmt.Sprint(f.Uncommitted) != "[lines.txt x.up]" {
		t.Errorf("%+v", f)
	}
}

// TestHostileTree: nothing that a worker writes into its tree, or into git's folder of it, leads us elsewhere or starts a program of
// its own.
func TestHostileTree(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	ran := filepath.Join(filepath.Dir(p.top), "ran")
	evil := "touch '" + ran + "'; cat"
	nest := func(name string) {
		dir := filepath.Join(tree.Dir, name)
		write(t, "* filter=evil\n", dir, ".gitattributes")
		write(t, "one", dir, "f")
		run(t, dir, "init", "-q")
		run(t, dir, "add", ".")
		run(t, dir, "commit", "-q", "-m", "nested")
		run(t, dir, "config", "filter.evil.clean", evil)
		run(t, dir, "config", "core.fsmonitor", evil)
		write(t, "two", dir, "f")
	}
	nest("known")
	run(t, tree.Dir, "-c", "advice.addEmbeddedRepo=false", "add", "known")
	run(t, tree.Dir, "commit", "-q", "-m", "a repository inside")
	nest("fresh")
	write(t, "work", tree.Dir, "work")
	snap := must[Commit](t)(tree.Snapshot(ctx, "s"))
	f := must[Facts](t)(tree.Facts(ctx, p.base))
	if fmt.Sprint(f.Nested) != "[known fresh]" {
		t.Errorf("nested: %q", f.Nested)
	}
	_ = os.Remove(filepath.Join(tree.Dir, "work"))
	must[Commit](t)(tree.Undo(ctx, "u", snap))
	if read1(t, tree.Dir, "known/f") != "two" || read1(t, tree.Dir, "fresh/f") != "two" || read1(t, tree.Dir, "work") != "work" {
		t.Error("the undo has changed a repository inside")
	}
	if err := tree.Remove(ctx); err == nil || !strings.Contains(err.Error(), "repository of its own") {
		t.Errorf("removed: %v", err)
	}

	fake := filepath.Join(filepath.Dir(p.top), "fake")
	write(t, "* filter=evil\n", fake, ".gitattributes")
	run(t, fake, "init", "-q")
	run(t, fake, "config", "filter.evil.clean", evil)
	run(t, fake, "config", "core.fsmonitor", evil)
	if err := os.RemoveAll(filepath.Join(tree.Dir, ".git")); err != nil {
		t.Fatal(err)
	}
	write(t, "gitdir: "+fake+"/.git\n", tree.Dir, ".git")
	write(t, "* filter=evil\n", tree.Dir, ".gitattributes")
	if got := must[Commit](t)(tree.Snapshot(ctx, "forged")); run(t, p.top, "cat-file", "-t", string(got)) != "commit" {
		t.Error("the snapshot is elsewhere")
	}
	if exists(ran) {
		t.Error("a program of the worker has run")
	}
}
