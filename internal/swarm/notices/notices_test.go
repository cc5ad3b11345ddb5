package notices

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

func session(state book.State, features ...*book.Feature) *book.Session {
	return &book.Session{State: state, Features: features}
}

func feature(id string, state book.State, reason string) *book.Feature {
	return &book.Feature{Feature: plan.Feature{ID: id, Description: "Add " + id}, State: state, Reason: reason}
}

// TestNotices: people are told what changed, and nothing twice, also by a driver after this one.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	told, err := Read(dir, "s1")
	if err != nil {
		t.Fatal(err)
	}
	look := func(s *book.Session, events []book.Event, want ...Notice) {
		t.Helper()
		next, got := told.Next(s, events)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if err := next.Keep(dir, "s1"); err != nil {
			t.Fatal(err)
		}
		if told, err = Read(dir, "s1"); err != nil { // as the next driver reads it
			t.Fatal(err)
		}
	}
	look(session(book.Going, feature("a", book.Pending, ""), feature("b", book.Going, "")), nil)
	two := session(book.Going, feature("a", book.Completed, ""), feature("b", book.Going, ""))
	look(two, []book.Event{{Seq: 4, Kind: book.Stuck, Feature: "b", Text: "it goes round in a loop"}},
		Notice{Stuck, "b", "it goes round in a loop"}, Notice{Done, "a", "it has landed: Add a"})
	look(two, nil)
	if told.Seq != 4 {
		t.Errorf("the last event is %d", told.Seq)
	}
	look(session(book.Going, feature("a", book.Completed, ""), feature("b", book.Waiting, "it conflicts")), nil,
		Notice{Waits, "b", "it conflicts"})
	end := session(book.Faulty, feature("a", book.Completed, ""), feature("b", book.Failed, "no way"))
	look(end, []book.Event{{Seq: 9, Kind: "session", Text: "1 of 2 features have landed"}},
		Notice{Failed, "b", "no way"}, Notice{Failed, "", "1 of 2 features have landed"})
	look(end, nil)
	look(session("reviewing", end.Features...), nil, Notice{Phase, "", "the session is reviewing"})
}

// TestRedIsTold: a commit that would make the branch red is told when it goes back to its worker, each time once.
func TestRedIsTold(t *testing.T) {
	s := session(book.Going, feature("a", book.Going, ""))
	events := []book.Event{{Seq: 1, Kind: book.Red, Feature: "a", Text: "its worker is asked to go on: the output"}}
	told, got := Told{Session: book.Going, Features: map[string]book.State{"a": book.Queued}}.Next(s, events)
	want := []Notice{{Failed, "a", "its commit would make the branch red: it did not land, and went back to its worker"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, again := told.Next(s, nil); len(again) > 0 {
		t.Errorf("told again: %v", again)
	}
}

// TestReviewsAreTold: people are told once that the reviews are ready: when all of them are over, and again when there were new ones.
func TestReviewsAreTold(t *testing.T) {
	review := func(kind string, n int, state book.State, issues int) *book.Review {
		r := &book.Review{Type: kind, Attempt: book.Attempt{N: n, State: state, Reason: "its reviewer died"}}
		if state == book.Completed {
			r.Findings = &book.Findings{Severity: book.Minor, Issues: make([]book.Issue, issues)}
		}
		return r
	}
	dir := t.TempDir()
	told := Told{Session: book.Reviewing}
	look := func(want string, reviews ...*book.Review) {
		t.Helper()
		next, got := told.Next(&book.Session{State: book.Reviewing, Reviews: reviews}, nil)
		var texts []string
		for _, n := range got {
			texts = append(texts, n.Text)
		}
		if said := strings.Join(texts, "|"); said != want {
			t.Errorf("told %q, want %q", said, want)
		}
		if err := next.Keep(dir, "s1"); err != nil {
			t.Fatal(err)
		}
		told, _ = Read(dir, "s1") // as the next driver reads it
	}
	code, architecture := review("code", 1, book.Completed, 1), review("architecture", 1, book.Failed, 0)
	look("")
	look("", code, review("architecture", 1, book.Running, 0))
	const more = ". myc swarm review show tells what"
	look("the reviews are ready: of the code: minor, 1 issue; that of the architecture failed (its reviewer died)"+more, code, architecture)
	look("", code, architecture)
	look("", code, architecture, review("code", 2, book.Running, 0))
	look("the reviews are ready: that of the architecture failed (its reviewer died); of the code: minor, 0 issues"+more,
		code, architecture, review("code", 2, book.Completed, 0))
}

// TestNoticesAreBounded: a driver that comes back after long tells the last ones, and how many there were.
func TestNoticesAreBounded(t *testing.T) {
	var many []*book.Feature
	for i := range 50 {
		many = append(many, feature(fmt.Sprint("f", i), book.Completed, ""))
	}
	_, got := Told{Session: book.Going}.Next(session(book.Going, many...), nil)
	if len(got) != maxAtOnce+1 || got[maxAtOnce].Text != "40 notices more: myc swarm logs" {
		t.Errorf("%d notices, the last: %+v", len(got), got[len(got)-1])
	}
}
