// Package session keeps what one credential may do: its tokens and their rows in the database, the roles and skills of the moment, and
// what its clients were shown. A session keeps what was asked for; a [Snapshot] is that, seen through the policy of one moment. A role or
// skill that the policy loses falls out of the snapshot, and comes back with the policy.
package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// ErrNoSession means that a credential was never one of ours, or no longer is.
var ErrNoSession = errors.New("no such session: it is unknown, has ended or has expired")

// Session is what one credential may do now. It is safe for concurrent use.
type Session struct {
	ID        string
	Name      string           // for people
	Principal policy.Principal // without roles: those are state
	Created   time.Time
	Asks      approval.WhenAsked // what becomes of its calls that need an approval; empty: what each caller says
	Writes    string             // the only file that its calls may change, absolute, links resolved; empty: what the policy says
	Folder    string             // the linked worktree in which its calls work, absolute, links resolved; empty: the project's own folder
	Counters  limit.Counters
	Written   *facts.Written
	Calls     calls                          // those that can be continued
	Links     links                          // the URIs in results of servers
	Thinking  atomic.Pointer[audit.Thinking] // for the next call
	Denied    atomic.Int64                   // calls of its client in a row that were denied

	registry *Registry
	start    string    // the role it began with
	expires  time.Time // zero: never
	hash     []byte    // of its token, or of the holder of another issuer's token; nil: opened
	issuer   string    // who issued its tokens; empty: we did
	above    *Session  // of a sub-agent: the session that started it; nil: there is none
	by       *Child    // likewise: the subagent of that session that did; nil: its agent
	refused  int64     // tokens issued until then (microseconds since 1970) are void: an operator ended an earlier session

	state   atomic.Pointer[state]      // what was asked for
	last    atomic.Pointer[Snapshot]   // the one computed last
	shown   atomic.Pointer[view.Lists] // what its client was last given
	changed signal
	done    chan struct{}
	ended   atomic.Bool
	history diary
	listing listing

	mu    sync.Mutex // held while role or skills change, so that record, database and memory agree
	timer *time.Timer
}

// state is what was asked for, immutable. What follows from it depends on the world; see [Snapshot].
type state struct {
	role  string
	may   []string // the roles that it may take, sorted
	asked asked
	// issued is when the token was issued from which role and may follow; zero: a session of our own, where they never change.
	issued time.Time
}

// asked are the skills that were asked for, as the database keeps them. Active are the start set of the role (or Only, if it is set)
// and Added, without Removed, as far as they are open to the role at the moment.
type asked struct {
	Only    []string `json:"only"`              // null: the start set that the policy knows for the role
	Added   []string `json:"added,omitempty"`   // activated by hand; they stay over a role switch, where they are open
	Removed []string `json:"removed,omitempty"` // by the operator; an agent cannot activate them again
}

// Event is one change of the active skills (B11, B30).
type Event struct {
	Type   string    `json:"type"` // escalate or deescalate
	Skill  string    `json:"skillId"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"timestamp"`
}

// maxHistory bounds the events that a session keeps in memory. The log has all of them.
const maxHistory = 100

// diary holds the last of a session's events.
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

// Scope returns the session's scope now. Its slices are shared: do not modify them.
func (s *Session) Scope() policy.Scope { return s.Snapshot().Scope }

// Changed returns a channel that is closed when what the session sees may have changed since the call.
func (s *Session) Changed() <-chan struct{} { return s.changed.wait() }

// Done returns a channel that is closed when the session has ended or expired.
func (s *Session) Done() <-chan struct{} { return s.done }

// History returns the last changes of the active skills, oldest first.
func (s *Session) History() []Event {
	s.history.mu.Lock()
	defer s.history.mu.Unlock()
	return slices.Clone(s.history.events)
}

// finish marks the session as over and closes its channels. It reports whether this call was the one that did.
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

// Over reports whether the session has ended or its time has passed.
func (s *Session) Over(now time.Time) bool {
	return s.ended.Load() || s.lapsed(now)
}

// lapsed reports whether its time has passed.
func (s *Session) lapsed(now time.Time) bool { return !s.expires.IsZero() && !now.Before(s.expires) }

// watch ends the session when its time has come.
func (r *Registry) watch(s *Session) {
	if s.expires.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.Load() {
		return
	}
	s.timer = time.AfterFunc(s.expires.Sub(r.now()), func() {
		if s.Over(r.now()) {
			r.expire(s)
		} else {
			r.watch(s) // the clock was set back
		}
	})
}

// expire ends a session whose time has passed, and records it. The database knows the time already.
func (r *Registry) expire(s *Session) {
	if !s.finish() {
		return
	}
	r.live.drop(s)
	r.forget(context.Background(), s.ID)
	err := r.recordChange(context.Background(), s, s.Snapshot().Scope, change{Act: "expired", By: "time"})
	if err = errors.Join(err, s.endBelow(context.Background())); err != nil {
		r.logger.Error("the end of a session is not in the audit log", "session", s.ID, "error", err)
	}
}

// Counted are the counters that its limits count with: a sub-agent has those of the session that started it.
func (s *Session) Counted() *limit.Counters {
	for s.above != nil {
		s = s.above
	}
	return &s.Counters
}

// Uses returns the limits of a snapshot and how much of each is used. An agent is told of a limit over tools only if the limit counts
// a tool in its view: from another limit's pattern it could learn what is hidden from it.
func (s *Session) Uses(sc *Snapshot, now time.Time, by Actor) []limit.Use {
	return s.registry.limits.Uses(sc.Bounds, s.Counted(), now, func(b *policy.Bound) bool {
		return b.Tools == "" || by == ByOperator || sc.View().Has(b)
	})
}

// signal is a channel that closes at the next change.
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

// Difference returns what only after has, and what only before has. Both are sorted.
func Difference(before, after []string) (added, removed []string) {
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
