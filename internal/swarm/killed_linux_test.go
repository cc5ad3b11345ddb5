package swarm

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
)

// driver is a driver whose workers never begin, and the folders that it started some in.
func (c *chaos) driver() (*Driver, *[]worker.Folder) {
	c.Helper()
	var mu sync.Mutex
	var started []worker.Folder
	d := New(Options{Book: c.book, Ground: c.ground, Folder: c.dir, Holder: "test", Logger: slog.New(slog.DiscardHandler),
		Start: func(_ context.Context, f worker.Folder, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, f)
			return nil
		}}, chaosSession)
	if err := c.book.Hold(c.Context(), chaosSession, "test", time.Minute); err != nil {
		c.Fatal(err)
	}
	return d, &started
}

// step is a step with all that it begins.
func (c *chaos) step(d *Driver) *book.Feature {
	c.Helper()
	if _, err := d.step(c.Context()); err != nil {
		c.Fatal(err)
	}
	d.work.Wait()
	return c.session().Features[0]
}

// What a worker is sent back for outlives the driver. The worker is not given up because its attempt began long ago.
func TestSentBackAndKilled(t *testing.T) {
	t.Parallel()
	c := newChaos(t, 1)
	if _, err := c.book.Change(c.Context(), chaosSession, "", func(s *book.Session) ([]book.Event, error) {
		s.Features = s.Features[:1]
		f := s.Features[0]
		f.State = book.Going
		f.Attempts = []*book.Attempt{{N: 1, State: book.Running, Base: c.head, Folder: c.dir + "/f0-1.0", Began: time.Now().Add(-time.Hour)}}
		for _, other := range c.session().Features[1:] { // they stay in the book, and are over
			other.State = book.Completed
			s.Features = append(s.Features, other)
		}
		return []book.Event{{Kind: "feature"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	first, _ := c.driver()
	first.Start = func(context.Context, worker.Folder, string) error { return nil } // and it is killed
	seen := c.session().Features[0].Last()
	for range 2 { // whoever looked before it was sent back sends nobody back any more
		if err := first.sendBack(c.Context(), "feature", "f0", seen, "the moon is missing", func(*book.Attempt) {}); err != nil {
			t.Fatal(err)
		}
	}
	second, started := c.driver()
	for range 3 {
		if f := c.step(second); f.State != book.Going || !f.Last().Live() || f.Last().Sent != 1 {
			t.Fatalf("the feature is %s, because %q; its attempt %+v", f.State, f.Reason, f.Last())
		}
	}
	want := worker.Folder(c.session().Features[0].Last().Folder)
	if !slices.Equal(*started, []worker.Folder{want}) {
		t.Fatalf("started %v, want %s once", *started, want)
	}
	if _, prompt, err := want.Order(); err != nil || !strings.Contains(prompt, "the moon is missing") {
		t.Errorf("%v; its prompt: %s", err, prompt)
	}
}

// A worktree that a driver was killed over goes with the next driver, when its feature is over.
func TestSweep(t *testing.T) {
	t.Parallel()
	c := newChaos(t, 1)
	if _, err := c.book.Change(c.Context(), chaosSession, "", func(s *book.Session) ([]book.Event, error) {
		for i, f := range s.Features {
			f.State, f.Attempts = book.Completed, []*book.Attempt{{N: 1, State: book.Landed}, {N: 2, State: book.Landed}}
			if i == 1 {
				f.State = book.Waiting
			}
		}
		return []book.Event{{Kind: "feature"}}, nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"f0-1", "f0-2", "f1-1"} {
		if _, err := c.ground.Add(c.Context(), name, "HEAD"); err != nil {
			t.Fatal(err)
		}
	}
	d, _ := c.driver()
	if err := d.Run(c.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := c.ground.List(); err != nil || len(left) != 1 || left[0].Attempt != "f1-1" {
		t.Errorf("%v, %v: want the worktree of the feature that waits", left, err)
	}
}

// A reviewer is stopped when its session is paused, and goes on in the same worktree when it is resumed.
func TestPausedReview(t *testing.T) {
	t.Parallel()
	c := newChaos(t, 1)
	change := func(f func(s *book.Session)) {
		if _, err := c.book.Change(c.Context(), chaosSession, "", func(s *book.Session) ([]book.Event, error) {
			f(s)
			return []book.Event{{Kind: "session"}}, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	change(func(s *book.Session) {
		for _, f := range s.Features {
			f.State = book.Completed
		}
		s.Landed, s.Base = s.Base, strings.Repeat("0", 40) // something has landed since
		s.Settings.Reviews.Architecture = false
	})
	d, started := c.driver()
	c.step(d) // it is due
	c.step(d) // it is given to a reviewer
	r := c.session().Review("code")
	if r == nil || r.State != book.Starting || len(*started) != 1 {
		t.Fatalf("%+v, started %v", r, *started)
	}
	c.to(book.Paused)
	c.step(d)
	if r = c.session().Review("code"); r.State != book.Stopped {
		t.Fatalf("paused it is %s", r.State)
	}
	c.to(book.Going)
	c.step(d)
	c.step(d)
	s := c.session()
	if r = s.Review("code"); s.State != book.Reviewing || r.State != book.Starting || r.N != 1 || r.Asked != 1 || len(*started) != 2 ||
		!strings.HasSuffix(string((*started)[1]), ".1") || len(s.Reviews) != 1 {
		t.Errorf("%s; %+v, started %v", s.State, r, *started)
	}
	if left, err := c.ground.List(); err != nil || len(left) != 1 {
		t.Errorf("worktrees: %v %v", left, err)
	}
}
