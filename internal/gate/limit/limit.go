// Package limit counts calls against the limits of the policy: rates over a minute, an hour and a day, and calls under way at once. It
// counts in memory, for this process: a restart begins anew. Which limits hold is the policy's to say ([policy.Policy.Bounds]).
package limit

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"mycelium/internal/policy"
)

// slots is into how many parts a window is divided: a token comes back at the end of its part, one window later.
const slots = 60

// Rule begins the rule of a refusal by a limit. It is followed by the limit's place under limits: in mycelium.yaml.
const Rule = "limit:"

// slotRetry is the retry time of a call that found every concurrency slot taken. When a slot becomes free is not known.
const slotRetry = time.Second

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
	last   int64 // number of the newest slot since the beginning
	slot   [slots + 1]uint32
	warned bool
}

// turn moves the bucket to a slot, and gives back the tokens whose time has come.
func (b *bucket) turn(now int64) {
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
	if s := &b.slot[at%(slots+1)]; b.last-at <= slots && *s > 0 {
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

// counter counts for one bound: of a role, or of a role in one session.
type counter struct {
	buckets [3]*bucket // nil until the figure was limited
	running int64
}

func (c *counter) bucket(i int) *bucket {
	if c.buckets[i] == nil {
		c.buckets[i] = &bucket{}
	}
	return c.buckets[i]
}

// Counters are those of one session, by the name of the bound. The lock of the [Limits] guards them. The zero value is empty.
type Counters struct{ byName map[string]*counter }

// Limits holds the counters of all roles. One lock guards them and the counters of every session: a call takes either all of its tokens
// or none. It is safe for concurrent use.
type Limits struct {
	begin time.Time

	mu    sync.Mutex
	roles Counters
}

// New returns limits that count from a moment.
func New(begin time.Time) *Limits { return &Limits{begin: begin} }

// Call is a call to count.
type Call struct {
	Bounds  []policy.Bound // the limits of its role; none: it is not limited
	Session *Counters
	Item    policy.Item
	At      time.Time
}

// counter returns the counter of a bound. The lock is held.
func (l *Limits) counter(session *Counters, b *policy.Bound) *counter {
	from := &l.roles
	if b.Session {
		from = session
	}
	if from.byName == nil {
		from.byName = map[string]*counter{}
	}
	c := from.byName[b.Name]
	if c == nil {
		c = &counter{}
		from.byName[b.Name] = c
	}
	return c
}

// slotAt returns the number of the slot of a moment. It uses the monotonic clock if the times have one, so that setting the time of day
// neither gives tokens back nor keeps them.
func (l *Limits) slotAt(at time.Time, w time.Duration) int64 {
	return max(0, int64(at.Sub(l.begin)/(w/slots)))
}

// Exceeded is a limit that refuses a call.
type Exceeded struct {
	Retry time.Duration // when the call may be tried again

	bound *policy.Bound
	key   string // perMinute, perHour, perDay or concurrent
	words string
	most  policy.Count
}

// Decision refuses the call, in words for people. They tell an agent only about its own role and about what it called.
func (x *Exceeded) Decision() policy.Decision {
	who, what := "role "+roleOf(x.bound), "calls"
	if x.bound.Session {
		who = "this session"
	}
	if x.bound.Tools != "" {
		what = "calls of " + x.bound.Tools
	}
	d := policy.Decision{Rule: Rule + x.bound.Name + "." + x.key}
	if x.key == concurrentKey {
		d.Reason = fmt.Sprintf("%s has %d %s under way, as many as it may have at once; try again when one of them has ended", who, x.most, what)
	} else {
		d.Reason = fmt.Sprintf("%s has used up its %d %s per %s; try again in %s", who, x.most, what, x.words, roughly(x.Retry))
	}
	d.Reason = strings.ToUpper(d.Reason[:1]) + d.Reason[1:]
	return d
}

// roleOf returns the role of a bound.
func roleOf(b *policy.Bound) string {
	name := b.Name
	if b.Tools != "" {
		name = strings.TrimSuffix(name, ".tools."+b.Tools)
	}
	if b.Session {
		name = strings.TrimSuffix(name, ".session")
	}
	return name
}

// roughly returns a time to wait in words, rounded up.
func roughly(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(math.Ceil(d.Seconds())))
	}
	return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
}

// Near is a limit of which four fifths are used.
type Near struct {
	Limit string // its place under limits: in mycelium.yaml
	Used  int64
	Max   policy.Count
}

// Pass takes a token of every bucket that counts the call, or returns the limit that refuses it: of several, the one with the longest
// wait. near are the limits that the call brings to four fifths; each is returned once, until less than half of it is used.
func (l *Limits) Pass(c Call) (refused *Exceeded, near []Near) {
	if len(c.Bounds) == 0 {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf [4]hit
	hits, all := l.hits(buf[:0], &c), windows()
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most == 0 {
				continue
			}
			k, w := h.counter.bucket(i), &all[i]
			if k.turn(l.slotAt(c.At, w.length)); k.taken < int64(most) {
				continue
			}
			retry := time.Duration(k.last+k.wait(int64(most)))*(w.length/slots) - c.At.Sub(l.begin)
			if refused == nil || retry > refused.Retry {
				refused = &Exceeded{retry, h.bound, w.key, w.words, most}
			}
		}
	}
	if refused != nil {
		return refused, nil
	}
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most == 0 {
				continue
			}
			k := h.counter.bucket(i)
			if 2*k.taken < int64(most) {
				k.warned = false
			}
			k.take()
			if !k.warned && 5*k.taken >= 4*int64(most) {
				k.warned = true
				near = append(near, Near{h.bound.Name + "." + all[i].key, k.taken, most})
			}
		}
	}
	return nil, near
}

// hit is a bound that counts a call, and its counter.
type hit struct {
	bound   *policy.Bound
	counter *counter
}

// hits appends the bounds that count a call. The lock is held.
func (l *Limits) hits(dst []hit, c *Call) []hit {
	for n := range c.Bounds {
		if b := &c.Bounds[n]; b.Concerns(c.Item) {
			dst = append(dst, hit{b, l.counter(c.Session, b)})
		}
	}
	return dst
}

// concurrentKey is the figure that counts calls under way.
const concurrentKey = "concurrent"

// Slots are the concurrency slots that a call holds.
type Slots []*counter

// Enter takes a concurrency slot of every bound that counts the call, or returns the limit that refuses it. A refused call gives its
// tokens back if counted is set: it took them with Pass at the same time.
func (l *Limits) Enter(c Call, counted bool) (Slots, *Exceeded) {
	if len(c.Bounds) == 0 {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf [4]hit
	hits := l.hits(buf[:0], &c)
	for _, h := range hits {
		if h.bound.Concurrent == 0 || h.counter.running < int64(h.bound.Concurrent) {
			continue
		}
		if counted {
			l.giveBack(hits, c.At)
		}
		return nil, &Exceeded{Retry: slotRetry, bound: h.bound, key: concurrentKey, most: h.bound.Concurrent}
	}
	var held Slots
	for _, h := range hits {
		if h.bound.Concurrent > 0 {
			h.counter.running++
			held = append(held, h.counter)
		}
	}
	return held, nil
}

// giveBack returns the tokens that a call took. The lock is held.
func (l *Limits) giveBack(hits []hit, at time.Time) {
	all := windows()
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most > 0 {
				h.counter.bucket(i).giveBack(l.slotAt(at, all[i].length))
			}
		}
	}
}

// Leave gives slots back.
func (l *Limits) Leave(held Slots) {
	if held == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range held {
		k.running--
	}
}

// Use is one limit of a session and how much of it is used.
type Use struct {
	Limit   string `json:"limit"` // perMinute, perHour, perDay or concurrent
	Of      string `json:"of"`    // role (all of its sessions together) or session
	Tools   string `json:"tools,omitempty"`
	Max     int64  `json:"max"`
	Used    int64  `json:"used"`
	Warning bool   `json:"warning,omitzero"`      // four fifths or more are used
	Retry   int64  `json:"retryAfterMs,omitzero"` // set if all of it is used
}

// Uses returns how much is used of each of a session's bounds. It leaves a bound out that shown does not return true for.
func (l *Limits) Uses(bounds []policy.Bound, session *Counters, now time.Time, shown func(*policy.Bound) bool) []Use {
	var out []Use
	all := windows()
	for n := range bounds {
		b := &bounds[n]
		if !shown(b) {
			continue
		}
		out = l.uses(out, b, session, now, all)
	}
	return out
}

// uses appends the figures of one bound.
func (l *Limits) uses(out []Use, b *policy.Bound, session *Counters, now time.Time, all [3]window) []Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.counter(session, b)
	use := Use{Of: "role", Tools: b.Tools}
	if b.Session {
		use.Of = "session"
	}
	for i, most := range figures(&b.Rates) {
		if most == 0 {
			continue
		}
		t := k.bucket(i)
		t.turn(l.slotAt(now, all[i].length))
		u := use
		u.Limit, u.Max, u.Used = all[i].key, int64(most), t.taken
		u.Warning = 5*u.Used >= 4*u.Max
		if u.Used >= u.Max {
			u.Retry = milliseconds(time.Duration(t.last+t.wait(u.Max))*(all[i].length/slots) - now.Sub(l.begin))
		}
		out = append(out, u)
	}
	if b.Concurrent > 0 {
		u := use
		u.Limit, u.Max, u.Used = concurrentKey, int64(b.Concurrent), k.running
		u.Warning = u.Used >= u.Max
		out = append(out, u)
	}
	return out
}

// milliseconds returns a time to wait, rounded up.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// Keep forgets the counters of bounds that no role of a policy has, unless calls that they count are under way.
func (l *Limits) Keep(p *policy.Policy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := map[string]bool{}
	for _, r := range p.Roles() {
		for _, b := range p.Bounds(r) {
			known[b.Name] = true
		}
	}
	for name, k := range l.roles.byName {
		if !known[name] && k.running == 0 {
			delete(l.roles.byName, name)
		}
	}
}
