package ground

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mycelium/internal/text"
)

// contents returns the files of a tree, without its .git: what they are and what is in them.
func contents(t tester, top string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(top, path)
		if rel == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		if err != nil || rel == ".git" || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(path)
			all[rel] = "link " + target
			return err
		}
		b, err := os.ReadFile(path)
		all[rel] = fmt.Sprintf("%v %s", info.Mode()&0o100 != 0, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t tester, what string, got, want map[string]string) {
	t.Helper()
	list := func(m map[string]string) (s string) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			s += fmt.Sprintf("%q %q\n", k, m[k])
		}
		return s
	}
	if !maps.Equal(got, want) {
		t.Fatalf("%s:\n%s", what, text.Diff(list(want), list(got)))
	}
}

// TestSnapshot: changed, deleted, new, staged, odd names, links and modes are in it; what git ignores is not; the tree notices nothing.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) { t.Parallel(); testSnapshot(t, format) })
	}
}

func testSnapshot(t *testing.T, format string) {
	top := repository(t, "--object-format="+format)
	write(t, "marked", top, "assumed")
	write(t, "marked", top, "skipped")
	run(t, top, "add", ".")
	run(t, top, "commit", "-q", "-m", "more")
	p := stand(t, top)
	tree := add(t, p, "w")
	ctx := t.Context()
	write(t, "changed", tree.Dir, "a")
	write(t, "staged", tree.Dir, "staged")
	run(t, tree.Dir, "add", "staged")
	write(t, "staged, then changed", tree.Dir, "staged")
	write(t, "new\r\n", tree.Dir, "new 日本\nfile", "-x")
	write(t, "ignored", tree.Dir, "x.log")
	run(t, tree.Dir, "update-index", "--assume-unchanged", "assumed")
	run(t, tree.Dir, "update-index", "--skip-worktree", "skipped")
	write(t, "hidden change", tree.Dir, "assumed")
	write(t, "hidden change", tree.Dir, "skipped")
	for _, err := range []error{os.Symlink("/etc/passwd", filepath.Join(tree.Dir, "link")), os.RemoveAll(filepath.Join(tree.Dir, "sub")),
		os.Chmod(filepath.Join(tree.Dir, "a"), 0o700)} { //nolint:gosec // the mode is the test
		if err != nil {
			t.Fatal(err)
		}
	}
	want := contents(t, tree.Dir)
	delete(want, "x.log")
	before, index := run(t, tree.Dir, "status", "--porcelain"), read1(t, tree.own, "index")
	c := must[Commit](t)(tree.Snapshot(ctx, "one"))
	if after := run(t, tree.Dir, "status", "--porcelain"); after != before || read1(t, tree.own, "index") != index {
		t.Errorf("the tree has noticed it:\n%s", text.Diff(before, after))
	}
	if parent := run(t, p.top, "rev-parse", string(c)+"^", "refs/mycelium/snapshots/s-1/w/one"); parent != string(p.base)+"\n"+string(c) {
		t.Errorf("parent and ref: %s", parent)
	}
	other := filepath.Join(filepath.Dir(p.top), "other")
	run(t, p.top, "worktree", "add", "-q", "--detach", other, string(c))
	same(t, "the snapshot", contents(t, other), want)
	run(t, p.top, "worktree", "remove", other)
	if _, err := tree.Snapshot(ctx, "one"); err == nil {
		t.Error("a name is used twice")
	}
	if got := run(t, p.top, "rev-parse", "refs/mycelium/snapshots/s-1/w/one"); got != string(c) {
		t.Errorf("overwritten: %s", got)
	}
	if left, _ := filepath.Glob(filepath.Join(p.opts.State, scratchPrefix+"*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestSnapshotNew: the snapshot of a new tree is what a look at it would give, and an undo goes back to it.
func TestSnapshotNew(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	want := contents(t, tree.Dir)
	if err := tree.SnapshotNew(ctx, "start", p.base); err != nil {
		t.Fatal(err)
	}
	looked := must[Commit](t)(tree.Snapshot(ctx, "looked"))
	made := func(c Commit) string { return run(t, p.top, "log", "-1", "--format=%T %P", string(c)) }
	if got, want := made(tree.Snapshotted("start")), made(looked); got != want {
		t.Errorf("tree and parent %s, want %s", got, want)
	}
	commit(t, tree, map[string]string{"a": "changed", "new": "new"})
	must[Commit](t)(tree.Undo(ctx, "undo", tree.Snapshotted("start")))
	same(t, "after the undo", contents(t, tree.Dir), want)
	if head := run(t, tree.Dir, "rev-parse", "HEAD"); head != string(p.base) {
		t.Errorf("the branch is at %s", head)
	}
}

// TestChangeAtTheTimeOfTheIndex: a file of the same size, changed in the same moment in which git wrote its index, is in the snapshot.
func TestChangeAtTheTimeOfTheIndex(t *testing.T) {
	t.Parallel()
	top := repository(t)
	run(t, top, "config", "core.trustctime", "false") // it cannot be set back
	p := stand(t, top)
	tree, moment := add(t, p, "w"), time.Now().Add(-time.Hour)
	stamp := func(file string) {
		if err := os.Chtimes(file, moment, moment); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(tree.Dir, "a")
	stamp(file)
	run(t, tree.Dir, "update-index", "--refresh")
	stamp(filepath.Join(tree.own, "index"))
	write(t, "x\ny\nz\n", file)
	stamp(file)
	snap := must[Commit](t)(tree.Snapshot(t.Context(), "s"))
	if got := run(t, top, "show", string(snap)+":a"); got != "x\ny\nz" {
		t.Errorf("%q", got)
	}
}

// TestUndoLaw: after any edits, commits among them, a snapshot brings every file back that it has, what is ignored stays, and the
// undo of the undo brings back exactly what was, ignored files too.
func TestUndoLaw(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree := add(t, p, "law")
	round, ctx := 0, t.Context()
	rapid.Check(t, func(t *rapid.T) {
		round++
		run(t, tree.Dir, "reset", "-q", "--hard", string(p.base))
		run(t, tree.Dir, "clean", "-q", "-ffdx")
		edits(t, tree.Dir, "before")
		before := contents(t, tree.Dir)
		head := run(t, tree.Dir, "rev-parse", "HEAD")
		snap := must[Commit](t)(tree.Snapshot(ctx, fmt.Sprint("s", round)))
		have := strings.Split(run(t, p.top, "ls-tree", "-r", "-z", "--name-only", string(snap)), "\x00")
		edits(t, tree.Dir, "after")
		now, nowHead := contents(t, tree.Dir), run(t, tree.Dir, "rev-parse", "HEAD")
		ignored := ignoredOf(t, tree.Dir, now)

		point := must[Commit](t)(tree.Undo(ctx, fmt.Sprint("u", round), snap))
		want := map[string]string{}
		for _, name := range append(ignored, ignoredOf(t, tree.Dir, now)...) { // by the rules of now, or of then
			if !blocked(name, have) {
				want[name] = now[name]
			}
		}
		for _, name := range have[:len(have)-1] {
			want[name] = before[name]
		}
		same(t, "after the undo", contents(t, tree.Dir), want)
		if got := run(t, tree.Dir, "rev-parse", "HEAD", tree.Branch); got != head+"\n"+head {
			t.Fatalf("HEAD and branch at %s, want %s", got, head)
		}
		if staged := run(t, tree.Dir, "diff", "--cached", "--name-only"); staged != "" {
			t.Fatalf("staged: %s", staged)
		}
		must[Commit](t)(tree.Undo(ctx, fmt.Sprint("uu", round), point))
		same(t, "after the undo of the undo", contents(t, tree.Dir), now)
		if got := run(t, tree.Dir, "rev-parse", "HEAD"); got != nowHead {
			t.Fatalf("HEAD at %s, want %s", got, nowHead)
		}
	})
}

// ignoredOf returns which of the files git ignores by the rules in a tree, or would if it did not know them.
func ignoredOf(t tester, top string, files map[string]string) (ignored []string) {
	known := strings.Split(run(t, top, "ls-files", "-z"), "\x00")
	for name := range files {
		if !slices.Contains(known, name) && exec.Command("git", "--git-dir="+run(t, top, "rev-parse", "--absolute-git-dir"), "--work-tree="+top,
			"-C", top, "check-ignore", "-q", "--no-index", "--", name).Run() == nil {
			ignored = append(ignored, name)
		}
	}
	return ignored
}

// blocked reports whether a file cannot be where the snapshot has others: it would be below a file, or is where a folder must be.
func blocked(name string, have []string) bool {
	return slices.ContainsFunc(have, func(h string) bool { return h != "" && (under(name, h) || under(h, name)) })
}

// edits does what a worker may do with a few names, of which some become files, folders and links in turn, and some are ignored.
func edits(t *rapid.T, top, label string) {
	names := []string{"a", "sub/b", "sub", "日本/語.txt", "d/e/f", "d", "x.log", "sub/y.log", "node_modules/m.js", "with space", "new\nline"}
	n := rapid.IntRange(0, 5).Draw(t, label)
	for range n {
		name := rapid.SampledFrom(names).Draw(t, "name")
		file := filepath.Join(top, name)
		body := rapid.SampledFrom([]string{"", "1\n", "two\r\n", "\x00\xff"}).Draw(t, "text")
		makeWay := func() { // whatever stands in the way goes
			for at := file; at != top; at = filepath.Dir(at) {
				if info, err := os.Lstat(at); err == nil && (at == file || !info.IsDir()) {
					_ = os.RemoveAll(at)
				}
			}
			_ = os.MkdirAll(filepath.Dir(file), 0o700)
		}
		switch rapid.IntRange(0, 6).Draw(t, "edit") {
		case 0, 1:
			makeWay()
			_ = os.WriteFile(file, []byte(body), 0o600)
		case 2:
			makeWay()
			_ = os.WriteFile(file, []byte(body), 0o700) //nolint:gosec // the mode is the test
		case 3:
			makeWay()
			_ = os.Symlink("sub/b", file)
		case 4:
			_ = os.RemoveAll(file)
		case 5:
			rules := rapid.SampledFrom([]string{"*.log\nnode_modules/\n", "", "a\n*.log\n", "d/\nsub/\n"}).Draw(t, "rules")
			_ = os.WriteFile(filepath.Join(top, ".gitignore"), []byte(rules), 0o600)
		case 6:
			run(t, top, "add", "-A")
			run(t, top, "commit", "-q", "--allow-empty", "-m", "x")
		}
	}
}
