package limit

import (
	"mycelium/internal/policy"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestLawBucket: whatever comes when, no stretch of a window has more calls than tokens, a call is never refused when the
// window before it and one slot has fewer, and the time that is said is the earliest at which a token is there.
func TestLawBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const slot = time.Second // of a minute
		most := rapid.Int64Range(1, 5).Draw(t, "most")
		gap := rapid.OneOf(rapid.Int64Range(0, 3000), rapid.Int64Range(0, 90_000), rapid.Just(int64(60_000)), rapid.Int64Range(-5000, 0))
		gaps := rapid.SliceOfN(gap, 1, 60).Draw(t, "gaps in ms")
		var b bucket
		var taken []time.Duration
		var now, latest time.Duration
		for _, gap := range gaps {
			now = max(0, now+time.Duration(gap)*time.Millisecond)
			latest = max(latest, now)
			b.turn(int64(now / slot))
			if b.taken < most {
				b.take()
				taken = append(taken, latest)
				n := int64(0)
				for _, at := range taken {
					if at > latest-time.Minute {
						n++
					}
				}
				if n > most {
					t.Fatalf("%d calls within a minute: %v", n, taken)
				}
				continue
			}
			n := int64(0)
			for _, at := range taken {
				if at > latest-time.Minute-slot {
					n++
				}
			}
			if n < most {
				t.Fatalf("refused at %v after %v", now, taken)
			}
			again := time.Duration(b.last+b.wait(most)) * slot
			early, then := b, b
			early.turn(int64((again - 1) / slot))
			then.turn(int64(again / slot))
			if early.taken < most || then.taken >= most || again <= latest {
				t.Fatalf("at %v the wait is until %v: %d then, %d just before", latest, again, then.taken, early.taken)
			}
		}
	})
}

// TestClockSetBack: a clock that is set back by years gives no token back, and keeps none for longer than a window from then.
func TestClockSetBack(t *testing.T) {
	var b bucket
	const wrong, right = 10_000_000, 1_000
	b.turn(wrong)
	b.take()
	b.take()
	b.giveBack(right) // a call that began before the clock was set forward
	for _, c := range []struct{ at, taken int64 }{{right, 2}, {right + slots, 2}, {right + slots + 1, 0}} {
		if b.turn(c.at); b.taken != c.taken {
			t.Errorf("%d slots after the clock was set right %d are taken, want %d", c.at-right, b.taken, c.taken)
		}
	}
}

// TestLawGiveBack: a token that is given back is there again, and giving back never makes more than there were.
func TestLawGiveBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bucket
		var open []int64 // slots of calls that may give back
		now, count := int64(0), int64(0)
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now += rapid.Int64Range(0, 20).Draw(t, "gap")
			b.turn(now)
			if len(open) > 0 && rapid.Bool().Draw(t, "give") {
				at := open[len(open)-1]
				open = open[:len(open)-1]
				before := b.taken
				b.giveBack(at)
				if want := before - 1; at >= now-slots && b.taken != want || at < now-slots && b.taken != before {
					t.Fatalf("at %d a token of %d was given back: %d, then %d", now, at, before, b.taken)
				}
				continue
			}
			b.take()
			open = append(open, now)
			count++
			sum := int64(0)
			for _, n := range b.slot {
				sum += int64(n)
			}
			if sum != b.taken || b.taken < 0 || b.taken > count {
				t.Fatalf("%d taken, %d in slots", b.taken, sum)
			}
		}
	})
}

// TestKeep forgets the counters of a role that has no limits any more, unless a call of it is under way.
func TestKeep(t *testing.T) {
	l, at := New(Options{}), time.Now()
	tool := policy.Item{Server: "files", Name: "read_file"}
	bound := func(role string) Call {
		b := policy.Bound{Name: role, Rates: policy.Rates{PerMinute: 9, Concurrent: 2}}
		return Call{Bounds: []policy.Bound{b}, Session: &Counters{}, Item: tool, At: at}
	}
	idle, busy := bound("idle"), bound("busy")
	l.Pass(idle)
	held, refused := l.Enter(busy, false)
	if refused != nil || len(held) != 1 {
		t.Fatalf("%v, %v", held, refused)
	}
	none, _ := policy.New(policy.Source{})
	for _, want := range []int{1, 0} {
		if l.Keep(none); len(l.roles.byName) != want {
			t.Errorf("%d counters are kept, want %d", len(l.roles.byName), want)
		}
		l.Leave(held)
	}
}

// TestNoLimitsCostNothing: a call that is not limited takes no lock and allocates nothing.
func TestNoLimitsCostNothing(t *testing.T) {
	l := New(Options{})
	l.mu.Lock() // a lock that is held would be waited for
	defer l.mu.Unlock()
	c := Call{Session: &Counters{}, Item: policy.Item{Server: "files", Name: "read_file"}, At: time.Now()}
	n := testing.AllocsPerRun(100, func() {
		refused, near := l.Pass(c)
		held, full := l.Enter(c, true)
		if refused != nil || near != nil || full != nil {
			t.Fatal("limited by nothing")
		}
		l.Leave(held)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRoughly: a time to wait is told in a unit in which a person counts it.
func TestRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		59 * time.Second: "59 s", 119*time.Second + 1: "120 s", 2 * time.Minute: "2 min", 119 * time.Minute: "119 min",
		2 * time.Hour: "2 h", 24*time.Hour + 4*time.Minute: "25 h",
	} {
		if got := roughly(d); got != want {
			t.Errorf("%v: %s, not %s", d, got, want)
		}
	}
}
