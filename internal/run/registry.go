// Package run is the daemon's side of the hooks: it follows the coding agents at work, and answers their events. A run is one session of
// an agent. It has a session of the gate, subagents, a transcript, costs, and people who may be asked and notified.
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
	"mycelium/internal/audit"
	"mycelium/internal/credential"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
	"mycelium/internal/run/book"
	"mycelium/internal/text"
)

// People says who can be asked about the calls of agents.
type People interface {
	Mode() approval.Mode // who is asked; see also Away
	Chat() bool          // a chat is configured: in remote mode it is asked about stops
}

// Notices notifies people about runs. Its methods must not block.
type Notices interface {
	Post(n approval.Notice)
	// Ring says that a run's own terminal begins or stops asking its person. The queue itself notifies people of requests that wait.
	Ring(s approval.AgentSession, on bool)
}

// Options of a [Registry]. Gate, Spec and People are required.
type Options struct {
	Gate    *gate.Gate
	Spec    func() session.Spec // for a hook without a token: the session of the default principal
	People  People
	Queue   *approval.Queue  // nil: only the agent's own terminal can ask
	Notices Notices          // nil: nobody is notified
	Book    *book.Book       // nil: names and first prompts are lost when the process ends
	Budget  *Budget          // nil: costs are not followed
	Denials *Denials         // nil: denials are not counted
	Logger  *slog.Logger     // nil: discard
	Now     func() time.Time // nil: time.Now
	Waiting func() string    // names the files that changed and have no effect before a person accepts them; "": none; nil: none
	Alone   bool             // there is no daemon: each event is answered by a process of its own
	Shell   Shell            // nil: no agent has a shell that runs only what was admitted
	// Wall names the lost part of the light wall around the agent of a session, or why there is none although it was started here, and then the
	// file that governs the agent and is not as it was; nil: nothing is known of walls
	Wall func(session string) (lost, none string)
	// Unanswered returns the decisions of a session on our surface that ask, and that nothing has followed in the log; nil: there are none
	Unanswered func(ctx context.Context, session string) ([]audit.Record, error)
	// Abstains reports whether a call about which only the fallback would decide is left to the agent; nil: it is not
	Abstains func(policy.Item) bool
	// Keep offers to keep what a person allowed at the agent's own terminal; nil: nothing is offered
	Keep Keeper
	// Rate says in a few words how often people were asked lately; "": nothing is said; nil: likewise
	Rate func(ctx context.Context) string
	// Swarm says in a line how the open session of the swarm stands, and whether its workers have something to do; "": none is open; nil:
	// there is no swarm
	Swarm func(ctx context.Context) (line string, unfinished bool, err error)
}

// Registry keeps the runs of agents and answers their events. It is safe for concurrent use.
type Registry struct {
	Options
	notifier
	shell admits
	panes panes

	opening sync.Mutex // held while a session is opened, so that a run gets only one

	mu        sync.Mutex // guards the fields below; it is locked before the mutex of a run, never after
	runs      map[key]*run
	unused    []*session.Session // our own sessions without a run, which are to be ended
	endedRuns []*run             // ended runs with calls whose end is not recorded yet
}

// New returns a registry. Run must be called to expire its runs.
func New(o Options) *Registry {
	g := &Registry{Options: o, runs: map[key]*run{}}
	if g.Logger == nil {
		g.Logger = slog.New(slog.DiscardHandler)
	}
	if g.Now == nil {
		g.Now = time.Now
	}
	if g.Book == nil {
		g.Book = book.Open("", nil, g.Now)
	}
	g.notifier, g.shell = notifier{g.Notices, g.Now}, admits{g.Shell, g.Logger}
	return g
}

// Event answers one event of an agent. s is the session of the hook's token; without a token it is nil, and the run gets a session of the
// default principal. A failure before a tool call is a denial; elsewhere it is a message.
func (g *Registry) Event(ctx context.Context, s *session.Session, e harness.Event) (a harness.Answer) {
	defer func() {
		if p := recover(); p != nil {
			g.Logger.Error("an event of an agent's hook panicked", "agent", e.Agent, "event", e.Kind, "panic", p, "stack",
				string(debug.Stack()))
			a = faulty(e, errors.New("the daemon failed on this event; its log says why"))
		}
	}()
	if e.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(e.Deadline)*time.Millisecond)
		defer cancel()
	}
	if e.Kind == harness.Status {
		line, err := g.statusLine(ctx, s, e)
		if err != nil {
			line = "mycelium: " + credential.Mask(err.Error())
		}
		return harness.Answer{Verdict: harness.Pass, Message: line}
	}
	r, err := g.find(ctx, s, e)
	if err != nil {
		g.Logger.Error("an event of an agent's hook has no session", "agent", e.Agent, "event", e.Kind, "error", err)
		return faulty(e, err)
	}
	defer after(ctx, g, r, e.Kind)
	r.recordLate(ctx)
	if e.Kind != harness.Notification && e.Kind != harness.Permission {
		g.stopRinging(r)
	}
	if e.Kind.Precedes() {
		a := g.beforeTool(ctx, r, e)
		g.panes.hold(e.Tmux, e.Pane)() // while a text is typed, no dialog opens
		return a
	}
	if s := r.view(); r.answering() {
		g.panes.hold(s.Tmux, s.Pane)() // the answer is attributed when it has been typed
	}
	question := r.closeDialogs(e)
	if e.Fault != "" {
		return faulty(e, errors.New(e.Fault))
	}
	refusedThere(ctx, g, r, e)
	switch e.Kind {
	case harness.PostTool:
		return g.afterTool(ctx, r, e, question)
	case harness.SubagentStart:
		return g.briefChild(r, e)
	case harness.SessionStart, harness.Prompt:
		g.Denials.Forget(r.boundKey()) // a person has said something to the run
		g.tellStart(r, e)
		return tellLeader(ctx, g, r, e, g.brief(ctx, r, e))
	case harness.Stop:
		g.checkBudget(r, e) // what the agent said after its last call has cost too
		return g.stop(ctx, r, e)
	case harness.SessionEnd:
		g.checkBudget(r, e)
		g.tellEnd(r)
		g.forgetBounds(r)
		g.end(ctx, r)
	case harness.SubagentStop, harness.Notification:
	default:
		return faulty(e, fmt.Errorf("the event %q is not known", e.Kind))
	}
	return harness.Answer{Verdict: harness.Pass}
}

// faulty returns the answer to an event that could not be handled.
func faulty(e harness.Event, err error) harness.Answer {
	why := "Mycelium could not decide about this: " + credential.Mask(err.Error())
	if e.Kind.Precedes() {
		return harness.Answer{Verdict: harness.Deny, Reason: why}
	}
	return harness.Answer{Verdict: harness.Pass, Message: why}
}

// The bounds on how long runs are kept.
const (
	// busyFor is how long a run counts as at work after its last event. It is longer than any single step of an agent, and it bounds an
	// agent that was killed without notice.
	busyFor = 30 * time.Minute
	// idleEnd is how long a run without a token keeps its session after its last event. The next event begins a new session.
	idleEnd = 4 * time.Hour
)

// Run ends runs that have been silent for idleEnd, until ctx is done. Then it records what is not recorded yet.
func (g *Registry) Run(ctx context.Context) error {
	tick := time.NewTicker(busyFor)
	defer tick.Stop()
	defer g.Book.Save()
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

// all returns the runs in no particular order.
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

// Busy reports whether an agent is at work, so that the daemon must not end although it has no clients.
func (g *Registry) Busy() bool {
	since := g.Now().Add(-busyFor)
	return slices.ContainsFunc(g.all(), func(r *run) bool { return r.atWork(since) })
}

// find returns the run that an event belongs to, or begins one, and updates it from the event. All events that name no session of their
// agent belong to one run.
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
	entry := enter(ctx, g.Book, e, g.Now(), g.Alone)
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.runs[k]
	if r == nil {
		g.makeRoom()
		r = newRun(k, entry)
		g.runs[k] = r
	}
	r.open(s, own)
	r.note(e, g.Now())
	return r, nil
}

// known returns an existing run whose session is live.
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

// makeRoom drops the run with the oldest last event if there are too many. The lock is held.
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

// Sessions returns the runs of agents, oldest first.
func (g *Registry) Sessions() []approval.AgentSession {
	out := []approval.AgentSession{}
	for _, r := range g.all() {
		out = append(out, r.view())
	}
	slices.SortFunc(out, func(a, b approval.AgentSession) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Past returns the sessions that the book knows and that are not at work, newest first. One that has not told of its end may run and be
// silent since this process began.
func (g *Registry) Past() []approval.AgentSession {
	at := map[string]bool{}
	for _, r := range g.all() {
		at[r.boundKey()] = true
	}
	return slices.DeleteFunc(g.Book.Sessions(), func(s approval.AgentSession) bool { return at[s.Agent+" "+s.ID] })
}

// Abort makes a run of an agent end: its next call is denied with the reason why. id is the agent's own session id.
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
		g.Book.Keep(s)
		g.tell(approval.Aborted, s, 0, why)
	}
	g.Book.Save()
	return nil
}

// end ends a run, and its session if we opened it.
func (g *Registry) end(ctx context.Context, r *run) {
	g.mu.Lock()
	g.forget(r)
	g.mu.Unlock()
	g.endSessions(ctx)
}

// forget removes a run. The lock is held.
func (g *Registry) forget(r *run) {
	if g.runs[r.key] != r {
		return
	}
	delete(g.runs, r.key)
	view := r.view()
	s, own, late := r.release(g.Gate)
	if late {
		g.endedRuns = append(g.endedRuns, r)
	}
	g.Book.Keep(view)
	if own {
		g.unused = append(g.unused, s)
	}
}

// endSessions ends sessions that no run uses any more, and records what ended runs have left.
func (g *Registry) endSessions(ctx context.Context) {
	g.mu.Lock()
	unused, runs := g.unused, g.endedRuns
	g.unused, g.endedRuns = nil, nil
	g.mu.Unlock()
	for _, r := range runs {
		r.recordLate(ctx)
	}
	for _, s := range unused {
		if err := g.Gate.Sessions.End(ctx, s.ID); err != nil && !errors.Is(err, session.ErrNoSession) {
			g.Logger.Warn("the session of an agent's run could not be ended", "session", s.ID, "error", err)
		}
	}
}

// closeSession queues the session of a halted run for its end, so that the gateway refuses it too.
func (g *Registry) closeSession(r *run) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := r.gateSession(); !isDone(s) {
		g.unused = append(g.unused, s)
	}
}
