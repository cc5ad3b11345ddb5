package feed

import (
	"fmt"
	"testing"
)

// TestFeed: who comes back gets what it missed, in order; who comes back too late, or from another process, is told so.
func TestFeed(t *testing.T) {
	t.Parallel()
	f := New()
	begin := f.Last()
	for i := range 3 {
		f.Publish("inbox", fmt.Sprint(i))
	}
	back := f.Read(begin)
	for i := range 3 {
		if e := <-back.Events; e.Data != fmt.Sprint(i) {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if r := f.Read(f.Last()); r.Behind || len(r.Events) > 0 {
		t.Error("nothing was missed")
	}
	for _, id := range []string{"other-1", "x", f.epoch + "-99", f.epoch + "--1"} {
		if !f.Read(id).Behind {
			t.Errorf("%s: nothing says that events are lost", id)
		}
	}
	for range maxKept + 1 {
		f.Publish("work", "x")
	}
	if !f.Read(begin).Behind {
		t.Error("events are gone, and nothing says so")
	}
}

// TestFeedSlow: a reader that takes nothing is dropped, and nobody waits for it.
func TestFeedSlow(t *testing.T) {
	t.Parallel()
	f := New()
	slow, quick := f.Read(""), f.Read("")
	for i := range 10 * maxQueued {
		f.Publish("inbox", fmt.Sprint(i))
		if e := <-quick.Events; e.Data != fmt.Sprint(i) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
	n := 0
	for range slow.Events { // it is closed
		n++
	}
	if n != maxQueued || len(f.readers) != 1 {
		t.Errorf("the slow reader got %d events, %d readers are left", n, len(f.readers))
	}
	slow.Close()
	quick.Close()
	quick.Close()
	if len(f.readers) != 0 {
		t.Error("a reader is left")
	}
}
