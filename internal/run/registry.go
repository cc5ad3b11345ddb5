// Package run is the daemon's side of the hooks: it knows the coding agents at work, and answers their events. A run is one session of
// an agent; it has a session of the gate, subagents, a transcript, costs, and people who may be asked and are told.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// People says who can be asked about the calls of agents.
type People interface {
	Mode() approval.Mode // who is asked
	Reachable() bool     // somebody looks at the queue, or a chat is configured
	Chat() bool          // a chat is configured: stops are told there in remote mode
}

// Notices tells people of runs. Its methods must not wait.
type Notices interface {
	Post(n approval.Notice)
	// Ring says that a run's own terminal asks its person, or that this is over. What waits in the queue is told by the queue.
	Ring(s approval.AgentSession, on bool)
}

// Options of a [Registry]. Gate, Spec and People are required.
type Options struct {
	Gate    *gate.Gate
	Spec    func() session.Spec // of a session whose hook brings no token: the default principal of the configuration
	People  People
	Queue   *approval.Queue  // nil: nobody but the agent's own terminal can be asked
	Notices Notices          // nil: nobody is told
	Budget  *Budget          // nil: costs are not followed
	Denials *Denials         // nil: refusals are not counted
	Logger  *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now
	Alone   bool             // there is no daemon: this process answers one event, and another answered the one before
}

// Registry knows the runs of agents, and answers their events. It is safe for concurrent use.
type Registry struct {
	Options
	notifier

	opening sync.Mutex // held while a session is opened, so that a run has one

	mu    sync.Mutex // guards what follows; a run's own mutex may be taken under it, and never the other way round
	runs  map[key]*run
	past  []approval.AgentSession // that ended, the newest first
	ended []*session.Session      // sessions of our own that no run has any more, and that are to be ended
	gone  []*run                  // that are over, and have calls whose end is not on record yet
}

// New makes a registry. Its runs are looked after by Run.
func New(o Options) *Registry {
	g := &Registry{Options: o, runs: map[key]*run{}}
	if g.Logger == nil {
		g.Logger = slog.New(slog.DiscardHandler)
	}
	if g.Now == nil {
		g.Now = time.Now
	}
	g.notifier = notifier{g.Notices, g.Now}
	return g
}

// Event answers one event of an agent. s is the session of the hook's token; nil: it brought none, and the run of the agent has a
// session of the default principal. Whatever goes wrong before a tool is a denial; elsewhere it is a message.
func (g *Registry) Event(ctx context.Context, s *session.Session, e harness.Event) (a harness.Answer) {
	defer func() {
		if p := recover(); p != nil {
			g.Logger.Error("an event of an agent's hook panicked", "agent", e.Agent, "event", e.Kind, "panic", p, "stack",
				string(debug.Stack()))
			a = faulty(e, errors.New("the daemon failed at it; its log says why"))
		}
	}()
	if e.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(e.Deadline)*time.Millisecond)
		defer cancel()
	}
	r, err := g.find(ctx, s, e)
	if err != nil {
		g.Logger.Error("an event of an agent's hook has no session", "agent", e.Agent, "event", e.Kind, "error", err)
		return faulty(e, err)
	}
	defer g.endSessions(context.WithoutCancel(ctx))
	r.recordLate(ctx)
	if e.Kind != harness.Notification && e.Kind != harness.Permission {
		g.stopRinging(r)
	}
	if e.Kind.Precedes() {
		return g.beforeTool(ctx, r, e)
	}
	if e.Fault != "" {
		return faulty(e, errors.New(e.Fault))
	}
	switch e.Kind {
	case harness.PostTool:
		g.afterTool(ctx, r, e)
	case harness.SubagentStart:
		return g.briefChild(r, e)
	case harness.SessionStart, harness.Prompt:
		g.resetDenials(r)
		g.tellStart(r, e)
		return g.brief(ctx, r, e)
	case harness.Stop:
		return g.stop(ctx, r, e)
	case harness.SessionEnd:
		g.tellEnd(r)
		g.forgetBounds(r)
		g.end(ctx, r)
	case harness.SubagentStop, harness.Notification:
	default:
		return faulty(e, fmt.Errorf("the event %q is not known", e.Kind))
	}
	return harness.Answer{Verdict: harness.Pass}
}

// faulty is the answer to an event that could not be dealt with.
func faulty(e harness.Event, err error) harness.Answer {
	why := "Mycelium could not decide about this: " + credential.Mask(err.Error())
	if e.Kind.Precedes() {
		return harness.Answer{Verdict: harness.Deny, Reason: why}
	}
	return harness.Answer{Verdict: harness.Pass, Message: why}
}

// The bounds on how long runs are kept.
const (
	// busyFor is how long a run counts as at work after its last event: longer than any single step of an agent, and an end for one
	// that was killed and said nothing.
	busyFor = 30 * time.Minute
	// idleEnd is how long a run without a token keeps its session after its last event. The next event begins another.
	idleEnd = 4 * time.Hour
)

// Run ends runs that were silent for long, until ctx is done; then it records what is not on record yet.
func (g *Registry) Run(ctx context.Context) error {
	tick := time.NewTicker(busyFor)
	defer tick.Stop()
	defer g.recordAll(context.WithoutCancel(ctx))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, r := range g.all() {
			if r.silentSince(g.Now().Add(-idleEnd)) {
				g.end(ctx, r)
			}
		}
		g.endSessions(ctx)
	}
}

// all are the runs in no order.
func (g *Registry) all() []*run {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*run
	for _, r := range g.runs {
		out = append(out, r)
	}
	return out
}

// recordAll records what every run kept for its next event.
func (g *Registry) recordAll(ctx context.Context) {
	for _, r := range g.all() {
		r.recordLate(ctx)
	}
	g.endSessions(ctx)
}

// Busy reports whether an agent is at work, so that the daemon must not end for want of clients.
func (g *Registry) Busy() bool {
	since := g.Now().Add(-busyFor)
	return slices.ContainsFunc(g.all(), func(r *run) bool { return r.atWork(since) })
}

// find finds the run that an event belongs to, or begins it, and notes what the event says of it. An event that names no session of its
// agent belongs to one run of them all.
func (g *Registry) find(ctx context.Context, s *session.Session, e harness.Event) (*run, error) {
	k := key{agent: e.Agent, id: e.Session}
	if s != nil {
		k.session = s.ID
	}
	if r := g.known(k, e); r != nil {
		return r, nil
	}
	g.opening.Lock()
	defer g.opening.Unlock()
	if r := g.known(k, e); r != nil {
		return r, nil
	}
	own := s == nil
	if own {
		spec := g.Spec()
		spec.Name = strings.TrimSpace(e.Agent + " " + text.TruncateRunes(e.Session, maxName))
		spec.ID, spec.Known = sessionID(spec.Principal, e), g.Alone && e.Kind != harness.SessionStart
		var err error
		if s, err = g.Gate.Sessions.Open(ctx, spec); err != nil {
			return nil, err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.runs[k]
	if r == nil {
		g.makeRoom()
		r = newRun(k, g.Now())
		g.runs[k] = r
	}
	r.open(s, own)
	r.note(e, g.Now())
	return r, nil
}

// known is a run that is there, and whose session lives.
func (g *Registry) known(k key, e harness.Event) *run {
	g.mu.Lock()
	r := g.runs[k]
	g.mu.Unlock()
	if r == nil || k.session == "" && r.needsSession() {
		return nil
	}
	r.note(e, g.Now())
	return r
}

// makeRoom forgets the run that was silent for longest, where there are too many. The lock is held.
func (g *Registry) makeRoom() {
	if len(g.runs) < maxRuns {
		return
	}
	var oldest *run
	var since time.Time
	for _, r := range g.runs {
		if seen := r.lastSeen(); oldest == nil || seen.Before(since) {
			oldest, since = r, seen
		}
	}
	g.forget(oldest)
}

// Sessions are the runs of agents, oldest first.
func (g *Registry) Sessions() []approval.AgentSession {
	out := []approval.AgentSession{}
	for _, r := range g.all() {
		out = append(out, r.view())
	}
	slices.SortFunc(out, func(a, b approval.AgentSession) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Past are runs that ended, the newest first.
func (g *Registry) Past() []approval.AgentSession {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.past)
}

// Abort tells a run of an agent to end: its next call is refused, and says why. id is the agent's own session id.
func (g *Registry) Abort(id, why string) error {
	why = cmp.Or(why, "a person ended this session")
	var stopped []approval.AgentSession
	for _, r := range g.all() {
		if r.key.id == id {
			r.halt(why)
			stopped = append(stopped, r.view())
		}
	}
	if stopped == nil {
		return fmt.Errorf("no agent runs a session %q", id)
	}
	for _, s := range stopped {
		g.tell(approval.Aborted, s, 0, why)
	}
	return nil
}

// end ends a run, with its session where that is ours.
func (g *Registry) end(ctx context.Context, r *run) {
	g.mu.Lock()
	g.forget(r)
	g.mu.Unlock()
	g.endSessions(ctx)
}

// forget takes a run out. The lock is held.
func (g *Registry) forget(r *run) {
	if g.runs[r.key] != r {
		return
	}
	delete(g.runs, r.key)
	view := r.view()
	s, own, late := r.release(g.Gate)
	if late {
		g.gone = append(g.gone, r)
	}
	g.past = slices.Insert(g.past, 0, view)
	g.past = g.past[:min(len(g.past), maxPast)]
	if own {
		g.ended = append(g.ended, s)
	}
}

// endSessions ends sessions that no run has any more, and records what runs that are over left.
func (g *Registry) endSessions(ctx context.Context) {
	g.mu.Lock()
	ended, gone := g.ended, g.gone
	g.ended, g.gone = nil, nil
	g.mu.Unlock()
	for _, r := range gone {
		r.recordLate(ctx)
	}
	for _, s := range ended {
		if err := g.Gate.Sessions.End(ctx, s.ID); err != nil && !errors.Is(err, session.ErrNoSession) {
			g.Logger.Warn("the session of an agent's run could not be ended", "session", s.ID, "error", err)
		}
	}
}

// closeSession has the session of a run that shall end ended, for the gateway too.
func (g *Registry) closeSession(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := r.gateSession(); !isDone(s) {
		g.ended = append(g.ended, s)
	}
}
