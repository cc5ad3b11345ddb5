package gate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// ErrNoSession means that a credential is not one of ours, or no longer.
var ErrNoSession = errors.New("no such session: it is unknown, has ended or has expired")

// Session is what one credential may do now. It is safe for concurrent use.
type Session struct {
	ID string

	gate      *Gate
	name      string
	principal policy.Principal // without roles: those are state
	start     string           // the role it began with
	created   time.Time
	expires   time.Time // zero: never
	hash      []byte    // of its token, or of who holds one that somebody else issued; nil: opened
	issuer    string    // who issued its tokens; empty: we did
	refused   int64     // tokens that were issued until then (microseconds since 1970) are void: an operator ended an earlier session

	state    atomic.Pointer[state] // what was asked for
	scoped   atomic.Pointer[scoped]
	shown    atomic.Pointer[view.Lists]     // what its client was last given
	thinking atomic.Pointer[audit.Thinking] // for the next call
	changed  signal
	done     chan struct{}

	ended   atomic.Bool
	open    opens
	history diary
	written *facts.Written

	counters limit.Counters

	mu    sync.Mutex // held while role or skills change, so that record, database and memory agree
	timer *time.Timer
}

// state is what was asked for, immutable. What comes of it depends on the world; see [scoped].
type state struct {
	role  string
	may   []string // the roles that it may take, sorted
	asked asked
	// issued is when the token was issued from which role and may follow; zero: a session of our own, where they never change.
	issued time.Time
}

// asked are the skills that were asked for, as they are kept in the database. The active skills are: the start set of the
// role (of Only, when it is set), and Added, without Removed, as far as they are open to the role at the moment.
type asked struct {
	Only    []string `json:"only"`              // null: the start set that the policy knows for the role
	Added   []string `json:"added,omitempty"`   // activated by hand; they stay over a role switch, where they are open
	Removed []string `json:"removed,omitempty"` // taken away by the operator; an agent cannot take them back
}

// scoped is what a state comes to in a world, immutable. It is the version by which views are kept.
type scoped struct {
	id    string // of the session
	state *state
	world *view.Catalog
	scope policy.Scope
	open  []string // skills that the role may activate
	fixed []string // protected: the start set, which no agent takes apart
	known bool     // the role exists

	bounds []policy.Bound // the limits of its calls
	parent *scoped        // of a child: the session that it belongs to

	once sync.Once
	seen *view.Lists // computed when first asked for
}

// Event is one change of the active skills (B11, B30).
type Event struct {
	Type   string    `json:"type"` // escalate or deescalate
	Skill  string    `json:"skillId"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"timestamp"`
}

// maxHistory bounds the events that a session keeps in memory; all of them are in the log.
const maxHistory = 100

// diary is the last of a session's events.
type diary struct {
	mu     sync.Mutex
	events []Event
}

func (d *diary) add(more []Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, more...)
	if n := len(d.events) - maxHistory; n > 0 {
		d.events = slices.Clone(d.events[n:])
	}
}

// Scope is the session's scope now. Its slices are shared: do not modify them.
func (s *Session) Scope() policy.Scope { return s.now().scope }

// Changed returns a channel that is closed when what the session sees may be other than at the time of the call.
func (s *Session) Changed() <-chan struct{} { return s.changed.wait() }

// Done is closed when the session has ended or expired.
func (s *Session) Done() <-chan struct{} { return s.done }

// History are the last changes of its active skills, oldest first.
func (s *Session) History() []Event {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return slices.Clone(s.history.events)
}

// now is the session's state seen through the world of this moment. Nothing is locked: two callers may compute the same.
func (s *Session) now() *scoped {
	st, w := s.state.Load(), s.gate.world.Load()
	if sc := s.scoped.Load(); sc != nil && sc.state == st && sc.world == w {
		return sc
	}
	sc := s.scopeIn(st, w)
	s.scoped.Store(sc)
	return sc
}

// scopeIn is what a state comes to in a world.
func (s *Session) scopeIn(st *state, w *view.Catalog) *scoped {
	sc := &scoped{id: s.ID, state: st, world: w}
	if st.role != "" {
		_, sc.known = w.Policy.Role(st.role)
		sc.open = w.Policy.OpenSkills(st.role)
		sc.bounds = w.Policy.Bounds(st.role)
	}
	first := st.asked.Only
	if first == nil && st.role != "" {
		first = w.Policy.StartSkills(st.role)
	}
	admit := func(name string) bool { return slices.Contains(sc.open, name) }
	active := []string{}
	for _, name := range first {
		if admit(name) {
			sc.fixed = append(sc.fixed, name)
			if !slices.Contains(st.asked.Removed, name) {
				active = append(active, name)
			}
		}
	}
	for _, name := range st.asked.Added {
		if admit(name) {
			active = append(active, name)
		}
	}
	slices.Sort(active)
	p := s.principal
	p.Role, p.Roles = st.role, st.may
	sc.scope = policy.Scope{Principal: p, Skills: slices.Compact(active)}
	return sc
}

// mayTake are the roles that the session may switch to and that exist, the present one included, sorted.
func (sc *scoped) mayTake() []string {
	var roles []string
	for _, r := range sc.scope.Principal.Roles {
		if _, ok := sc.world.Policy.Role(r); ok {
			roles = append(roles, r)
		}
	}
	return roles
}

// finish marks the session as over and tells whoever waits. It reports whether this call was the one that did.
func (s *Session) finish() bool {
	if s.ended.Swap(true) {
		return false
	}
	s.mu.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	close(s.done)
	s.changed.fire()
	return true
}

// over reports whether the session has ended or its time has passed.
func (s *Session) over(now time.Time) bool {
	return s.ended.Load() || s.lapsed(now)
}

// lapsed reports whether its time has passed.
func (s *Session) lapsed(now time.Time) bool { return !s.expires.IsZero() && !now.Before(s.expires) }

// watch ends the session when its time has come.
func (g *Gate) watch(s *Session) {
	if s.expires.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return
	}
	s.timer = time.AfterFunc(s.expires.Sub(g.now()), func() {
		if s.over(g.now()) {
			g.expire(s)
		} else {
			g.watch(s) // the clock was set back
		}
	})
}

// expire ends a session whose time has passed, and records it. The database needs no word: the time stands there.
func (g *Gate) expire(s *Session) {
	if !s.finish() {
		return
	}
	g.live.drop(s)
	g.forget(context.Background(), s)
	if err := g.recordChange(context.Background(), s, s.now().scope, change{Act: "expired", By: "time"}); err != nil {
		g.logger.Error("the end of a session is not in the audit log", "session", s.ID, "error", err)
	}
}

// signal is "something changed" as a channel that closes.
type signal struct {
	mu sync.Mutex
	ch chan struct{}
}

func (x *signal) wait() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ch == nil {
		x.ch = make(chan struct{})
	}
	return x.ch
}

func (x *signal) fire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ch != nil {
		close(x.ch)
		x.ch = nil
	}
}

// difference returns what after has more and what it has less than before. Both are sorted.
func difference(before, after []string) (added, removed []string) {
	for _, s := range after {
		if _, found := slices.BinarySearch(before, s); !found {
			added = append(added, s)
		}
	}
	for _, s := range before {
		if _, found := slices.BinarySearch(after, s); !found {
			removed = append(removed, s)
		}
	}
	return added, removed
}

// uses returns the limits of a scope and how much of each is used. An agent is told of a limit over tools only if it counts a tool in
// its view: from another limit's pattern it could learn what is hidden from it.
func (s *Session) uses(sc *scoped, now time.Time, by Actor) []limit.Use {
	return s.gate.limits.Uses(sc.bounds, &s.counters, now, func(b *policy.Bound) bool {
		return b.Tools == "" || by == ByOperator || sc.view().Has(b)
	})
}
