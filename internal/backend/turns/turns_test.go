package turns

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestOneSessionLeavesSome: 1,500 slow calls of one session leave slots and places for the next (T12, T19).
func TestOneSessionLeavesSome(t *testing.T) {
	q := New(128, 1024)
	ran := 0
	for q.TryAcquire("hog") {
		ran++
	}
	if ran != 97 {
		t.Errorf("%d of 128 slots went to one session", ran)
	}
	waits := 0
	for range 1500 {
		if _, err := q.enqueue("hog"); err == nil {
			waits++
		}
	}
	if waits != 769 {
		t.Errorf("%d of 1,024 places went to one session", waits)
	}
	if !q.TryAcquire("other") {
		t.Error("another session waits behind it")
	}
	if active, waiting, refused := q.Counts(); active != 98 || waiting != 769 || refused != 1500-769 {
		t.Errorf("%d at work, %d wait, %d refused", active, waiting, refused)
	}
}

// TestSessionsTakeTurns: where all slots are taken, the sessions that wait are served by turns, each in its own order.
func TestSessionsTakeTurns(t *testing.T) {
	q := New(1, 100)
	if !q.TryAcquire("x") || q.TryAcquire("x") {
		t.Fatal("one slot")
	}
	type call struct {
		session string
		turn    chan struct{}
	}
	var calls []call
	for _, s := range []string{"a", "a", "a", "a", "b", "b", "c"} {
		turn, err := q.enqueue(s)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call{s, turn})
	}
	order, running := "", "x"
	for range calls {
		q.Release(running)
		for i, c := range calls {
			select {
			case <-c.turn:
				order += c.session
				running, calls[i].turn = c.session, nil
			default:
			}
		}
	}
	if order != "abcabaa" {
		t.Errorf("served in the order %s", order)
	}
	q.Release(running)
	if len(q.by) != 0 || q.active != 0 {
		t.Errorf("%d sessions and %d calls are left", len(q.by), q.active)
	}
}

func TestLeave(t *testing.T) {
	q := New(1, 2)
	q.TryAcquire("a")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.acquire(gone, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, waiting, _ := q.Counts(); waiting != 0 || len(q.line) != 0 {
		t.Errorf("%d wait", waiting)
	}
	turn, _ := q.enqueue("b")
	q.Release("a") // the turn comes when its caller has gone
	q.leave("b", turn)
	if active, _, _ := q.Counts(); active != 0 || len(q.by) != 0 {
		t.Errorf("%d are at work", active)
	}
}

// A turn that comes in the moment in which the time of a call is used up is no turn: with what is left, nothing, the call would have no
// limit at all and wait for ever.
func TestATurnAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 200 { // which of two things that happen at once is seen first is left to chance
			q := New(1, 1)
			q.TryAcquire("a")
			go func() {
				<-time.After(time.Second)
				q.Release("a")
			}()
			left, err := q.AcquireWithin(t.Context(), "a", time.Second)
			if err == nil && left <= 0 {
				t.Fatalf("a turn with %v left", left)
			}
			synctest.Wait()
			if held, _, _ := q.Counts(); err != nil && held != 0 {
				t.Fatalf("the turn was not given back: %d are held", held)
			}
		}
	})
}
