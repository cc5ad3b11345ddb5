package limit

import (
	"time"

	"mycelium/internal/policy"
)

// slots is into how many parts a window is divided: a token comes back at the end of its part, one window later.
const slots = 60

// window is one of the spans over which calls are counted.
type window struct {
	key    string // in mycelium.yaml
	words  string
	length time.Duration
}

// windows returns the windows of [policy.Rates], in the order of [figures].
func windows() [3]window {
	return [...]window{{"perMinute", "minute", time.Minute}, {"perHour", "hour", time.Hour}, {"perDay", "day", 24 * time.Hour}}
}

func figures(r *policy.Rates) [3]policy.Count {
	return [...]policy.Count{r.PerMinute, r.PerHour, r.PerDay}
}

// bucket holds the tokens of one figure over one window. A call takes a token, which comes back one window later, rounded up
// to a whole slot, so that no stretch of a window has more calls than tokens. The policy says at every call how many tokens there
// are, so that a change of the policy keeps what was counted.
type bucket struct {
	taken  int64
	last   int64 // number of the newest slot since 1970, as [slotAt] returns it
	slot   [slots + 1]uint32
	warned bool
}

// turn moves the bucket to a slot, and gives back the tokens whose time has come. If the clock was set back by more than a window, what
// was taken counts as taken now: tokens then come back late and never early, and a clock that was wrong for a moment keeps none forever.
func (b *bucket) turn(now int64) {
	if b.last-now > slots {
		b.slot, b.last = [slots + 1]uint32{}, now
		b.slot[now%(slots+1)] = uint32(b.taken)
	}
	for n := min(now-b.last, slots+1); n > 0; n-- {
		s := &b.slot[(now-n+1)%(slots+1)]
		b.taken -= int64(*s)
		*s = 0
	}
	b.last = max(b.last, now)
}

func (b *bucket) take() {
	b.slot[b.last%(slots+1)]++
	b.taken++
}

// giveBack returns a token that was taken in a slot, unless it came back already.
func (b *bucket) giveBack(at int64) {
	if s := &b.slot[at%(slots+1)]; at <= b.last && b.last-at <= slots && *s > 0 {
		*s--
		b.taken--
	}
}

// wait returns how long after the start of the newest slot the next token comes back, in slots.
func (b *bucket) wait(most int64) int64 {
	over := b.taken - most + 1
	for at := max(0, b.last-slots); at <= b.last; at++ {
		if over -= int64(b.slot[at%(slots+1)]); over <= 0 {
			return at + slots + 1 - b.last
		}
	}
	return 0
}

// tally counts for one bound: a bucket for each of its windows.
type tally [3]bucket

// slotAt returns the number of the slot of a moment since the beginning of 1970 (UTC), for a window. It is the time of day of the machine,
// because that is what several processes, and those before and after a restart of the machine, have in common.
func slotAt(at time.Time, w time.Duration) int64 { return max(0, at.UnixNano()/int64(w/slots)) }

// left returns how long after a moment a slot begins.
func left(slot int64, w time.Duration, at time.Time) time.Duration {
	return time.Unix(0, slot*int64(w/slots)).Sub(at)
}
