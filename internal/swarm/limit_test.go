package swarm

import (
	"strings"
	"testing"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
)

// limited is a worker that ends because of a limit of its provider.
func (h *hand) limited(until time.Time) {
	w, err := h.folder.Begin()
	if err != nil {
		h.Error(err)
		return
	}
	for _, e := range []worker.Event{{Kind: worker.Began}, {Kind: worker.Limited, Text: "five hours", Until: until}} {
		if err := w.Write(e); err != nil {
			h.Error(err)
		}
	}
	h.commit(h.tree, "feat: half", "half", "1\n")
	if err := w.End(worker.Ended{Stop: agent.StopLimit, Error: "resets at nine", Until: until}); err != nil {
		h.Error(err)
	}
}

// A worker ends because of a limit of its provider. What it has committed so far is not taken for its work, no attempt is counted, no
// other feature begins meanwhile, and another worker goes on in the same worktree when the limit is over.
func TestLimitIsWaitedFor(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a"), feature("b")}})
	until := time.Now().Add(500 * time.Millisecond)
	var resumed time.Time
	work := func(h *hand) {
		h.mu.Lock()
		first := len(h.prompts["a"])+len(h.prompts["b"]) == 1
		if !first && resumed.IsZero() {
			resumed = time.Now()
		}
		h.mu.Unlock()
		if first {
			h.limited(until)
			return
		}
		h.work(func(*worker.Work) { h.commit(h.tree, "feat: more", string(h.folder[len(h.folder)-5]), "1\n") })
	}
	f.workers["a"], f.workers["b"] = work, work
	s := f.drive()
	if s.State != book.Completed || f.landed() != "2" {
		t.Errorf("the session is %s\n%s", s.State, f.happened())
	}
	if resumed.Before(until) {
		t.Errorf("a worker begins %v before the limit is over", until.Sub(resumed))
	}
	limited := 0
	for _, f := range s.Features {
		limited += f.Last().Limited
		if len(f.Attempts) != 1 || f.Tried != 0 {
			t.Errorf("%s: %d attempts, %d counted", f.ID, len(f.Attempts), f.Tried)
		}
	}
	if happened := f.happened(); limited != 1 || !strings.Contains(happened, "workers wait for a limit of the provider until ") ||
		!strings.Contains(happened, "resets at nine") {
		t.Errorf("%d were limited\n%s", limited, happened)
	}
}

// A worker that waits for its provider is not taken for a stall, however long that takes; every other one waits with it, until one of them
// is answered.
func TestLimitOfALiveWorker(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Workers: 2}, Features: []*book.Feature{feature("a"), feature("b", "a")}})
	d := New(f.Options, "s")
	if err := f.Book.Hold(t.Context(), "s", f.Holder, lease); err != nil {
		t.Fatal(err)
	}
	w, at := &watch{}, time.Now().Add(-time.Hour)
	w.Take(worker.Event{At: at, Kind: worker.Began})
	w.Take(worker.Event{At: at, Kind: worker.Limited, Text: "five hours", Until: at.Add(5 * time.Hour)})
	j := w.Judge(time.Now(), -1, 35)
	if v := judge(facts{Alive: true, Begun: true}); v.act != leave || j.Verdict != "waiting" || !strings.Contains(j.Reason, "limit") {
		t.Errorf("it is %s: %s", j.Verdict, j.Reason)
	}
	for range 2 {
		if err := d.account(t.Context(), &w.Provider); err != nil {
			t.Fatal(err)
		}
		if s := f.session(); s.Limited("command", time.Now()) == nil || len(d.ready(s)) != 0 {
			t.Errorf("limits %+v; ready: %v", s.Limits, d.ready(s))
		}
	}
	w.Take(worker.Event{At: time.Now(), Kind: worker.Limited})
	if err := d.account(t.Context(), &w.Provider); err != nil {
		t.Fatal(err)
	}
	if s := f.session(); s.Limited("command", time.Now()) != nil || len(d.ready(s)) != 1 {
		t.Errorf("limits %+v; ready: %v", s.Limits, d.ready(s))
	}
	if n := strings.Count(f.happened(), "limit :"); n != 2 {
		t.Errorf("%d events of limits\n%s", n, f.happened())
	}
	if j := w.Judge(time.Now(), -1, 35); j.Verdict != "working" {
		t.Errorf("it is %s: %s", j.Verdict, j.Reason)
	}
}
