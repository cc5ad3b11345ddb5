package gate

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
)

// Limits are counted here, in memory, for this process: a restart begins anew. What may be counted is the policy's to say
// ([policy.Policy.Bounds]). Calls of our own servers are not counted: an agent at its limit can still find out why.

// slots is into how many parts a window is divided: a token comes back at the end of its part, one window later.
const slots = 60

// limitRule begins the rule of a refusal by a limit; what stands behind it is its place under limits: in mycelium.yaml.
const limitRule = "limit:"

// slotRetry is what a call is told that found every concurrency slot taken: when one will be free nobody knows.
const slotRetry = time.Second

// window is one of the spans over which calls are counted.
type window struct {
	key    string // in mycelium.yaml
	words  string
	length time.Duration
}

// windows are those of [policy.Rates], in the order of [figures].
func windows() [3]window {
	return [...]window{{"perMinute", "minute", time.Minute}, {"perHour", "hour", time.Hour}, {"perDay", "day", 24 * time.Hour}}
}

func figures(r *policy.Rates) [3]policy.Count {
	return [...]policy.Count{r.PerMinute, r.PerHour, r.PerDay}
}

// bucket holds the tokens of one figure over one window. A call takes a token, which comes back one window later, rounded up
// to a whole slot: in no stretch of a window are there more calls than tokens. How many tokens there are is the policy's to
// say at every call, so that a change of it keeps what was counted.
type bucket struct {
	taken  int64
	last   int64 // number of the newest slot since the gate began
	slot   [slots + 1]uint32
	warned bool
}

// turn gives back the tokens whose time has come.
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

// wait is how long after the start of the newest slot the next token comes back, in slots.
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
	buckets [3]*bucket // nil where nothing was ever limited
	running int64
}

func (c *counter) bucket(i int) *bucket {
	if c.buckets[i] == nil {
		c.buckets[i] = &bucket{}
	}
	return c.buckets[i]
}

// limits are the counters of a gate. One lock guards them all, those of sessions included: a call takes all of its tokens or
// none.
type limits struct {
	begin time.Time

	mu    sync.Mutex
	roles map[string]*counter // by the name of the bound
}

// counter of a bound. The lock is held.
func (l *limits) counter(s *Session, b *policy.Bound) *counter {
	from := &l.roles
	if b.Session {
		from = &s.counters
	}
	if *from == nil {
		*from = map[string]*counter{}
	}
	c := (*from)[b.Name]
	if c == nil {
		c = &counter{}
		(*from)[b.Name] = c
	}
	return c
}

// slotAt is the number of the slot of a moment. The clock that counts is the monotonic one where there is one: setting the
// time of day neither gives tokens back nor keeps them.
func (l *limits) slotAt(at time.Time, w time.Duration) int64 {
	return max(0, int64(at.Sub(l.begin)/(w/slots)))
}

// exceeded is a limit in the way of a call.
type exceeded struct {
	bound *policy.Bound
	key   string // perMinute, perHour, perDay or concurrent
	words string
	most  policy.Count
	retry time.Duration
}

// decision refuses the call, in words for people. They tell an agent of its own role and of what it called, no more.
func (x *exceeded) decision() policy.Decision {
	who, what := "role "+roleOf(x.bound), "calls"
	if x.bound.Session {
		who = "this session"
	}
	if x.bound.Tools != "" {
		what = "calls of " + x.bound.Tools
	}
	d := policy.Decision{Rule: limitRule + x.bound.Name + "." + x.key}
	if x.key == concurrentKey {
		d.Reason = fmt.Sprintf("%s has %d %s under way, as many as it may have at once; try again when one of them has ended", who, x.most, what)
	} else {
		d.Reason = fmt.Sprintf("%s has used up its %d %s per %s; try again in %s", who, x.most, what, x.words, roughly(x.retry))
	}
	d.Reason = strings.ToUpper(d.Reason[:1]) + d.Reason[1:]
	return d
}

// roleOf is the role of a bound.
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

// roughly is a time to wait as people say it, never less than it is.
func roughly(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(math.Ceil(d.Seconds())))
	}
	return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
}

// nearly is a bucket of which four fifths are used.
type nearly struct {
	bound *policy.Bound
	key   string
	used  int64
	most  policy.Count
}

// pass takes a token of every bucket that counts the call, or says which limit is in the way. Of several it names the one
// that keeps the call waiting longest.
func (l *limits) pass(c *Admission) (refused *exceeded, warn []nearly) {
	if len(c.scoped.bounds) == 0 || ownServer(c.Item.Server) {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf [4]hit
	hits, all := l.hits(buf[:0], c), windows()
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most == 0 {
				continue
			}
			k, w := h.counter.bucket(i), &all[i]
			if k.turn(l.slotAt(c.began, w.length)); k.taken < int64(most) {
				continue
			}
			retry := time.Duration(k.last+k.wait(int64(most)))*(w.length/slots) - c.began.Sub(l.begin)
			if refused == nil || retry > refused.retry {
				refused = &exceeded{h.bound, w.key, w.words, most, retry}
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
				warn = append(warn, nearly{h.bound, all[i].key, k.taken, most})
			}
		}
	}
	return nil, warn
}

// hit is a bound that counts a call, and its counter.
type hit struct {
	bound   *policy.Bound
	counter *counter
}

// hits are the bounds that count a call. The lock is held.
func (l *limits) hits(dst []hit, c *Admission) []hit {
	for n := range c.scoped.bounds {
		if b := &c.scoped.bounds[n]; b.Concerns(c.Item) {
			dst = append(dst, hit{b, l.counter(c.session, b)})
		}
	}
	return dst
}

// concurrentKey is the figure that counts calls under way.
const concurrentKey = "concurrent"

// enter takes a concurrency slot of every bound that counts the call. Without one the call does not run, and gives its tokens
// back.
func (l *limits) enter(c *Admission) *exceeded {
	if len(c.scoped.bounds) == 0 || ownServer(c.Item.Server) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var buf [4]hit
	hits := l.hits(buf[:0], c)
	for _, h := range hits {
		if h.bound.Concurrent == 0 || h.counter.running < int64(h.bound.Concurrent) {
			continue
		}
		if !c.follows() { // else no token was taken
			l.giveBack(hits, c.began)
		}
		return &exceeded{bound: h.bound, key: concurrentKey, most: h.bound.Concurrent, retry: slotRetry}
	}
	for _, h := range hits {
		if h.bound.Concurrent > 0 {
			h.counter.running++
			c.held = append(c.held, h.counter)
		}
	}
	return nil
}

// giveBack returns the tokens that a call took. The lock is held.
func (l *limits) giveBack(hits []hit, at time.Time) {
	all := windows()
	for _, h := range hits {
		for i, most := range figures(&h.bound.Rates) {
			if most > 0 {
				h.counter.bucket(i).giveBack(l.slotAt(at, all[i].length))
			}
		}
	}
}

// leave gives the slots of a call back; a second time it does nothing.
func (l *limits) leave(c *Admission) {
	if c.held == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range c.held {
		k.running--
	}
	c.held = nil
}

// LimitUse is one limit of a session and how much of it is used.
type LimitUse struct {
	Limit   string `json:"limit"` // perMinute, perHour, perDay or concurrent
	Of      string `json:"of"`    // role (all of its sessions together) or session
	Tools   string `json:"tools,omitempty"`
	Max     int64  `json:"max"`
	Used    int64  `json:"used"`
	Warning bool   `json:"warning,omitzero"`      // four fifths or more are used
	Retry   int64  `json:"retryAfterMs,omitzero"` // when all of it is used
}

// uses are the limits that hold for a scope. Of those over tools an agent is told only such as count a tool in its view: of the
// pattern of one that does not, it could learn what is hidden from it.
func (l *limits) uses(s *Session, sc *scoped, now time.Time, by Actor) []LimitUse {
	var out []LimitUse
	var told []*policy.Bound
	for n := range sc.bounds {
		if b := &sc.bounds[n]; b.Tools == "" || by == ByOperator || sc.view().has(b) {
			told = append(told, b)
		}
	}
	all := windows()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range told {
		k := l.counter(s, b)
		use := LimitUse{Of: "role", Tools: b.Tools}
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
	}
	return out
}

// milliseconds of a time to wait, rounded up.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// has reports whether a bound counts something in view.
func (v *view) has(b *policy.Bound) bool {
	for _, list := range v.lists {
		for i := range list {
			if !ownServer(list[i].Item.Server) && b.Concerns(list[i].Item) {
				return true
			}
		}
	}
	return false
}

// tooMany records a call that a limit refuses.
func (g *Gate) tooMany(ctx context.Context, c *Admission, x *exceeded) error {
	c.decidedBy = "limit"
	d := x.decision()
	if err := g.recordDecision(ctx, c, d); err != nil {
		g.logger.Error("a denial is not in the audit log", "call", c.id, "tool", c.Item.String(), "error", err)
	}
	denied := c.denied(d)
	denied.RetryAfter = x.retry
	return denied
}

// warnOf tells the operator of limits that are nearly used up: once, until less than half of it is used.
func (g *Gate) warnOf(ctx context.Context, c *Admission, list []nearly) {
	for _, w := range list {
		name := w.bound.Name + "." + w.key
		g.logger.Warn("a limit is nearly used up", "limit", name, "used", w.used, "of", w.most, "session", c.session.ID)
		p := &c.scoped.scope.Principal
		err := g.append(ctx, audit.Record{
			ID: audit.NewID(), Kind: audit.Session, Time: c.began, Session: c.session.ID, Principal: p.ID, Role: p.Role, Surface: c.Surface,
			Rule: limitRule + name, DecidedBy: "limit", Note: fmt.Sprintf("limit %s: %d of %d used", name, w.used, w.most),
		})
		if err != nil {
			g.logger.Error("a warning of a limit is not in the audit log", "limit", name, "error", err)
		}
	}
}

// keepLimits forgets the counters of bounds that no role has any more, unless calls that they count are under way.
func (l *limits) keepLimits(p *policy.Policy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := map[string]bool{}
	for _, r := range p.Roles() {
		for _, b := range p.Bounds(r) {
			known[b.Name] = true
		}
	}
	for name, k := range l.roles {
		if !known[name] && k.running == 0 {
			delete(l.roles, name)
		}
	}
}
