package swarm

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
)

// reviewed begins a session of one feature that lands, with reviews.
func reviewed(t *testing.T, settings book.Settings) *fixture {
	t.Helper()
	settings.Reviews = review.Defaults()
	f := begin(t, &book.Session{Settings: settings, Features: []*book.Feature{feature("a")}})
	f.workers["a"] = adds("a.go", "1\n")
	return f
}

// finds is a reviewer that writes its findings, each time the next ones.
func finds(said ...string) func(*hand) {
	return func(h *hand) {
		h.work(func(w *worker.Work) {
			err := w.Write(worker.Event{Kind: worker.Spent, Cost: 1})
			if err == nil {
				err = os.WriteFile(h.findings(), []byte(said[h.n]), 0o600)
			}
			if err != nil {
				h.Error(err)
			}
		})
	}
}

// findings is the only file that the reviewer may write.
func (h *hand) findings() string {
	o, _, err := h.folder.Order()
	if err != nil || o.Writes == "" {
		h.Errorf("its order names %q, %v", o.Writes, err)
	}
	return o.Writes
}

const (
	clean = `{"summary": "Nothing is wrong.", "severity": "clean", "issues": []}`
	major = `{"summary": "One is wrong.", "severity": "major", "issues": [
		{"category": "coupling", "severity": "warning", "file": "a.go", "line": 1, "message": "It is coupled.", "suggestion": "Cut it."}]}`
)

// When everything has landed, the session is reviewed, each type by a reviewer of its own. Findings that cannot be taken go back once. What
// was found becomes features, and what they change is reviewed again.
func TestReviews(t *testing.T) {
	f := reviewed(t, book.Settings{Workers: 2})
	f.workers["review-code"] = finds("no JSON", clean, clean)
	f.workers["review-architecture"] = finds(major, clean)
	s := f.drive()
	code, arch := s.Review("code"), s.Review("architecture")
	if s.State != book.Completed || s.Overall() != book.Major || s.Cost() != 3 || code.State != book.Completed || code.Sent != 1 ||
		arch.State != book.Completed || !strings.HasPrefix(arch.Window, "cc-reviewer-architecture-") || s.Ended.IsZero() {
		t.Errorf("%s, %s, $%g\n%+v\n%+v\n%s", s.State, s.Overall(), s.Cost(), code, arch, f.happened())
	}
	if p := f.prompts["review-code"][0]; !strings.Contains(p, "- a: Add a") || !strings.Contains(p, "test-coverage") {
		t.Errorf("it is asked:\n%s", p)
	}
	if p := f.prompts["review-code"][1]; !strings.Contains(p, "not the JSON") || !strings.Contains(p, "# Categories") {
		t.Errorf("it is asked once more with:\n%s", p)
	}
	if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		_, events, err := review.Implement(s, review.Choice{All: true}, "x")
		return events, err
	}); err != nil {
		t.Fatal(err)
	}
	f.workers["fix-1"] = adds("a.go", "2\n")
	s = f.drive()
	f.want(s, "fix-1", book.Completed, 1, 1)
	if !strings.Contains(f.prompts["fix-1"][0], "It is coupled.") || !strings.Contains(f.prompts["fix-1"][0], "Cut it.") {
		t.Errorf("its worker is told:\n%s", f.prompts["fix-1"][0])
	}
	if s.State != book.Completed || s.Overall() != book.Clean || len(s.Reviews) != 4 || s.Review("code").Base == code.Base {
		t.Errorf("%s, %s after %d reviews\n%s", s.State, s.Overall(), len(s.Reviews), f.happened())
	}
	if left, err := f.Ground.List(); err != nil || len(left) != 0 {
		t.Errorf("working trees are left: %v %v", left, err)
	}
}

// A reviewer that changed something is refused, whatever it found, and so is one whose findings cannot be taken twice. The session ends
// all the same.
func TestReviewIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		do  func(h *hand)
		why string
	}{
		"a file":                     {func(h *hand) { h.write("a.go", "changed\n") }, "changed a.go"},
		"a new one":                  {func(h *hand) { h.write("b.go", "new\n") }, "changed b.go"},
		"a commit":                   {func(h *hand) { h.git(h.tree, "commit", "-q", "--allow-empty", "-m", "x") }, "moved its worktree"},
		"nothing, and finds nothing": {func(h *hand) { _ = os.Remove(h.findings()) }, "asked once: there is no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			f := reviewed(t, book.Settings{Retries: 3})
			f.workers["review-code"] = func(h *hand) {
				h.work(func(*worker.Work) {
					if err := os.WriteFile(h.findings(), []byte(clean), 0o600); err != nil {
						t.Error(err)
					}
					c.do(h)
				})
			}
			f.workers["review-architecture"] = finds(clean)
			s := f.drive()
			if r := s.Review("code"); s.State != book.Completed || r.State != book.Failed || !strings.Contains(r.Reason, c.why) ||
				r.Findings != nil || f.landed() != "1" {
				t.Errorf("%s; %s because %q\n%s", s.State, r.State, r.Reason, f.happened())
			}
		})
	}
}

func (h *hand) write(name, text string) {
	if err := os.WriteFile(h.tree+"/"+name, []byte(text), 0o600); err != nil {
		h.Error(err)
	}
}

// A driver ends, and the next one finds the reviewer at work. One that
// died is tried again, and the budget counts.
func TestReviewersAreWorkers(t *testing.T) {
	f := reviewed(t, book.Settings{Retries: 1, Budget: 2})
	begun, end := make(chan struct{}), make(chan struct{})
	f.workers["review-code"] = func(h *hand) {
		if h.n > 0 { // it was killed before
			finds("", clean)(h)
			return
		}
		w, err := h.folder.Begin()
		if err == nil {
			err = w.Write(worker.Event{Kind: worker.Began})
		}
		close(begun)
		<-end
		if err = errors.Join(err, w.End(worker.Ended{Stop: "aborted", Error: "killed"})); err != nil {
			t.Error(err)
		}
	}
	f.workers["review-architecture"] = finds(clean)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if err := New(f.Options, "s").Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if s := f.session(); s.State != book.Reviewing || !s.Open() {
		t.Errorf("it is %s", s.State)
	}
	close(end)
	f.Holder = "two"
	s := f.drive()
	if r := s.Review("code"); s.State != book.Completed || r.State != book.Completed || r.Tried != 1 || r.N != 2 {
		t.Errorf("%s; %+v\n%s", s.State, r, f.happened())
	}
	ask := func(types ...string) error {
		_, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
			tip, err := f.Ground.Tip(t.Context())
			if err != nil {
				return nil, err
			}
			return review.Ask(s, string(tip), types, true, "x")
		})
		return err
	}
	if err := ask("code"); err != nil {
		t.Fatal(err)
	}
	if s = f.drive(); s.State != book.Paused || s.Review("code").State != book.Pending {
		t.Errorf("with a budget that is spent it is %s", s.State)
	}
}
