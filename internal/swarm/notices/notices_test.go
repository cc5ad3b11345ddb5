package notices

import (
	"fmt"
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
