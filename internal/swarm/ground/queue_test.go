package ground

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// model is a line without git. A commit is the numbers of what is on the branch, such as ".3.5".
type model struct {
	clash    map[int]int // a candidate → one that it is in conflict with, once that one is before it
	bad      map[int]bool
	governs  map[int]bool
	tip      Commit
	verified map[Commit]bool
	fail     error // of the next verification
}

func (m *model) Merge(_ context.Context, base Commit, c Candidate) (Merged, error) {
	n := number(c)
	has := strings.Split(string(base), ".")
	switch {
	case slices.Contains(has, fmt.Sprint(n)):
		return Merged{Commit: base}, nil
	case m.clash[n] > 0 && slices.Contains(has, fmt.Sprint(m.clash[n])):
		return Merged{Conflict: &Conflict{Names: []string{"x"}}}, nil
	}
	out := Merged{Commit: Commit(fmt.Sprintf("%s.%d", base, n))}
	if m.governs[n] {
		out.Governing = []string{"rules"}
	}
	return out, nil
}

func number(c Candidate) (n int) { _, _ = fmt.Sscan(c.ID, &n); return n }

func (m *model) Verify(_ context.Context, c Commit) (bool, string, error) {
	if m.fail != nil {
		return false, "", m.fail
	}
	for part := range strings.SplitSeq(string(c), ".") {
		n := 0
		if _, _ = fmt.Sscan(part, &n); m.bad[n] {
			return false, "bad " + part, nil
		}
	}
	m.verified[c] = true
	return true, "", nil
}

func (m *model) Land(_ context.Context, old, to Commit, _ []Candidate) error {
	if old != m.tip {
		return &MovedError{}
	}
	m.tip = to
	return nil
}

// bisection is how often a queue must verify at most: each bad one makes a batch red and is searched by halves, and one batch is
// green in the end.
func bisection(n, bad int) int { return bad*(1+bits.Len(uint(max(n, 1)-1))) + 1 }

// TestBatchLaw: whatever is bad, in conflict or governs, every candidate comes out once; what lands was verified itself; no good one
// is held to be bad; and the verifications are within the bound of bisection.
func TestBatchLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 24).Draw(t, "n")
		m := &model{clash: map[int]int{}, bad: map[int]bool{}, governs: map[int]bool{}, verified: map[Commit]bool{}}
		var waiting []Candidate
		for i := 1; i <= n; i++ {
			waiting = append(waiting, Candidate{ID: fmt.Sprint(i), Accepted: rapid.Bool().Draw(t, "accepted")})
			m.bad[i] = rapid.IntRange(0, 5).Draw(t, "bad") == 0
			m.governs[i] = rapid.IntRange(0, 5).Draw(t, "governs") == 0
			if i > 1 && rapid.IntRange(0, 3).Draw(t, "conflict") == 0 {
				m.clash[i] = rapid.IntRange(1, i-1).Draw(t, "with")
			}
		}
		seen, bad, verified, rounds := map[string]int{}, 0, 0, 0
		for ; len(waiting) > 0; rounds++ {
			r, err := Batch(context.Background(), m, m.tip, waiting)
			if err != nil || len(r.Again) >= len(waiting) || r.Tip != m.tip || r.Tip != "" && !m.verified[r.Tip] {
				t.Fatalf("%+v: %v", r, err)
			}
			for _, c := range r.Landed {
				seen[c.ID]++
				if m.bad[number(c)] || m.governs[number(c)] && !c.Accepted || !slices.Contains(strings.Split(string(m.tip), "."), c.ID) {
					t.Fatalf("%s has landed", c.ID)
				}
			}
			for _, c := range slices.Concat(r.Conflicts, r.Pending) {
				seen[c.ID]++
				if (c.Conflict == nil) == (len(c.Governing) == 0) {
					t.Fatalf("%+v", c)
				}
			}
			for _, c := range r.Conflicts {
				if !slices.Contains(strings.Split(string(m.tip), "."), fmt.Sprint(m.clash[number(c.Candidate)])) {
					t.Fatalf("%s is in conflict with nothing on the branch", c.ID)
				}
			}
			if r.Bad != nil {
				bad++
				seen[r.Bad.ID]++
				if !m.bad[number(r.Bad.Candidate)] || r.Bad.Output != "bad "+r.Bad.ID {
					t.Fatalf("%+v", r.Bad)
				}
			}
			if !slices.IsSortedFunc(r.Again, func(a, b Candidate) int { return number(a) - number(b) }) {
				t.Fatalf("out of order: %v", r.Again)
			}
			waiting, verified = r.Again, verified+r.Verified
		}
		for i := 1; i <= n; i++ {
			if seen[fmt.Sprint(i)] != 1 {
				t.Fatalf("%d came out %d times", i, seen[fmt.Sprint(i)])
			}
		}
		if conflicts := len(m.clash); verified > bisection(n, bad)+conflicts {
			t.Fatalf("%d verifications, %d bad of %d", verified, bad, n)
		}
	})
}

// TestBatchFails: what nobody knows is neither good nor bad, and nothing is lost.
func TestBatchFails(t *testing.T) {
	t.Parallel()
	m := &model{verified: map[Commit]bool{}, fail: errors.New("no sandbox")}
	all := []Candidate{{ID: "1"}, {ID: "2"}}
	if _, err := Batch(t.Context(), m, m.tip, all); !errors.Is(err, m.fail) || m.tip != "" {
		t.Errorf("%v", err)
	}
	m.fail, m.tip = nil, ".9"
	if r, err := Batch(t.Context(), m, "", all); err == nil || r.Landed != nil || r.Tip != "" || m.tip != ".9" {
		t.Errorf("somebody else was faster: %+v, %v", r, err)
	}
	if r, err := Batch(t.Context(), m, m.tip, append(all, Candidate{ID: "9"})); err != nil || len(r.Landed) != 2 || len(r.Again) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// real is a line on real git: green is a commit without a file named bad.
type realLine struct {
	place
	t       *testing.T
	queue   *Tree
	intents []string
	count   int
}

func (r *realLine) Merge(ctx context.Context, base Commit, c Candidate) (Merged, error) {
	return r.Repo.Merge(ctx, base, c, func(path string) bool { return path == ".mycelium.yaml" })
}

func (r *realLine) Verify(ctx context.Context, c Commit) (bool, string, error) {
	r.count++
	if err := r.Checkout(ctx, c); err != nil {
		return false, "", err
	}
	write(r.t, "cache", r.queue.Dir, "x.log")
	write(r.t, "left by the test run", r.queue.Dir, "a")
	write(r.t, "left by the test run", r.queue.Dir, "report", "x")
	names, _ := filepath.Glob(filepath.Join(r.queue.Dir, "bad*"))
	return len(names) == 0, strings.Join(names, " "), nil
}

func (r *realLine) Checkout(ctx context.Context, c Commit) error { return r.queue.Checkout(ctx, c) }

func (r *realLine) Land(ctx context.Context, old, to Commit, landed []Candidate) error {
	r.intents = append(r.intents, fmt.Sprint(old, to, len(landed)))
	return r.Repo.Land(ctx, old, to)
}

// TestQueue: twenty candidates of which every fourth is in conflict and two are bad. The branch is never red, its every step was
// verified as it is, each feature is one commit, and the verifications are within the bound of bisection.
func TestQueue(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	l := &realLine{place: p, t: t, queue: must[*Tree](t)(p.Queue(ctx))}
	if again := must[*Tree](t)(p.Queue(ctx)); again.Dir != l.queue.Dir || len(must[[]Tree](t)(p.List())) != 0 {
		t.Errorf("another queue: %+v", again)
	}
	worker := add(t, p, "worker")
	var waiting []Candidate
	const n = 20
	for i := 1; i <= n; i++ {
		run(t, worker.Dir, "checkout", "-q", "--detach", string(p.base))
		files := map[string]string{fmt.Sprintf("feature %d", i): "x\n"}
		switch {
		case i%4 == 0:
			files["a"] = fmt.Sprintf("%d\n", i) // all of these change the same line: the first of them is in conflict with none
		case i == 7, i == 13:
			files[fmt.Sprint("bad", i)] = "x"
		case i == 15:
			files[".mycelium.yaml"] = "x"
		}
		waiting = append(waiting, Candidate{ID: fmt.Sprint(i), Commit: commit(t, worker, files), Message: fmt.Sprint("Feature ", i),
			Trailers: []string{fmt.Sprint("Feature: ", i)}})
	}
	if err := worker.Checkout(ctx, p.base); err == nil || !strings.Contains(err.Error(), "worker's") {
		t.Errorf("a worker's tree was taken for the queue's: %v", err)
	}
	var bad, conflicts, pending []string
	for len(waiting) > 0 {
		tip := must[Commit](t)(p.Tip(ctx))
		r, err := Batch(ctx, l, tip, waiting)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Conflicts {
			conflicts = append(conflicts, c.ID)
			if !slices.Equal(c.Conflict.Names, []string{"a"}) || c.Conflict.Files[0].Ours != "4\n" || c.Conflict.Files[0].Text != c.ID+"\n" {
				t.Errorf("%+v", c.Conflict)
			}
		}
		for _, c := range r.Pending {
			pending = append(pending, c.ID+fmt.Sprint(c.Governing))
		}
		if r.Bad != nil {
			bad = append(bad, r.Bad.ID)
			if !strings.HasSuffix(r.Bad.Output, "bad"+r.Bad.ID) {
				t.Errorf("output of %s: %s", r.Bad.ID, r.Bad.Output)
			}
		}
		waiting = r.Again
	}
	if fmt.Sprint(bad, conflicts, pending) != "[7 13] [8 12 16 20] [15[.mycelium.yaml]]" {
		t.Errorf("bad %v, in conflict %v, pending %v", bad, conflicts, pending)
	}
	if most := bisection(n, 2); l.count > most {
		t.Errorf("%d verifications, the bound is %d", l.count, most)
	}
	t.Logf("%d verifications of %d candidates, the bound is %d", l.count, n, bisection(n, 2))
	log := strings.Split(run(t, p.top, "log", "--reverse", "--format=%(trailers:key=Feature,valueonly,separator=) %P",
		string(p.base)+".."+p.Branch()), "\n")
	if len(log) != n-2-4-1 {
		t.Errorf("landed: %q", log)
	}
	for _, line := range log {
		if len(strings.Fields(line)) != 2 {
			t.Errorf("not one parent: %s", line)
		}
	}
	if err := l.Checkout(ctx, must[Commit](t)(p.Tip(ctx))); err != nil || read1(t, l.queue.Dir, "a") != "4\n" ||
		exists(l.queue.Dir, "report") || !exists(l.queue.Dir, "x.log") {
		t.Errorf("the queue's tree is not its commit, or its caches are gone: %v", err)
	}
}

// TestQueueAfterACrash: whatever the moment of a kill, the intent and the branch together say what to do, and nothing lands twice.
func TestQueueAfterACrash(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	c := Candidate{ID: "x", Commit: commit(t, add(t, p, "w"), map[string]string{"x": "x"}), Message: "x"}
	m := must[Merged](t)(p.Merge(ctx, p.base, c, nil))
	if got := must[Whether](t)(p.Landed(ctx, p.base, m.Commit)); got != No { // killed before the ref moved
		t.Fatal(got)
	}
	if err := p.Land(ctx, p.base, m.Commit); err != nil {
		t.Fatal(err)
	}
	if got := must[Whether](t)(p.Landed(ctx, p.base, m.Commit)); got != Yes { // killed after it
		t.Fatal(got)
	}
	l := &realLine{place: p, t: t, queue: must[*Tree](t)(p.Queue(ctx))}
	r, err := Batch(ctx, l, m.Commit, []Candidate{c}) // asked again all the same
	if err != nil || len(r.Nothing) != 1 || l.count != 0 || len(l.intents) != 0 {
		t.Errorf("%+v: %v", r, err)
	}
	if err := os.WriteFile(filepath.Join(l.queue.own, "locked"), []byte(halfMarker), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Recover(ctx); err != nil || exists(l.queue.Dir) {
		t.Errorf("a queue that was not made to its end: %v", err)
	}
	if again := must[*Tree](t)(p.Queue(ctx)); !exists(again.Dir, "a") {
		t.Error("no new queue")
	}
}

// TestEnd: the branch goes when nobody stands on it, its commits stay, and other sessions notice nothing.
func TestEnd(t *testing.T) {
	t.Parallel()
	p := stand(t, repository(t))
	ctx := t.Context()
	tree, queue := add(t, p, "w"), must[*Tree](t)(p.Queue(ctx))
	write(t, "left by a verification", queue.Dir, "left")
	o := p.opts
	o.Session = "s-2"
	other := must[*Repo](t)(Open(ctx, o))
	if err := errors.Join(other.Begin(ctx, p.base)); err != nil {
		t.Fatal(err)
	}
	foreign := must[*Tree](t)(other.Add(ctx, "w", p.base))
	if err := p.End(ctx); err == nil || !strings.Contains(err.Error(), tree.Dir) {
		t.Errorf("ended with an attempt: %v", err)
	}
	work := commit(t, tree, map[string]string{"x": "x"})
	c := must[Merged](t)(p.Merge(ctx, p.base, Candidate{ID: "x", Commit: work, Message: "x"}, nil)).Commit
	if err := errors.Join(p.Land(ctx, p.base, c), tree.Remove(ctx), p.End(ctx), p.End(ctx)); err != nil {
		t.Fatal(err)
	}
	refs := strings.Fields(run(t, p.top, "for-each-ref", "--format=%(refname)"))
	if exists(queue.Dir) || slices.Contains(refs, p.branch()) || !slices.Contains(refs, "refs/mycelium/sessions/s-1/"+string(c[:12])) {
		t.Errorf("%q", refs)
	}
	if !exists(foreign.Dir, "a") || !slices.Contains(refs, other.branch()) {
		t.Error("another session was touched")
	}
}
