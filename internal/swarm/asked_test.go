package swarm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/worker"
)

// asks changes the session as an operation does.
func (f *fixture) asks(change func(s *book.Session)) {
	f.Helper()
	if _, err := f.Book.Change(f.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		change(s)
		return []book.Event{{Kind: "session", Text: "it was asked for"}}, nil
	}); err != nil {
		f.Error(err)
	}
}

// Where an agent has features started one by one, nothing else is started: the driver ends, and the session goes on. What its worker is
// asked besides reaches it.
func TestManual(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Manual: true, Workers: 3},
		Features: []*book.Feature{feature("a"), feature("b"), feature("c")}})
	f.workers["b"], f.workers["a"], f.workers["c"] = adds("b", "1\n"), adds("a", "1\n"), adds("c", "1\n")
	f.asks(func(s *book.Session) { s.Features[1].Wanted, s.Features[1].Asked = time.Now(), "Be brief." })
	s := f.drive()
	f.want(s, "b", book.Completed, 1, 1)
	f.want(s, "a", book.Pending, 0, 0)
	if s.State != book.Going || !strings.Contains(f.prompts["b"][0], "# What was asked besides\n\nBe brief.") {
		t.Errorf("the session is %s; the worker was asked\n%s", s.State, f.prompts["b"][0])
	}
	f.asks(func(s *book.Session) { s.Settings.Manual = false })
	if s = f.drive(); s.State != book.Completed {
		t.Errorf("the session is %s\n%s", s.State, f.happened())
	}
}

// What was asked for is started before what would come first.
func TestWantedIsFirst(t *testing.T) {
	f := begin(t, &book.Session{Features: []*book.Feature{feature("a"), feature("b", "a"), feature("c")}})
	for _, id := range []string{"a", "b", "c"} {
		f.workers[id] = adds(id, "1\n")
	}
	f.asks(func(s *book.Session) { s.Features[2].Wanted = time.Now() })
	f.drive()
	if said := f.happened(); strings.Index(said, "feature c: it is given") > strings.Index(said, "feature a: it is given") {
		t.Error(said)
	}
}

// A claim has the worker stopped and the facts looked at: what is committed lands if it is said to be done, and nothing does of what is
// said to have failed, which is tried again as often as was said.
func TestClaims(t *testing.T) {
	f := begin(t, &book.Session{Settings: book.Settings{Workers: 2, Retries: 3},
		Features: []*book.Feature{feature("done"), feature("failed")}})
	none := 0
	hangs := func(id string, c book.Claim) func(*hand) {
		return func(h *hand) {
			w, err := h.folder.Begin()
			if err == nil {
				err = w.Write(worker.Event{Kind: worker.Began})
			}
			process := exec.Command("sleep", "1000") // that the driver ends: this worker is in its own process
			err = errors.Join(err, process.Start())
			if err == nil {
				err = os.WriteFile(filepath.Join(string(h.folder), "worker.pid"), fmt.Append(nil, process.Process.Pid), 0o600)
			}
			if err != nil {
				t.Error(err)
				return
			}
			h.commit(h.tree, "feat: "+id, id, "1\n")
			f.asks(func(s *book.Session) {
				if of, err := s.Feature(id); err == nil {
					of.Last().Claim, of.Retries = &c, &none
				}
			})
			if process.Wait() == nil {
				t.Error("it was not stopped")
			}
			if err := w.End(worker.Ended{Stop: agent.StopAborted, Error: "stopped"}); err != nil {
				t.Error(err)
			}
		}
	}
	f.workers["done"], f.workers["failed"] = hangs("done", book.Claim{}), hangs("failed", book.Claim{Failed: true, Why: "it is wrong"})
	s := f.drive()
	f.want(s, "done", book.Completed, 1, 1)
	if of := f.want(s, "failed", book.Failed, 1, 1); of.Reason != "it is wrong" || f.on("failed") != "" || f.on("done") != "1" {
		t.Errorf("it failed because %q; the branch has %q and %q", of.Reason, f.on("done"), f.on("failed"))
	}
}

// A worker below the threshold of confidence is reported once until it is above it again, unless nobody wants to know.
func TestLowConfidenceIsReported(t *testing.T) {
	at := &book.Attempt{N: 1, State: book.Running}
	f := begin(t, &book.Session{Features: []*book.Feature{{Feature: plan.Feature{ID: "a"}, State: book.Going, Attempts: []*book.Attempt{at}}}})
	d, w, most := New(f.Options, "s"), &watch{}, 50
	if err := f.Book.Hold(t.Context(), "s", d.Holder, time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		score, reports int
		quiet          bool
	}{{49, 0, true}, {49, 1, false}, {20, 1, false}, {50, 1, false}, {49, 2, false}} {
		d.settings = book.Settings{Threshold: &most, Quiet: step.quiet}
		if err := d.report(t.Context(), d.charges(f.session())[0], w, confidence.Judgement{Score: step.score}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(f.happened(), "alert a: confidence"); n != step.reports {
			t.Errorf("after %+v it is reported %d times", step, n)
		}
	}
}

// Where an agent has a feature planned that nobody asked to be worked on, its planners are started and its worker is not.
func TestPlanningAlone(t *testing.T) {
	f := hard(t)
	f.asks(func(s *book.Session) {
		s.Settings.Manual = true
		if _, err := planning.Compete(s, "x", planning.Competition{}, "an agent"); err != nil {
			t.Error(err)
		}
	})
	f.workers["x a"], f.workers["x b"] = writes(planFile("A", "", "a")), writes(planFile("B", `"it may fail"`, "b"))
	f.workers["x"] = adds("b", "1\n")
	if x := f.want(f.drive(), "x", book.Pending, 0, 0); x.Planning.Winner != "B" {
		t.Errorf("%+v", x.Planning)
	}
	f.asks(func(s *book.Session) { s.Features[0].Wanted = time.Now() })
	f.want(f.drive(), "x", book.Completed, 1, 1)
}
