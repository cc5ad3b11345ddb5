package ground

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/text"
)

func TestFacts(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	none := must[Facts](t)(tree.Facts(ctx, p.base))
	if !none.Branch || none.Head != p.base || none.Commits != 0 || len(none.Touched)+len(none.Uncommitted)+len(none.Untracked) != 0 {
		t.Errorf("nothing was done: %+v", none)
	}
	commit(t, tree, map[string]string{"a": "1\n2\nthree\nfour\n", "bin": "\x00\x01"})
	head := commit(t, tree, map[string]string{"pkg/auth/x.go": "x\n"})
	write(t, "open", tree.Dir, "a")
	write(t, "new\n", tree.Dir, "new 日本\nx")
	write(t, "log", tree.Dir, "x.log")
	_ = os.Remove(filepath.Join(tree.Dir, "sub/b"))
	f := must[Facts](t)(tree.Facts(ctx, p.base))
	want := []File{{Path: "a", Added: 1, Deleted: 3}, {Path: "bin", Binary: true}, {Path: "new 日本\nx", Added: 1},
		{Path: "pkg/auth/x.go", Added: 1},
		{Path: "sub/b", Deleted: 1}}
	if !slices.Equal(f.Touched, want) || f.Commits != 2 || f.Head != head || f.Base != p.base || len(f.Diff) != 64 || f.Diff == none.Diff ||
		!slices.Equal(f.Uncommitted, []string{"a", "new 日本\nx", "sub/b"}) || !slices.Equal(f.Untracked, []string{"new 日本\nx"}) {
		t.Errorf("%+v", f)
	}
	packages := []string{"auth", "pkg/auth", "pkg", "x.go", "uth", "pkg/other", "auth/"}
	if got := Missing(packages, f.Touched); !slices.Equal(got, []string{"x.go", "uth", "pkg/other"}) {
		t.Errorf("missing: %q", got)
	}
	if again := must[Facts](t)(tree.Facts(ctx, p.base)); again.Diff != f.Diff {
		t.Error("the same change has another sum")
	}
	run(t, tree.Dir, "checkout", "-q", "--detach")
	if must[Facts](t)(tree.Facts(ctx, p.base)).Branch {
		t.Error("a tree that has left its branch is on it")
	}
}

// TestFactsOfOthers: the work of others that a worker brings in from the session's branch is not its own.
func TestFactsOfOthers(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	mine, other, ctx := add(t, p, "mine"), add(t, p, "other"), t.Context()
	commit(t, mine, map[string]string{"mine": "m\n"})
	theirs := commit(t, other, map[string]string{"theirs": "t\n"})
	m := must[Merged](t)(p.Merge(ctx, p.base, Candidate{ID: "o", Commit: theirs, Message: "o"}, nil))
	if err := p.Land(ctx, p.base, m.Commit); err != nil {
		t.Fatal(err)
	}
	before := must[Facts](t)(mine.Facts(ctx, p.base))
	run(t, mine.Dir, "merge", "-q", string(must[Commit](t)(p.Bring(ctx))))
	after := must[Facts](t)(mine.Facts(ctx, p.base))
	if len(after.Touched) != 1 || after.Touched[0].Path != "mine" || after.Base != m.Commit ||
		before.Base != p.base || after.Diff != before.Diff {
		t.Errorf("before: %+v\nafter: %+v", before, after)
	}
}

func TestOverlaps(t *testing.T) {
	t.Parallel()
	touched := map[string][]string{"me": {"a", "sub/b", "c"}, "x": {"c", "a", "a"}, "y": {"d"}, "z": {"sub"}}
	if got := fmt.Sprint(Overlaps("me", touched)); got != "[{x [a c]} {z [sub]}]" {
		t.Error(got)
	}
	if got := fmt.Sprint(Overlaps("me", touched, "sub/")); got != "[{z [sub]}]" {
		t.Error(got)
	}
	if got := Overlaps("nobody", touched); got != nil {
		t.Error(got)
	}
}

// TestMerge: one commit on the base, of the worker, with message and trailers; it takes both sides, by the attributes of the base.
func TestMerge(t *testing.T) {
	t.Parallel()
	top := repository(t)
	write(t, "CHANGELOG merge=union\n", top, "deep/.gitattributes")
	write(t, "1\n2\n", top, "deep/CHANGELOG")
	run(t, top, "add", ".")
	run(t, top, "commit", "-q", "-m", "attributes")
	p := stand(t, top)
	ctx := t.Context()
	first, second := add(t, p, "first"), add(t, p, "second")
	a := commit(t, first, map[string]string{"deep/CHANGELOG": "1\nfirst\n2\n"})
	commit(t, second, map[string]string{"deep/CHANGELOG": "1\nsecond\n2\n"})
	b := commit(t, second, map[string]string{".claude/settings.json": "{}", "日本/new": "n"})
	one := must[Merged](t)(p.Merge(ctx, p.base, Candidate{ID: "1", Commit: a, Message: "First\n\nwhy\n",
		Trailers: []string{"Feature: f-1", "Model: m"}}, nil))
	if got := run(t, top, "log", "-1", "--format=%P|%an|%cn|%B|%(trailers:key=Feature,valueonly)", string(one.Commit)); got !=
		string(p.base)+"|Ann|Mycelium|First\n\nwhy\n\nFeature: f-1\nModel: m\n|f-1\n" {
		t.Errorf("%q", got)
	}
	governs := func(path string) bool { return strings.HasPrefix(path, ".claude/") }
	two := must[Merged](t)(p.Merge(ctx, one.Commit, Candidate{ID: "2", Commit: b, Message: "Second"}, governs))
	if got := run(t, top, "show", string(two.Commit)+":deep/CHANGELOG"); got != "1\nfirst\nsecond\n2" {
		t.Errorf("%q, conflict: %+v", got, two.Conflict)
	}
	if !slices.Equal(two.Governing, []string{".claude/settings.json"}) {
		t.Errorf("governing: %q", two.Governing)
	}
	if again := must[Merged](t)(p.Merge(ctx, two.Commit, Candidate{ID: "1", Commit: a, Message: "First"}, nil)); again.Commit != two.Commit {
		t.Errorf("merged twice: %+v", again)
	}
	unknown := Commit(strings.Repeat("1", len(a)))
	for _, absent := range [][2]Commit{{p.base, "absent"}, {p.base, unknown}, {unknown, a}} { // git ends as with a conflict
		if m, err := p.Merge(ctx, absent[0], Candidate{ID: "3", Commit: absent[1]}, nil); err == nil {
			t.Errorf("merged what is not there: %+v", m)
		}
	}
}

// TestConflict: the names, both sides and what they had in common, bounded; a file that only one side has; a name with a line break.
func TestConflict(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	ours, theirs := add(t, p, "ours"), add(t, p, "theirs")
	long := strings.Repeat("語", mostConflictText)
	_ = os.Remove(filepath.Join(theirs.Dir, "sub/b"))
	base := commit(t, ours, map[string]string{"a": "ours\n", "日本\nx": "ours", "sub/b": "ours\n", "long": "ours"})
	with := commit(t, theirs, map[string]string{"a": "theirs\n", "日本\nx": "theirs", "long": long})
	m := must[Merged](t)(p.Merge(ctx, base, Candidate{ID: "x", Commit: with}, nil))
	if m.Commit != "" || m.Conflict == nil || !slices.Equal(m.Conflict.Names, []string{"a", "long", "sub/b", "日本\nx"}) {
		t.Fatalf("%+v", m)
	}
	for _, want := range []Sides{{"a", "1\n2\n3\n", "ours\n", "theirs\n"}, {"sub/b", "b\n", "ours\n", ""}, {"日本\nx", "", "ours", "theirs"}} {
		if !slices.Contains(m.Conflict.Files, want) {
			t.Errorf("no %+v in %+v", want, m.Conflict.Files)
		}
	}
	for _, f := range m.Conflict.Files {
		if f.Path == "long" && (len(f.Text) > mostConflictText+20 || !strings.HasSuffix(f.Text, "[cut]\n") ||
			!strings.HasPrefix(long, f.Text[:900])) {
			t.Errorf("%d bytes: %q…", len(f.Text), f.Text[max(0, len(f.Text)-20):])
		}
	}
	if !strings.Contains(m.Conflict.Says, "CONFLICT (content): Merge conflict in a\n") || !strings.Contains(m.Conflict.Says, "modify/delete") {
		t.Errorf("%q", m.Conflict.Says)
	}
}

// TestLand: compare and swap; after a crash the branch tells what has happened.
func TestLand(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) { t.Parallel(); testLand(t, format) })
	}
}

func testLand(t *testing.T, format string) {
	p := stand(t, repository(t, "--object-format="+format))
	ctx := t.Context()
	var next []Commit
	for i := range 3 {
		c := commit(t, add(t, p, fmt.Sprint("w", i)), map[string]string{fmt.Sprint("f", i): "x"})
		next = append(next, must[Merged](t)(p.Merge(ctx, p.base, Candidate{ID: "x", Commit: c, Message: fmt.Sprint(i)}, nil)).Commit)
	}
	landed := func(old, to Commit) Whether { return must[Whether](t)(p.Landed(ctx, old, to)) }
	if landed(p.base, next[0]) != No {
		t.Error("landed before it began")
	}
	errs := make(chan error)
	for _, c := range next {
		go func() { errs <- p.Land(context.Background(), p.base, c) }()
	}
	won := 0
	for range next {
		switch err := <-errs; err {
		case nil:
			won++
		default:
			if moved, ok := errors.AsType[*MovedError](err); !ok || moved.Old != p.base || !slices.Contains(next, moved.Now) {
				t.Errorf("%v", err)
			}
		}
	}
	tip := must[Commit](t)(p.Tip(ctx))
	if won != 1 || landed(p.base, tip) != Yes {
		t.Errorf("%d have landed", won)
	}
	for _, c := range next {
		if c != tip && landed(p.base, c) != Elsewhere {
			t.Errorf("%s has landed", c)
		}
	}
	beyond := Commit(run(t, p.top, "commit-tree", "-p", string(tip), "-m", "x", string(tip)+"^{tree}"))
	if err := p.Land(ctx, tip, beyond); err != nil || landed(p.base, tip) != Yes {
		t.Errorf("landed, and more after it: %v", err)
	}
	lock := filepath.Join(p.common, p.branch()+".lock")
	write(t, "", lock)
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	if err := p.Land(ctx, beyond, tip); err != nil || exists(lock) {
		t.Errorf("with the lock of a git that was killed: %v", err)
	}
	elsewhere := filepath.Join(filepath.Dir(p.top), "elsewhere")
	run(t, p.top, "worktree", "add", "-q", elsewhere, p.Branch())
	if err := p.Land(ctx, tip, beyond); err == nil || !strings.Contains(err.Error(), elsewhere) || text.HintOf(err) == "" {
		t.Errorf("landed on a branch that is checked out: %v", err)
	}
	run(t, p.top, "worktree", "remove", elsewhere)
}

// TestHandOver is the one that touches the person's checkout, because the person asks for it.
func TestHandOver(t *testing.T) {
	t.Parallel()
	set := func(t *testing.T) place {
		p := open(t, repository(t))
		if err := p.Begin(t.Context(), p.base); err != nil {
			t.Fatal(err)
		}
		tip := commit(t, add(t, p, "w"), map[string]string{"a": "changed\n", "new.x": "new\n"})
		if err := p.Land(t.Context(), p.base, tip); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, c := range map[string]struct {
		before  func(t *testing.T, top string)
		refused string
	}{
		"clean":               {func(*testing.T, string) {}, ""},
		"other files changed": {func(t *testing.T, top string) { write(t, "mine", top, "sub/b"); write(t, "mine", top, "draft") }, ""},
		"a file changed":      {func(t *testing.T, top string) { write(t, "mine", top, "a") }, "would be overwritten"},
		"a file staged":       {func(t *testing.T, top string) { write(t, "mine", top, "a"); run(t, top, "add", "a") }, "would be overwritten"},
		"an untracked file":   {func(t *testing.T, top string) { write(t, "mine", top, "new.x") }, "would be overwritten"},
		"an ignored file": {func(t *testing.T, top string) {
			write(t, "*.x", top, ".git/info/exclude")
			write(t, "mine", top, "new.x")
		}, "would be overwritten"},
		"a commit of the person": {func(t *testing.T, top string) { run(t, top, "commit", "-q", "--allow-empty", "-m", "x") },
			"cannot be moved forward"},
		"in the middle of a merge": {func(t *testing.T, top string) { write(t, strings.Repeat("1", 40), top, ".git/MERGE_HEAD") },
			"in the middle"},
		"in the middle of a rebase": {func(t *testing.T, top string) { write(t, "", top, ".git/rebase-merge/x") }, "in the middle"},
		"on another branch": {func(t *testing.T, top string) {
			run(t, top, "checkout", "-q", "-b", "other")
			write(t, "mine", top, "a")
		}, ""},
		"an option that would stash": {func(t *testing.T, top string) {
			run(t, top, "config", "merge.autoStash", "true")
			write(t, "mine", top, "a")
		}, "would be overwritten"},
		"an option that would not ff": {func(t *testing.T, top string) { run(t, top, "config", "merge.ff", "false") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := set(t)
			c.before(t, p.top)
			before, was := fingerprint(t, p.top), run(t, p.top, "rev-parse", "main")
			tip := must[Commit](t)(p.Tip(t.Context()))
			moved, err := p.HandOver(t.Context(), "main", tip)
			now := run(t, p.top, "rev-parse", "main")
			if c.refused == "" {
				if err != nil || now != string(tip) || !moved {
					t.Errorf("main at %s, moved %t: %v", now, moved, err)
				}
				if moved, err := p.HandOver(t.Context(), "main", tip); err != nil || moved {
					t.Errorf("a second time: main at %s, moved %t: %v", now, moved, err)
				}
				if name != "on another branch" && read1(t, p.top, "a") != "changed\n" ||
					strings.Contains(name, "other files") && read1(t, p.top, "sub/b") != "mine" {
					t.Error("the checkout is not what the branch says, or work is lost")
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.refused) || text.HintOf(err) == "" || now != was || fingerprint(t, p.top) != before {
				t.Errorf("main at %s: %v\n%s", now, err, text.Diff(before, fingerprint(t, p.top)))
			}
		})
	}
	p := set(t)
	if _, err := p.HandOver(t.Context(), "absent", p.base); err == nil {
		t.Error("handed over to a branch that is not there")
	}
}
