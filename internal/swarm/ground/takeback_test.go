package ground

import (
	"fmt"
	"strings"
	"testing"
)

// TestBrought: what a commit has changed is told by its files, its lines and a digest: binary files are marked, the same change has
// the same digest wherever it is made, and one without a change has that of nothing (CT2).
func TestBrought(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	one, two, ctx := add(t, p, "one"), add(t, p, "two"), t.Context()
	files := map[string]string{"a": "x\ny\n", "bin": "\x00\x01", "deep/er/n": "1\n"}
	c := commit(t, one, files)
	from, brought, sum, err := p.Brought(ctx, c)
	if err != nil || from != p.base || len(sum) != 64 {
		t.Fatalf("from %s, digest %q, %v", from, sum, err)
	}
	if got := fmt.Sprint(brought); got != "[{a 2 3 false} {bin 0 0 true} {deep/er/n 1 0 false}]" {
		t.Errorf("it brought %s", got)
	}
	if missing := Missing([]string{"er", "deep/er", "er/deep"}, brought); fmt.Sprint(missing) != "[er/deep]" {
		t.Errorf("missing: %q", missing)
	}
	if _, _, again, err := p.Brought(ctx, commit(t, two, files)); err != nil || again != sum {
		t.Errorf("the same change has %q, %v", again, err)
	}
	run(t, one.Dir, "commit", "-q", "--allow-empty", "-m", "empty")
	must[Facts](t)(one.Facts(ctx, p.base))
	_, brought, sum, err = p.Brought(ctx, Commit(run(t, one.Dir, "rev-parse", "HEAD")))
	if err != nil || len(brought) != 0 || !strings.HasPrefix(sum, "e3b0c44298fc1c14") { // of no bytes
		t.Errorf("an empty commit brought %v, %q, %v", brought, sum, err)
	}
	many := map[string]string{}
	for i := range 300 {
		many[fmt.Sprintf("many/%03d", i)] = "1\n"
	}
	if _, brought, _, err = p.Brought(ctx, commit(t, one, many)); err != nil || len(brought) != 300 {
		t.Errorf("many files are %d, %v", len(brought), err)
	}
	if _, _, _, err := p.Brought(ctx, Commit(strings.Repeat("1", 40))); err == nil {
		t.Error("a commit that is not there brought something")
	}
}

// TestTakeBack: what landed is taken back on a later tip and comes again, and what others did stays; where they have changed the same
// lines there is a conflict.
func TestTakeBack(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	tree, ctx := add(t, p, "w"), t.Context()
	mine := commit(t, tree, map[string]string{"mine": "1\n"})
	other := commit(t, tree, map[string]string{"other": "1\n"})
	take := func(of, base Commit) Merged {
		c := must[Commit](t)(p.TakeBack(ctx, of))
		return must[Merged](t)(p.Merge(ctx, base, Candidate{ID: "mine", Commit: c, Message: "revert: x"}, nil))
	}
	back := take(mine, other)
	if got := run(t, p.top, "ls-tree", "--name-only", string(back.Commit), "mine", "other"); got != "other" {
		t.Errorf("after it was taken back: %q", got)
	}
	if got := run(t, p.top, "ls-tree", "--name-only", string(take(back.Commit, back.Commit).Commit), "mine", "other"); got != "mine\nother" {
		t.Errorf("after it came again: %q", got)
	}
	later := commit(t, tree, map[string]string{"mine": "2\n"})
	if m := take(mine, later); m.Conflict == nil || fmt.Sprint(m.Conflict.Names) != "[mine]" {
		t.Errorf("taken back over a later change: %+v", m)
	}
}
