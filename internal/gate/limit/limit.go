// Package limit counts calls against the limits of the policy: rates over a minute, an hour and a day, and calls under way at once. The
// rates of a project are counted in one place, files in its state, by every process that admits calls: they outlive each of them. The calls
// under way are those of one process. Which limits hold is the policy's to say ([policy.Policy.Bounds]).
package limit

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"mycelium/internal/policy"
)

// Rule begins the rule of a refusal by a limit. It is followed by the limit's place under limits: in mycelium.yaml.
const Rule = "limit:"

// slotRetry is the retry time of a call that found every concurrency slot taken. When a slot becomes free is not known.
const slotRetry = time.Second

// counter counts for one bound: of a role, or of a role in one session.
type counter struct {
	tally   tally // if the counts are shared, as this process read them last
	running int64
	place   int64 // of its record in the file, if it was found there before
}

// Counters are those of one session, or of all roles, by the name of the bound. The lock of the [Limits] guards them. The zero value is
// empty and counts in memory.
type Counters struct {
	byName map[string]*counter
	file   string // of the shared counts; "": there is none
}

// Options of limits.
type Options struct {
	// Folder keeps the counts of rates, for all processes of the project. Its parent must exist. "": they are counted in memory.
	Folder string
	// Leaves says that this process ends before the calls that it admits, as a hook without a daemon does. It cannot know how many
	// calls are under way: a call that such a limit counts is refused.
	Leaves bool
}

// Limits holds the counters of all roles. One lock guards them and the counters of every session: a call takes either all of its tokens
// or none. It is safe for concurrent use.
type Limits struct {
	leaves bool

	mu     sync.Mutex
	shared *folder // nil: the counts are in memory
	roles  Counters
}

// New returns limits. The files of shared counts are opened at the first call that they count.
func New(o Options) *Limits {
	l := &Limits{leaves: o.Leaves}
	if o.Folder != "" {
		l.shared = &folder{path: o.Folder}
		l.roles.file = l.shared.roles()
	}
	return l
}

// Session returns the counters of a session, with what other processes counted for it.
func (l *Limits) Session(id string) Counters {
	if l.shared == nil {
		return Counters{}
	}
	return Counters{file: l.shared.session(id)}
}

// Call is a call to count.
type Call struct {
	Bounds  []policy.Bound // the limits of its role; none: it is not limited
	Session *Counters
	Item    policy.Item
	At      time.Time
}

// hit returns the counter of a bound. The lock is held.
func (l *Limits) hit(session *Counters, b *policy.Bound) hit {
	from := &l.roles
	if b.Session {
		from = session
	}
	if from.byName == nil {
		from.byName = map[string]*counter{}
	}
	c := from.byName[b.Name]
	if c == nil {
		c = &counter{place: -1}
		from.byName[b.Name] = c
	}
	return hit{b, from, c}
}

// Exceeded is a limit that refuses a call.
type Exceeded struct {
	Retry time.Duration // when the call may be tried again

	Err error // why the calls cannot be counted; nil: as many were counted as may be

	bound  *policy.Bound
	key    string // perMinute, perHour, perDay or concurrent; "": the calls cannot be counted
	words  string
	most   policy.Count
	leaves bool // only the daemon counts calls under way
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
	d := policy.Decision{Rule: Rule + strings.TrimSuffix(x.bound.Name+"."+x.key, ".")}
	switch {
	case x.Err != nil:
		d.Reason = fmt.Sprintf("%s has limits, and its %s cannot be counted, so this call does not run. The operator's log says why", who, what)
	case x.leaves:
		d.Reason = fmt.Sprintf("%s may have %d %s under way, and only the daemon counts those: the operator starts it with "+
			"myc serve --background", who, x.most, what)
	case x.key == concurrentKey:
		d.Reason = fmt.Sprintf("%s has %d %s under way, as many as it may have at once; try again when one of them has ended", who, x.most, what)
	default:
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
	if d < 2*time.Hour {
		return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
	}
	return fmt.Sprintf("%d h", int(math.Ceil(d.Hours())))
}

// Near is a limit of which four fifths are used.
type Near struct {
	Limit string // its place under limits: in mycelium.yaml
	Used  int64
	Max   policy.Count
}

// Pass takes a token of every bucket that counts the call, or returns the limit that refuses it: of several, the one with the longest
// wait. near are the limits that the call brings to four fifths; each is returned once, until less than half of it is used. When Pass
// returns, every process of the project knows that the tokens are taken.
func (l *Limits) Pass(c Call) (refused *Exceeded, near []Near) {
	if len(c.Bounds) == 0 {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf [4]hit
	hits := l.hits(buf[:0], &c)
	for _, h := range hits {
		if h.bound.Concurrent > 0 && l.leaves {
			return &Exceeded{Retry: slotRetry, bound: h.bound, key: concurrentKey, most: h.bound.Concurrent, leaves: true}, nil
		}
	}
	err := l.counting(hits, c.At, func() (changed bool) {
		if refused = usedUp(hits, c.At); refused == nil {
			near = take(hits)
		}
		return refused == nil
	})
	if err != nil {
		return &Exceeded{Retry: slotRetry, Err: err, bound: hits[0].bound}, nil
	}
	return refused, near
}

// usedUp returns the limit that refuses a call, or nil. It turns the buckets to the moment.
func usedUp(hits []hit, at time.Time) (refused *Exceeded) {
	all := windows()
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most == 0 {
				continue
			}
			k, w := &h.counter.tally[i], &all[i]
			if k.turn(slotAt(at, w.length)); k.taken < int64(most) {
				continue
			}
			retry := left(k.last+k.wait(int64(most)), w.length, at)
			if refused == nil || retry > refused.Retry {
				refused = &Exceeded{Retry: retry, bound: h.bound, key: w.key, words: w.words, most: most}
			}
		}
	}
	return refused
}

// take takes the tokens of a call, and returns the limits that it brings to four fifths.
func take(hits []hit) (near []Near) {
	all := windows()
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most == 0 {
				continue
			}
			k := &h.counter.tally[i]
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
	return near
}

// hit is a bound that counts a call, and its counter.
type hit struct {
	bound   *policy.Bound
	of      *Counters
	counter *counter
}

// hits appends the bounds that count a call. The lock is held.
func (l *Limits) hits(dst []hit, c *Call) []hit {
	for n := range c.Bounds {
		if b := &c.Bounds[n]; b.Concerns(c.Item) {
			dst = append(dst, l.hit(c.Session, b))
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

// giveBack returns the tokens that a call took. The lock is held. If that fails they stay taken, and come back in their time.
func (l *Limits) giveBack(hits []hit, at time.Time) {
	all := windows()
	_ = l.counting(hits, at, func() (changed bool) {
		for _, h := range hits {
			for i, most := range figures(&h.bound.Rates) {
				if most > 0 {
					h.counter.tally[i].giveBack(slotAt(at, all[i].length))
				}
			}
		}
		return true
	})
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

// Uses returns how much is used of each of a session's bounds. It leaves a bound out that shown does not return true for. If the shared
// counts cannot be read, all of a rate is used: no call that it counts is admitted then.
func (l *Limits) Uses(bounds []policy.Bound, session *Counters, now time.Time, shown func(*policy.Bound) bool) (out []Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var hits []hit
	for n := range bounds {
		if b := &bounds[n]; shown(b) {
			hits = append(hits, l.hit(session, b))
		}
	}
	if len(hits) == 0 {
		return nil
	}
	err := l.counting(hits, now, func() (changed bool) {
		for _, h := range hits {
			out = uses(out, h, now)
		}
		return false
	})
	if err != nil {
		out = nil
		for _, h := range hits {
			out = uses(out, h, now)
		}
		for i := range out {
			if u := &out[i]; u.Limit != concurrentKey {
				u.Used, u.Warning, u.Retry = u.Max, true, milliseconds(slotRetry)
			}
		}
	}
	return out
}

// uses appends the figures of one bound.
func uses(out []Use, h hit, now time.Time) []Use {
	b, all := h.bound, windows()
	use := Use{Of: "role", Tools: b.Tools}
	if b.Session {
		use.Of = "session"
	}
	for i, most := range figures(&b.Rates) {
		if most == 0 {
			continue
		}
		t := &h.counter.tally[i]
		t.turn(slotAt(now, all[i].length))
		u := use
		u.Limit, u.Max, u.Used = all[i].key, int64(most), t.taken
		u.Warning = 5*u.Used >= 4*u.Max
		if u.Used >= u.Max {
			u.Retry = milliseconds(left(t.last+t.wait(u.Max), all[i].length, now))
		}
		out = append(out, u)
	}
	if b.Concurrent > 0 {
		u := use
		u.Limit, u.Max, u.Used = concurrentKey, int64(b.Concurrent), h.counter.running
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
