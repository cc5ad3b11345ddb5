package swarm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/proposal"
	"mycelium/internal/swarm/worker"
)

// planFile is a plan that can be read. What it lacks costs it points.
func planFile(summary, risks string, files ...string) string {
	quoted := `"` + strings.Join(files, `", "`) + `"`
	return fmt.Sprintf(`{"summary": %q, "steps": [{"order": 1, "description": "Write the file, and test it", "files": [%s],
 "validation": "test"}], "filesToCreate": [%s], "filesToModify": [], "testStrategy": "one test of each file", "risks": [%s],
"estimatedComplexity": "low"}`,
		summary, quoted, quoted, risks)
}

// writes is a planner that writes its plan file; each of its starts the next text.
func writes(texts ...string) func(*hand) {
	return func(h *hand) {
		h.work(func(*worker.Work) {
			if err := os.WriteFile(h.writes, []byte(texts[min(h.n, len(texts)-1)]), 0o600); err != nil {
				h.Error(err)
			}
		})
	}
}

// hard is a session with one feature for which two planners compete.
func hard(t *testing.T) *fixture {
	x := feature("x")
	x.Description = "Rewrite x" // which scores 6
	return begin(t, &book.Session{Settings: book.Settings{Planned: 6, Judge: book.ByRubric}, Features: []*book.Feature{x}})
}

// noTrees fails the test if a worktree is left.
func (f *fixture) noTrees() {
	f.Helper()
	if left, err := f.Ground.List(); err != nil || len(left) != 0 {
		f.Errorf("working trees are left: %v %v", left, err)
	}
}

// A hard feature is planned before it is implemented: two planners write two files in two worktrees, one that cannot be read is told so and
// written again, the better plan is given to the worker, and what planners left in their worktrees lands nowhere.
func TestPlannersCompete(t *testing.T) {
	f := hard(t)
	f.workers["x a"] = writes("not a plan", planFile("Plan of A", "", "a"))
	f.workers["x b"] = writes(planFile("Plan of B", `"it may fail"`, "b"))
	f.workers["x"] = adds("b", "1\n")
	s := f.drive()
	x := f.want(s, "x", book.Completed, 1, 1)
	if p := x.Planning; p.Winner != proposal.B || p.By != book.ByRubric || p.Margin != 2 || p.How != "near equal" ||
		p.Planner("A").Plan == nil || p.Planner("A").Runs != 2 || p.Planner("A").Folder == p.Planner("B").Folder {
		t.Errorf("%+v\n%+v", p, p.Planner("A"))
	}
	if got := f.prompts["x"][0]; !strings.Contains(got, "Plan of B") || strings.Contains(got, "Plan of A") {
		t.Errorf("the worker is told\n%s", got)
	}
	if got := f.prompts["x a"]; len(got) != 2 || !strings.Contains(got[0], "x.plan-a.json") || !strings.Contains(got[1],
		"not JSON of the form") {
		t.Errorf("planner A is told\n%s", strings.Join(got, "\n"))
	}
	f.noTrees()
	if got := f.git(f.top, "ls-tree", "-r", "--name-only", "swarm/s"); strings.Contains(got, "plan") {
		t.Errorf("it landed:\n%s", got)
	}
	if c := x.Files; len(c) != 0 {
		t.Errorf("the plan of the person has changed: %v", c)
	}
}

// A planner that changes anything but its file, commits, or puts a link in its place has no plan. Without any plan a person decides: the
// feature is tried again, or goes on without one.
func TestPlannersOnlyRead(t *testing.T) {
	f := hard(t)
	f.workers["x a"] = func(h *hand) {
		h.work(func(*worker.Work) {
			h.commit(h.tree, "feat: no", "other", "1\n", filepath.Base(h.writes), planFile("A", "", "a"))
		})
	}
	f.workers["x b"] = func(h *hand) {
		h.work(func(*worker.Work) {
			secret := filepath.Join(h.top, "..", "secret.json")
			if err := errors.Join(os.WriteFile(secret, []byte(planFile("B", "", "b")), 0o600), os.Remove(h.writes), os.Symlink(secret,
				h.writes)); err != nil {
				h.Error(err)
			}
		})
	}
	f.workers["x"] = adds("x", "1\n")
	x := f.want(f.drive(), "x", book.Waiting, 0, 0)
	for _, why := range []string{"A: it changed other", "B: there is no file x.plan-b.json", "plan choose x none"} {
		if !strings.Contains(x.Reason, why) {
			t.Errorf("it waits because %q, want %q", x.Reason, why)
		}
	}
	f.noTrees()
	act := func(change func(s *book.Session) (book.Event, error)) error {
		_, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
			e, err := change(s)
			return []book.Event{e}, err
		})
		return err
	}
	if err := act(func(s *book.Session) (book.Event, error) { return planning.Choose(s, "x", "A", "better", "a person") }); err == nil ||
		!strings.Contains(err.Error(), "planner A has no plan") {
		t.Errorf("chosen: %v", err)
	}
	if err := act(func(s *book.Session) (book.Event, error) {
		return planning.Choose(s, "x", book.Unplanned, "it is easy", "a person")
	}); err != nil {
		t.Fatal(err)
	}
	f.want(f.drive(), "x", book.Completed, 1, 1)
	if strings.Contains(f.prompts["x"][0], "# The plan") {
		t.Errorf("the worker is told\n%s", f.prompts["x"][0])
	}
}

// A driver ends while planners are at work, and the next one finds them: no planner is started twice. A paused session stops them, and they
// begin anew when it goes on.
func TestPlannersSurvive(t *testing.T) {
	f := hard(t)
	begun, end := make(chan struct{}, 2), make(chan struct{})
	for _, planner := range []string{"a", "b"} {
		write := writes(planFile("Plan of "+planner, "", "x"))
		f.workers["x "+planner] = func(h *hand) {
			begun <- struct{}{}
			<-end
			write(h)
		}
	}
	f.workers["x"] = adds("x", "1\n")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; <-begun; cancel() }()
	if err := New(f.Options, "s").Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	f.Holder = "two"
	close(end)
	x := f.want(f.drive(), "x", book.Completed, 1, 1)
	if len(f.prompts["x a"])+len(f.prompts["x b"]) > 4 || x.Planning.Planner("A").Tried+x.Planning.Planner("B").Tried != 0 {
		t.Errorf("planners were started %d and %d times: %+v", len(f.prompts["x a"]), len(f.prompts["x b"]), x.Planning.Planner("A"))
	}
	if x.Planning.Winner != proposal.A || x.Planning.Margin != 0 { // a tie
		t.Errorf("%+v", x.Planning)
	}
}

// Planners compete anew after a worker failed, from what has landed by then, and the next worker is given their plan.
func TestPlannersCompeteAnew(t *testing.T) {
	f := hard(t)
	f.workers["x a"], f.workers["x b"] = writes("?", planFile("Old A", "", "x")), writes(planFile("Old B", "", "x"), planFile("New B",
		`"r"`, "x"))
	f.workers["x"] = func(h *hand) {
		h.work(func(*worker.Work) {
			if h.n > 1 {
				h.commit(h.tree, "feat: x", "x", "1\n")
			}
		})
	}
	f.want(f.drive(), "x", book.Failed, 1, 2)
	if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
		s.State = book.Going
		e, err := planning.Compete(s, "x", planning.Competition{Force: true}, "x")
		return []book.Event{e}, err
	}); err != nil {
		t.Fatal(err)
	}
	x := f.want(f.drive(), "x", book.Completed, 2, 3)
	if p := x.Planning; p.Planner("A").Runs != 3 || p.Planner("B").Runs != 2 || p.Planner("A").Tried != 0 || p.Winner != "B" {
		t.Errorf("%+v\n%+v", p, p.Planner("A"))
	}
	if !strings.Contains(f.prompts["x"][2], "New B") {
		t.Errorf("the worker is told\n%s", f.prompts["x"][2])
	}
}

// TestPausedPlanners: they are stopped, and the feature waits for the session.
func TestPausedPlanners(t *testing.T) {
	f := hard(t)
	pause := func(s book.State) {
		if _, err := f.Book.Change(t.Context(), "s", "", func(of *book.Session) ([]book.Event, error) {
			of.State = s
			return []book.Event{{Kind: "session", Text: string(s)}}, nil
		}); err != nil {
			t.Error(err)
		}
	}
	for _, planner := range []string{"a", "b"} {
		write := writes(planFile("Plan of "+planner, "", "x"))
		f.workers["x "+planner] = func(h *hand) {
			if h.n == 0 { // it never begins by itself
				pause(book.Paused)
				return
			}
			write(h)
		}
	}
	f.workers["x"] = adds("x", "1\n")
	x := f.want(f.drive(), "x", book.Pending, 0, 0)
	if p := x.Planning.Planner("A"); p.State != book.Stopped {
		t.Errorf("%+v", p)
	}
	pause(book.Going)
	x = f.want(f.drive(), "x", book.Completed, 1, 1)
	if p := x.Planning.Planner("A"); p.Tried != 0 || p.Runs != 2 {
		t.Errorf("%+v", p)
	}
}

// A model judges if it was asked for, with its reasoning on record. Where it cannot be asked, the rubric stands and says so.
func TestModelJudges(t *testing.T) {
	for name, c := range map[string]struct {
		ask            planning.Ask
		winner, by, is string
	}{
		"it answers": {func(_ context.Context, _, said string) (jsontext.Value, float64, error) {
			if strings.Count(said, "Plan of") != 2 {
				t.Errorf("it is asked\n%s", said)
			}
			return jsontext.Value(`{"winner": "A", "reasoning": "it is shorter"}`), 0.5, nil
		}, "A", book.ByModel, "it is shorter"},
		"it fails": {func(context.Context, string, string) (jsontext.Value, float64, error) {
			return nil, 0, errors.New("overloaded")
		}, "B",
			book.ByRubric, "the model could not be asked: overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			f := hard(t)
			f.Ask = c.ask
			if _, err := f.Book.Change(t.Context(), "s", "", func(s *book.Session) ([]book.Event, error) {
				e, err := planning.Compete(s, "x", planning.Competition{Force: true, Judge: book.ByModel, Prompts: [2]string{"only A", "only B"}}, "x")
				return []book.Event{e}, err
			}); err != nil {
				t.Fatal(err)
			}
			f.workers["x a"], f.workers["x b"] = writes(planFile("Plan of A", "", "a")), writes(planFile("Plan of B", `"r"`, "b"))
			f.workers["x"] = adds("x", "1\n")
			s := f.drive()
			x := f.want(s, "x", book.Completed, 1, 1)
			if p := x.Planning; p.Winner != c.winner || p.By != c.by || !strings.Contains(p.Reason, c.is) || s.Cost() != p.Cost {
				t.Errorf("%+v, cost %g", p, s.Cost())
			}
			if !strings.Contains(f.prompts["x a"][0], "only A") || strings.Contains(f.prompts["x a"][0], "only B") {
				t.Errorf("planner A is told\n%s", f.prompts["x a"][0])
			}
		})
	}
}

// Files that only a chosen plan names keep two features apart while something else is ready; so does a route.
func TestPlannedFilesKeepApart(t *testing.T) {
	a, b, c := feature("a"), feature("b"), feature("c")
	s := &book.Session{Settings: book.Settings{Workers: 2}, Features: []*book.Feature{a, b, c}}
	for _, f := range s.Features {
		f.Estimate = 10
	}
	b.Estimate = 9
	c.Estimate = 8
	d := New(Options{}, "s")
	if got := strings.Join(d.ready(s), " "); got != "a b" {
		t.Fatalf("without plans: %s", got)
	}
	chosen := func(files ...string) *book.Planning {
		return &book.Planning{Winner: "A", Planners: []*book.Planner{{Name: "A", Plan: &proposal.Proposal{Modify: files}}}}
	}
	a.Planning, b.Planning = chosen("x.go"), chosen("x.go", "y.go")
	s.Features = append(s.Features, feature("d"))
	s.Features[3].Estimate = 8
	if got := strings.Join(d.ready(s), " "); got != "a c" {
		t.Errorf("with plans: %s", got)
	}
	a.Planning, b.Planning = nil, nil
	a.Route, b.Route = plan.Route{Affinity: "g"}, plan.Route{Affinity: "g"}
	a.State = book.Queued // its work is done, and has not landed
	a.Attempts = []*book.Attempt{{N: 1, State: book.Queued}}
	if got := strings.Join(d.ready(s), " "); strings.Contains(got, "b") {
		t.Errorf("with a group: %s", got)
	}
}
