package stats

import (
	"fmt"
	"testing"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
)

// Every figure of C18, of a session in which each kind of attempt comes.
func TestOf(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f := func(id string, state book.State, attempts ...book.State) *book.Feature {
		out := &book.Feature{Feature: plan.Feature{ID: id}, State: state}
		for i, s := range attempts {
			a := &book.Attempt{N: i + 1, State: s, Began: began, Cost: 0.25}
			if !a.Live() {
				a.Ended = began.Add(time.Duration(len(id)) * time.Minute)
			}
			out.Attempts = append(out.Attempts, a)
		}
		return out
	}
	s := &book.Session{Began: began, Features: []*book.Feature{f("a", book.Completed, book.Landed),
		f("bbb", book.Completed, book.Failed, book.Landed), f("c", book.Failed, book.Failed, book.Failed, book.Failed),
		f("d", book.Going, book.Stopped, book.Running), f("e", book.Queued, book.Failed, book.Queued), f("g", book.Pending)}}
	got := Of(s, began.Add(time.Hour))
	if fmt.Sprintf("%+v %+v", *got.Fastest, *got.Slowest) != "{Feature:a Seconds:60} {Feature:bbb Seconds:180}" {
		t.Errorf("fastest %+v, slowest %+v", *got.Fastest, *got.Slowest)
	}
	got.Fastest, got.Slowest = nil, nil
	const want = "{Elapsed:3600 Features:6 Landed:2 Failed:1 Success:66.66666666666667 Average:120 Fastest:<nil> Slowest:<nil> " +
		"Workers:{Running:1 Completed:3 Crashed:5 Stopped:1} Attempts:{Total:10 Average:2 Max:3} " +
		"Most:[{Feature:c Attempts:3} {Feature:bbb Attempts:2} {Feature:d Attempts:2}] Cost:2.5}"
	if fmt.Sprintf("%+v", got) != want {
		t.Errorf("%+v\nwant\n%s", got, want)
	}
	s.Ended = began.Add(time.Minute)
	if got := Of(s, began.Add(time.Hour)); got.Elapsed != 60 {
		t.Errorf("it took %g", got.Elapsed)
	}
	if got := Of(&book.Session{Began: began}, began); got.Success != 0 || got.Average != 0 || got.Attempts.Average != 0 || got.Fastest != nil {
		t.Errorf("nothing yet: %+v", got)
	}
}
