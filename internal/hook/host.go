package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/gate"
)

// HostOptions of a [Host]. Gate and Spec are required.
type HostOptions struct {
	Gate *gate.Gate
	Spec func() gate.Spec // of a session whose hook brings no token: the default principal of the configuration
	// Ask has a question or a stop answered by people: approval.Queue.Ask. Nil: nobody but the agent's own terminal can be asked.
	Ask       func(ctx context.Context, r approval.Request) (approval.Answer, error)
	Mode      func() approval.Mode // who is asked; nil: Auto
	Reachable func() bool          // somebody looks at the queue, or a chat is configured; nil: nobody
	Chat      func() bool          // a chat is configured: stops are told there in remote mode; nil: no
	// Bell is told when a run's own terminal asks its person, and when that is over. It must not wait. Nil: nobody is told. What waits
	// in the queue is told by the queue.
	Bell func(s approval.AgentSession, on bool)
	Bounds
	Logger *slog.Logger     // nil: discard
	Now    func() time.Time // nil: time.Now
	Alone  bool             // there is no daemon: this process answers one event, and another answered the one before
}

// Host is the daemon's side of the hooks: it knows the runs of agents, and answers their events. It is safe for concurrent use.
type Host struct {
	HostOptions

	opening sync.Mutex // held while a session is opened, so that a run has one

	mu   sync.Mutex // guards what follows, and every run
	runs map[runKey]*run
	past []approval.AgentSession // that ended, the newest first
	left []*gate.Session         // of our own, that no run has any more
	gone []*run                  // that are over, and have calls whose end is not on record yet
}

// NewHost makes a host. Its runs are looked after by Run.
func NewHost(o HostOptions) *Host {
	h := &Host{HostOptions: o, runs: map[runKey]*run{}}
	if h.Logger == nil {
		h.Logger = slog.New(slog.DiscardHandler)
	}
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Mode == nil {
		h.Mode = func() approval.Mode { return approval.Auto }
	}
	no := func() bool { return false }
	if h.Reachable == nil {
		h.Reachable = no
	}
	if h.Chat == nil {
		h.Chat = no
	}
	if h.Bell == nil {
		h.Bell = func(approval.AgentSession, bool) {}
	}
	return h
}

// Event answers one event of an agent. s is the session of the hook's token; nil: it brought none, and the run of the agent has a
// session of the default principal. Whatever goes wrong before a tool is a denial; elsewhere it is a message.
func (h *Host) Event(ctx context.Context, s *gate.Session, e Event) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			h.Logger.Error("an event of an agent's hook panicked", "agent", e.Agent, "event", e.Kind, "panic", p, "stack", string(debug.Stack()))
			a = faulty(e, errors.New("the daemon failed at it; its log says why"))
		}
	}()
	if e.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(e.Deadline)*time.Millisecond)
		defer cancel()
	}
	r, err := h.run(ctx, s, e)
	if err != nil {
		h.Logger.Error("an event of an agent's hook has no session", "agent", e.Agent, "event", e.Kind, "error", err)
		return faulty(e, err)
	}
	defer h.endLeft(context.WithoutCancel(ctx))
	h.settle(ctx, r)
	if e.Kind != Notification && e.Kind != Permission {
		h.quiet(r)
	}
	if e.Kind.Precedes() {
		return h.before(ctx, r, e)
	}
	if e.Fault != "" {
		return faulty(e, errors.New(e.Fault))
	}
	switch e.Kind {
	case PostTool:
		h.after(ctx, r, e)
	case SubagentStart:
		return h.childStarts(r, e)
	case SessionStart, Prompt:
		h.spoken(r)
		h.began(r, e)
		return h.brief(ctx, r, e)
	case Stop:
		return h.stops(ctx, r, e)
	case SessionEnd:
		h.finished(r)
		h.over(r)
		h.end(ctx, r)
	case SubagentStop, Notification:
	default:
		return faulty(e, fmt.Errorf("the event %q is not known", e.Kind))
	}
	return Answer{Verdict: Pass}
}

// faulty is the answer to an event that could not be dealt with.
func faulty(e Event, err error) Answer {
	text := "Mycelium could not decide about this: " + err.Error()
	if e.Kind.Precedes() {
		return Answer{Verdict: Deny, Reason: text}
	}
	return Answer{Verdict: Pass, Message: text}
}

// The bounds on how long runs are kept.
const (
	// lively is how long a run counts as at work after its last event: longer than any single step of an agent, and an end for one that
	// was killed and said nothing.
	lively = 30 * time.Minute
	// idleEnd is how long a run without a token keeps its session after its last event. The next event begins another.
	idleEnd = 4 * time.Hour
)

// Run ends runs from which nothing was heard for long, until ctx is done; then it records what is not on record yet.
func (h *Host) Run(ctx context.Context) error {
	tick := time.NewTicker(lively)
	defer tick.Stop()
	defer h.settleAll(context.WithoutCancel(ctx))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		for _, r := range h.idle() {
			h.end(ctx, r)
		}
		h.endLeft(ctx)
	}
}

// idle are the runs whose time is over.
func (h *Host) idle() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []*run
	for _, r := range h.runs {
		if isDone(r.session) || h.Now().Sub(r.seen) >= idleEnd {
			out = append(out, r)
		}
	}
	return out
}

// settleAll records what every run kept for its next event.
func (h *Host) settleAll(ctx context.Context) {
	h.mu.Lock()
	var all []*run
	for _, r := range h.runs {
		all = append(all, r)
	}
	h.mu.Unlock()
	for _, r := range all {
		h.settle(ctx, r)
	}
	h.endLeft(ctx)
}

// Busy reports whether an agent is at work, so that the daemon must not end for want of clients.
func (h *Host) Busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	for _, r := range h.runs {
		if r.state != approval.Idle && now.Sub(r.seen) < lively {
			return true
		}
	}
	return false
}
