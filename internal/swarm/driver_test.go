package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/atomicfile"
	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/worker"
)

// TestMain gives git a home without settings.
func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "swarm")
	if err == nil {
		err = os.Setenv("HOME", home)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// fixture is a session on a real repository. Its workers are functions in this process, which work in real working trees.
type fixture struct {
	*testing.T
	Options

	top     string
	base    ground.Commit
	workers map[string]func(*hand) // by feature; each of its workers does the same. Its planners are a and b behind its id
	running sync.WaitGroup

	mu      sync.Mutex
	prompts map[string][]string // by feature: what its workers were asked to do
	started []worker.Folder
}

// hand is a worker at work.
type hand struct {
	*fixture
	folder worker.Folder
	tree   string
	writes string // the only file that it may change, of a planner
	n      int    // how many workers the feature had before
	again  bool   // its folder was started before
}

// begin begins a session, s, with its features. What is green is what has no file named bad.
func begin(t *testing.T, s *book.Session) *fixture {
	t.Helper()
	t.Parallel()
	dir := t.TempDir()
	f := &fixture{T: t, top: filepath.Join(dir, "project"), workers: map[string]func(*hand){}, prompts: map[string][]string{}}
	for _, path := range []string{f.top, filepath.Join(dir, "state")} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.git(f.top, "init", "-q", "-b", "main")
	f.commit(f.top, "first", "shared", "one\n")
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(dir, "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.running.Wait(); _ = db.Close() })
	f.Options = Options{Book: book.New(db), Folder: filepath.Join(dir, "state"), Holder: "one", Every: 5 * time.Millisecond,
		Start: f.start, Verify: green, Governs: func(path string) bool { return path == "mycelium.yaml" },
		Logger: slog.New(slog.DiscardHandler)}
	s.ID, s.State, s.Settings.Runner, s.Settings.Verify = "s", book.Going, "command", [][]string{{"green"}}
	s.Settings.Workers = max(s.Settings.Workers, 1)
	f.Ground, err = ground.Open(t.Context(), ground.Options{Project: f.top, State: f.Folder, Trees: filepath.Join(dir, "trees"),
		Session: s.ID})
	if err == nil {
		f.base, _, err = f.Ground.Head(t.Context())
	}
	if err == nil {
		s.Base, s.Branch = string(f.base), f.Ground.Branch()
		err = f.Ground.Begin(t.Context(), f.base)
	}
	if err == nil {
		err = f.Book.Begin(t.Context(), s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// feature is a feature of a plan.
func feature(id string, after ...string) *book.Feature {
	return &book.Feature{Feature: plan.Feature{ID: id, Description: "Add " + id, DependsOn: after}, State: book.Pending}
}

// git runs git as a worker does, and returns what it prints.
func (f *fixture) git(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=W", "GIT_AUTHOR_EMAIL=w@localhost", "GIT_COMMITTER_NAME=W",
		"GIT_COMMITTER_EMAIL=w@localhost")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Errorf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits files, by their names and texts.
func (f *fixture) commit(dir, message string, files ...string) string {
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			f.Error(err)
		}
	}
	f.git(dir, "add", "-A")
	f.git(dir, "commit", "-q", "-m", message)
	return f.git(dir, "rev-parse", "HEAD")
}

// green is the command of the session.
func green(_ context.Context, tree string, _ []string) (Checked, error) {
	if _, err := os.Stat(filepath.Join(tree, "bad")); err == nil {
		return Checked{Output: "line one\nthere is a file named bad\n"}, nil
	}
	return Checked{OK: true}, nil
}

// start starts a worker of this process.
func (f *fixture) start(_ context.Context, folder worker.Folder, _ string) error {
	o, prompt, err := folder.Order()
	if err != nil {
		return err
	}
	key := o.Feature
	if strings.Contains(o.Writes, ".plan-") { // a planner
		key += " " + strings.TrimSuffix(filepath.Base(o.Writes), ".json")[len(o.Feature)+len(".plan-"):]
	}
	work := f.workers[key]
	if work == nil {
		f.Errorf("a worker of %s is started", key)
		return errors.New("there is none")
	}
	f.mu.Lock()
	h := &hand{fixture: f, folder: folder, tree: o.Tree, writes: o.Writes, n: len(f.prompts[key]), again: slices.Contains(f.started, folder)}
	f.started = append(f.started, folder)
	f.prompts[key] = append(f.prompts[key], prompt)
	f.mu.Unlock()
	f.running.Go(func() { work(h) })
	return nil
}

// work is the work of one worker, from its beginning to the end that it records.
func (h *hand) work(do func(w *worker.Work)) {
	w, err := h.folder.Begin()
	if err != nil && h.again { // by the driver after one that has ended: the folder lets one worker in
		return
	}
	if err != nil {
		h.Error(err)
		return
	}
	err = w.Write(worker.Event{Kind: worker.Began})
	do(w)
	if err := errors.Join(err, w.End(worker.Ended{Stop: agent.StopEnd, Text: "done"})); err != nil {
		h.Error(err)
	}
}

// adds is a worker that adds files in one commit.
func adds(files ...string) func(*hand) {
	return func(h *hand) { h.work(func(*worker.Work) { h.commit(h.tree, "feat: more", files...) }) }
}

// drive drives the session to its end, and returns it.
func (f *fixture) drive() *book.Session {
	f.Helper()
	if err := New(f.Options, "s").Run(f.Context()); err != nil {
		f.Fatal(err)
	}
	return f.session()
}

func (f *fixture) session() *book.Session {
	f.Helper()
	s, err := f.Book.Read(f.Context(), "s")
	if err != nil {
		f.Fatal(err)
	}
	return s
}

// happened is what happened, one line each.
func (f *fixture) happened() string {
	f.Helper()
	events, err := f.Book.Events(f.Context(), "s", 0, 0)
	if err != nil {
		f.Fatal(err)
	}
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s %s: %s\n", e.Kind, e.Feature, e.Text)
	}
	return b.String()
}

// on is a file as it is on the branch of the session; "" if it is not there.
func (f *fixture) on(file string) string {
	if !slices.Contains(strings.Fields(f.git(f.top, "ls-tree", "--name-only", "swarm/s")), file) {
		return ""
	}
	return f.git(f.top, "show", "swarm/s:"+file)
}

// landed is how many commits the branch has got.
func (f *fixture) landed() string {
	return f.git(f.top, "rev-list", "--count", string(f.base)+"..swarm/s")
}

// want fails the test unless a feature is in a state after so many attempts and workers.
func (f *fixture) want(s *book.Session, id string, state book.State, attempts, workers int) *book.Feature {
	f.Helper()
	of, err := s.Feature(id)
	if err != nil {
		f.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if of.State != state || len(of.Attempts) != attempts || len(f.prompts[id]) != workers {
		f.Errorf("%s is %s (%s) after %d attempts and %d workers; want %s, %d and %d\n%s", id, of.State, of.Reason, len(of.Attempts),
			len(f.prompts[id]), state, attempts, workers, f.happened())
	}
	return of
}

// A worker that died without a word has done its work all the same: what it committed is verified and lands, in its first attempt.
func TestLateWorkIsTaken(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a"), feature("b", "a")}})
	f.workers["a"] = func(h *hand) {
		lock, err := atomicfile.LockWait(filepath.Join(string(h.folder), "worker.lock"), time.Minute)
		if err == nil {
			began := []byte(`{"at":"2026-01-01T00:00:00Z","kind":"began"}` + "\n")
			err = os.WriteFile(filepath.Join(string(h.folder), "events.jsonl"), began, 0o600)
		}
		h.commit(h.tree, "feat: a", "a", "1\n")
		if err != nil || lock.Unlock() != nil {
			t.Error(err)
		}
	}
	f.workers["b"] = adds("b", "2\n")
	s := f.drive()
	f.want(s, "a", book.Completed, 1, 1)
	f.want(s, "b", book.Completed, 1, 1)
	if s.State != book.Completed || f.on("a") != "1" || f.on("b") != "2" || f.landed() != "2" {
		t.Errorf("the session is %s; the branch has a %q, b %q, %s commits", s.State, f.on("a"), f.on("b"), f.landed())
	}
	if left, err := f.Ground.List(); err != nil || len(left) != 0 {
		t.Errorf("working trees are left: %v %v", left, err)
	}
}

// Two features change the same line. One lands; the worker of the other gets both sides, once, and then a person decides.
func TestConflictGoesBackOnce(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Workers: 2}, Features: []*book.Feature{feature("a"), feature("b")}})
	for _, id := range []string{"a", "b"} {
		f.workers[id] = func(h *hand) {
			h.work(func(*worker.Work) { h.commit(h.tree, "feat: "+id, "shared", fmt.Sprintf("%s says %d\n", id, h.n)) })
		}
	}
	s := f.drive()
	first, last := "a", "b"
	if x, err := s.Feature("b"); err == nil && x.State == book.Completed {
		first, last = "b", "a"
	}
	f.want(s, first, book.Completed, 1, 1)
	waits := f.want(s, last, book.Waiting, 1, 2)
	err := Accept(t.Context(), f.Book, "s", last, "", "a person")
	if err == nil || !strings.Contains(err.Error(), "cannot land as it is: it conflicts") {
		t.Errorf("what waits for a conflict is let land: %v", err)
	}
	if !strings.Contains(waits.Reason, "conflicts") || !strings.Contains(waits.Reason, "shared") || s.State != book.Going {
		t.Errorf("it waits because %q, and the session is %s", waits.Reason, s.State)
	}
	for _, side := range []string{first + " says 0", last + " says 0", "git merge "} {
		if !strings.Contains(f.prompts[last][1], side) {
			t.Errorf("its worker is not told %q:\n%s", side, f.prompts[last][1])
		}
	}
	if f.on("shared") != first+" says 0" || f.landed() != "1" {
		t.Errorf("the branch has %q and %s commits", f.on("shared"), f.landed())
	}
}

// A commit that makes the branch red goes back to its worker with what the command said, and lands when it is mended. What would
// never be mended waits for a person.
func TestBadCommitGoesBack(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Workers: 2}, Features: []*book.Feature{feature("a"), feature("b")}})
	f.workers["a"] = func(h *hand) {
		h.work(func(*worker.Work) {
			if h.n == 0 {
				h.commit(h.tree, "feat: a", "a", "1\n", "bad", "x\n")
				return
			}
			h.git(h.tree, "rm", "-q", "bad")
			h.git(h.tree, "commit", "-q", "-m", "fix: a")
		})
	}
	f.workers["b"] = func(h *hand) {
		h.work(func(*worker.Work) { h.commit(h.tree, "feat: b", "bad", fmt.Sprintf("again %d\n", h.n)) })
	}
	s := f.drive()
	f.want(s, "a", book.Completed, 1, 2)
	if b := f.want(s, "b", book.Waiting, 1, 1+sendBack); !strings.Contains(b.Reason, "there is a file named bad") {
		t.Errorf("b waits because %q", b.Reason)
	}
	if !strings.Contains(f.prompts["a"][1], "there is a file named bad") {
		t.Errorf("the worker is not told why:\n%s", f.prompts["a"][1])
	}
	red := map[string]int{} // people are told so
	events, err := f.Book.Events(t.Context(), s.ID, 0, 0)
	for _, e := range events {
		if e.Kind == book.Red {
			red[e.Feature]++
		}
	}
	if err != nil || red["a"] != 1 || red["b"] != sendBack {
		t.Errorf("red: %v %v", red, err)
	}
	if f.on("a") != "1" || f.on("bad") != "" || f.landed() != "1" {
		t.Errorf("the branch has a %q, bad %q, %s commits", f.on("a"), f.on("bad"), f.landed())
	}
}

// The checks of a feature itself run on what its worker committed, before anything else sees it.
func TestOwnChecksComeFirst(t *testing.T) {
	a := feature("a")
	a.Validation = &plan.Validation{Enabled: true, TestPassRequired: true, EnforceBlocking: true, VerifyCommand: plan.Command{"own"}}
	f := begin(t, &book.Session{Features: []*book.Feature{a}})
	green := false
	f.Verify = func(_ context.Context, tree string, argv []string) (Checked, error) {
		if argv[0] == "own" {
			_, err := os.Stat(filepath.Join(tree, "good"))
			return Checked{OK: err == nil, Output: "no good\n"}, nil
		}
		_, err := os.Stat(filepath.Join(tree, "good"))
		green = err == nil
		return Checked{OK: true}, nil
	}
	f.workers["a"] = func(h *hand) {
		h.work(func(*worker.Work) { h.commit(h.tree, "feat: a", []string{"a", "good"}[h.n], "1\n") })
	}
	f.want(f.drive(), "a", book.Completed, 1, 2)
	if !green || !strings.Contains(f.prompts["a"][1], "no good") || f.on("good") != "1" {
		t.Errorf("green %t, told %q", green, f.prompts["a"][1])
	}
}

// What changes files that govern agents lands when a person accepts that very commit, and not before.
func TestGoverningChangeWaits(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	f.workers["a"] = adds("mycelium.yaml", "x\n")
	if a := f.want(f.drive(), "a", book.Waiting, 1, 1); !strings.Contains(a.Reason, "mycelium.yaml") || f.landed() != "0" {
		t.Errorf("it waits because %q; %s commits have landed", a.Reason, f.landed())
	}
	if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		a := s.Features[0]
		a.State, a.Accepted = book.Queued, string(f.base) // another commit
		return []book.Event{{Kind: "feature", Text: "accepted"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	f.want(f.drive(), "a", book.Waiting, 1, 1)
	if err := Accept(t.Context(), f.Book, "s", "a", "", "a person"); err != nil {
		t.Fatal(err)
	}
	f.want(f.drive(), "a", book.Completed, 1, 1)
	if f.on("mycelium.yaml") != "x" || f.landed() != "1" {
		t.Errorf("%s commits have landed", f.landed())
	}
}

// A driver that ended between the record of a landing and its end leaves one of three things behind.
func TestLandingIsRecovered(t *testing.T) {
	for name, c := range map[string]struct {
		landed string // commits on the branch at the end
		before func(f *fixture, to ground.Commit) error
	}{
		"it took place": {"1", func(f *fixture, to ground.Commit) error { return f.Ground.Land(f.Context(), f.base, to) }},
		"it did not":    {"1", func(*fixture, ground.Commit) error { return nil }},
		"the branch is elsewhere": {"1", func(f *fixture, _ ground.Commit) error {
			tree := f.git(f.top, "rev-parse", string(f.base)+"^{tree}")
			other := f.git(f.top, "commit-tree", tree, "-p", string(f.base), "-m", "by somebody else")
			f.git(f.top, "update-ref", "refs/heads/swarm/s", other)
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
			tree, err := f.Ground.Add(t.Context(), book.NameOf("a", 1), f.base)
			if err != nil {
				t.Fatal(err)
			}
			tip := f.commit(tree.Project, "feat: a", "a", "1\n")
			if _, err := tree.Facts(t.Context(), f.base); err != nil {
				t.Fatal(err)
			}
			m, err := f.Ground.Merge(t.Context(), f.base, ground.Candidate{ID: "a", Commit: ground.Commit(tip), Message: "feat: a"}, f.Governs)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
				a := s.Features[0]
				a.State, a.Attempts = book.Queued, []*book.Attempt{{N: 1, State: book.Queued, Base: string(f.base), Tip: tip}}
				s.Landing = &book.Landing{Old: string(f.base), New: string(m.Commit), Features: []string{"a"},
					Commits: map[string]string{"a": string(m.Commit)}}
				return []book.Event{{Kind: "merge", Text: "lands"}}, nil
			}); err != nil {
				t.Fatal(err)
			}
			if err := c.before(f, m.Commit); err != nil {
				t.Fatal(err)
			}
			s := f.drive()
			a := f.want(s, "a", book.Completed, 1, 0)
			if s.Landing != nil || f.on("a") != "1" || f.landed() != c.landed || a.Commit != f.git(f.top, "rev-parse", "swarm/s") {
				t.Errorf("%+v; %s commits, a %q, landed as %s", s.Landing, f.landed(), f.on("a"), a.Commit)
			}
			if left, err := f.Ground.List(); err != nil || len(left) != 0 {
				t.Errorf("working trees are left: %v %v", left, err)
			}
		})
	}
}

// What a worker does to the branch of the session counts for nothing: the branch is put back, and what was there is kept.
func TestBranchThatAWorkerMoves(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a"), feature("b", "a")}})
	var red string
	f.workers["a"] = func(h *hand) {
		h.work(func(*worker.Work) {
			h.git(h.tree, "update-ref", "refs/heads/swarm/s", h.commit(h.tree, "feat: red", "bad", "x\n")) // moves nothing of ours
			h.git(h.tree, "reset", "-q", "--hard", "HEAD~")
			red = f.git(f.top, "commit-tree", "-p", "HEAD", "-m", "by somebody else", "HEAD^{tree}")
			f.git(f.top, "update-ref", "refs/heads/swarm/s", red)
			h.commit(h.tree, "feat: a", "a", "1\n")
		})
	}
	f.workers["b"] = func(h *hand) {
		h.work(func(*worker.Work) {
			h.commit(h.tree, "feat: b", "b", "1\n")
			f.git(f.top, "branch", "-D", "swarm/s")
		})
	}
	s := f.drive()
	f.want(s, "a", book.Completed, 1, 1)
	f.want(s, "b", book.Completed, 1, 1)
	if f.on("bad") != "" || f.landed() != "2" || string(s.Tip()) != f.git(f.top, "rev-parse", "swarm/s") ||
		f.git(f.top, "rev-parse", "refs/mycelium/moved/s/"+red[:12]) != red || !strings.Contains(f.happened(), "had moved swarm/s") {
		t.Errorf("%s commits are on the branch\n%s", f.landed(), f.happened())
	}
}

// A driver ends, and its worker works on; the next driver finds it at work, and starts no other.
func TestTakeover(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	begun, end := make(chan struct{}), make(chan struct{})
	f.workers["a"] = func(h *hand) {
		h.work(func(*worker.Work) {
			close(begun)
			<-end
			h.commit(h.tree, "feat: a", "a", "1\n")
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if err := New(f.Options, "s").Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if who, err := f.Book.Driver(t.Context(), "s"); err != nil || who != "" {
		t.Errorf("it is still driven by %q, %v", who, err)
	}
	f.Holder = "two"
	f.Governs = func(string) bool { return false }
	close(end)
	f.want(f.drive(), "a", book.Completed, 1, 1)
}

// A driver ended after it recorded an attempt, and before it started the worker: the next one starts it, in the same attempt.
func TestWorkerThatWasNeverStarted(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	f.workers["a"] = adds("a", "1\n")
	if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		a := s.Features[0]
		a.State = book.Going
		a.Attempts = []*book.Attempt{{N: 1, State: book.Starting, Base: string(f.base), Folder: filepath.Join(f.Folder, "s", "a-1.0"),
			Began: time.Now().Add(-time.Hour)}}
		return []book.Event{{Kind: "feature", Text: "it is given to a worker"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	f.want(f.drive(), "a", book.Completed, 1, 1)
}

// A worker was killed in the middle of a commit. The one that goes on in its worktree can commit.
func TestLockOfAKilledGit(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	f.workers["a"] = func(h *hand) {
		h.work(func(*worker.Work) {
			if h.n == 0 { // it ends without a commit, and is sent back
				lock := filepath.Join(h.git(h.tree, "rev-parse", "--absolute-git-dir"), "index.lock")
				if err := os.WriteFile(lock, nil, 0o600); err != nil {
					h.Error(err)
				}
				return
			}
			h.commit(h.tree, "feat: a", "a", "1\n")
		})
	}
	f.want(f.drive(), "a", book.Completed, 1, 2)
}

// A driver whose lease somebody else has ends, and leaves everything to that one.
func TestLostLeaseEndsTheDriver(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	end := make(chan struct{})
	f.workers["a"] = func(h *hand) {
		h.work(func(*worker.Work) {
			held := (*book.HeldError)(nil)
			take := func() error {
				return errors.Join(f.Book.Release(t.Context(), "s", "one"), f.Book.Hold(t.Context(), "s", "two", time.Hour))
			}
			err := take()
			for errors.As(err, &held) { // the driver has renewed its lease in between
				err = take()
			}
			if err != nil {
				t.Error(err)
			}
			<-end
		})
	}
	held := (*book.HeldError)(nil)
	if err := New(f.Options, "s").Run(t.Context()); !errors.As(err, &held) || held.Holder != "two" {
		t.Errorf("the driver ends with %v", err)
	}
	close(end)
	if who, err := f.Book.Driver(t.Context(), "s"); err != nil || who != "two" {
		t.Errorf("it is driven by %q, %v", who, err)
	}
	f.want(f.session(), "a", book.Going, 1, 1)
}

// When the workers have spent the budget, no other is started, and the session pauses.
func TestBudgetPauses(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Budget: 2},
		Features: []*book.Feature{feature("a"), feature("b", "a"), feature("c", "b")}})
	spends := func(h *hand) {
		h.work(func(w *worker.Work) {
			if err := w.Write(worker.Event{Kind: worker.Spent, Cost: 1.5}); err != nil {
				t.Error(err)
			}
			h.commit(h.tree, "feat: more", filepath.Base(string(h.folder)), "1\n")
		})
	}
	f.workers["a"], f.workers["b"] = spends, spends
	s := f.drive()
	f.want(s, "b", book.Completed, 1, 1)
	f.want(s, "c", book.Pending, 0, 0)
	if s.State != book.Paused || s.Cost() != 3 || !strings.Contains(f.happened(), "the budget of $2.00 is spent") {
		t.Errorf("the session is %s and has cost %g\n%s", s.State, s.Cost(), f.happened())
	}
}

// What has landed is taken back by a commit that is verified, and lands again; git's proof of it is in the book. What others have built
// on the same lines keeps it where it is, and the reason says with whom.
func TestTakeBack(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a"), feature("b", "a"), feature("c", "b")}})
	f.workers["a"] = adds("shared", "two\n", "mine", "1\n")
	f.workers["b"], f.workers["c"] = adds("shared", "three\n"), adds("own", "1\n")
	s := f.drive()
	a := f.want(s, "a", book.Completed, 1, 1)
	if p := a.Proof; p == nil || p.Before != string(f.base) || p.After != a.Commit || p.Changed != 2 || p.Added != 2 || p.Deleted != 1 ||
		!p.Branch || len(p.Diff) != 64 {
		t.Errorf("the proof is %+v", a.Proof)
	}
	take := func(feature, to string, then book.State) {
		t.Helper()
		if err := TakeBack(t.Context(), f.Book, f.Ground, "s", feature, to, then); err != nil {
			t.Fatal(err)
		}
	}
	take("a", "", book.Pending)
	s = f.drive()
	a = f.want(s, "a", book.Completed, 1, 1)
	if !strings.Contains(a.Reason, "in shared: b") || s.State != book.Completed || f.landed() != "3" {
		t.Errorf("a stays because %q; the session is %s", a.Reason, s.State)
	}
	touched, err := Touched(t.Context(), f.Ground, s)
	if with := ground.Overlaps("a", touched); err != nil || fmt.Sprint(with) != "[{b [shared]}]" {
		t.Errorf("others: %v %v", with, err)
	}
	take("c", "", book.Failed)
	s = f.drive()
	c := f.want(s, "c", book.Failed, 1, 1)
	if s.State != book.Faulty || f.on("own") != "" || f.landed() != "4" || c.Commit != "" || c.TakenBack == "" {
		t.Errorf("the session is %s, %s have landed: %+v", s.State, f.landed(), c)
	}
	if err := TakeBack(t.Context(), f.Book, f.Ground, "s", "c", "", book.Failed); err == nil {
		t.Error("it was taken back twice")
	}
	take("c", c.TakenBack[:12], "")
	s = f.drive()
	c = f.want(s, "c", book.Completed, 1, 1)
	if s.State != book.Completed || f.on("own") != "1" || f.landed() != "5" || c.TakenBack != "" || c.Proof == nil {
		t.Errorf("the session is %s, %s have landed: %+v", s.State, f.landed(), c)
	}
	take("c", "", book.Pending) // and a worker does it anew
	s = f.drive()
	f.want(s, "c", book.Completed, 2, 2)
	if f.on("own") != "1" || f.landed() != "7" || !strings.Contains(f.prompts["c"][1], "took back what had landed") {
		t.Errorf("%s have landed; its worker was told %q", f.landed(), f.prompts["c"][1])
	}
}

// A revert that makes the branch red does not land.
func TestTakeBackKeepsTheBranchGreen(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a")}})
	f.workers["a"] = adds("good", "1\n")
	f.drive()
	f.Verify = func(_ context.Context, tree string, _ []string) (Checked, error) {
		_, err := os.Stat(filepath.Join(tree, "good"))
		return Checked{OK: err == nil, Output: "no good"}, nil
	}
	if err := TakeBack(t.Context(), f.Book, f.Ground, "s", "a", "", book.Failed); err != nil {
		t.Fatal(err)
	}
	if a := f.want(f.drive(), "a", book.Completed, 1, 1); !strings.Contains(a.Reason, "no good") || f.landed() != "1" || f.on("good") != "1" {
		t.Errorf("it stays because %q; %s have landed", a.Reason, f.landed())
	}
}

// What fails and then does not is borne; a driver that does nothing but fail stops, and says why.
func TestDriverBearsErrors(t *testing.T) {
	for name, c := range map[string]struct {
		fails int
		says  string
	}{"four times": {maxErrors - 1, ""}, "for ever": {1 << 20, "5 errors in a row, the last of which is: verify with own: no space left"}} {
		t.Run(name, func(t *testing.T) {
			a := feature("a")
			a.Validation = &plan.Validation{Enabled: true, VerifyCommand: plan.Command{"own"}}
			f := begin(t, &book.Session{Features: []*book.Feature{a}})
			f.workers["a"] = adds("a", "1\n")
			tries := 0
			f.Verify = func(_ context.Context, _ string, argv []string) (Checked, error) {
				if argv[0] == "own" {
					if tries++; tries <= c.fails {
						return Checked{}, errors.New("no space left")
					}
				}
				return Checked{OK: true}, nil
			}
			switch err := New(f.Options, "s").Run(t.Context()); {
			case c.says == "" && err == nil:
				f.want(f.session(), "a", book.Completed, 1, 1)
			case c.says == "" || err == nil || !strings.Contains(err.Error(), c.says) || tries != maxErrors:
				t.Errorf("after %d tries: %v", tries, err)
			}
		})
	}
}
