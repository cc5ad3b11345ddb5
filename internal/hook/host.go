package hook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"mycelium/internal/gate"
)

// HostOptions of a [Host]. Gate and Spec are required.
type HostOptions struct {
	Gate      *gate.Gate
	Spec      func() gate.Spec // of a session whose hook brings no token: the default principal of the configuration
	Mode      func() Mode      // who is asked; nil: Auto
	Reachable func() bool      // somebody looks at the queue, or a chat is configured; nil: nobody
	Logger    *slog.Logger     // nil: discard
	Now       func() time.Time // nil: time.Now
}

// Mode says where a question of the policy goes (approval.mode in mycelium.yaml).
type Mode string

// The modes.
const (
	Auto   Mode = "auto"   // to the queue where somebody can see it or nobody sits at the agent's terminal, else to that terminal
	Local  Mode = "local"  // to the agent's own terminal
	Remote Mode = "remote" // to the queue
)

// Host is the daemon's side of the hooks: it knows the runs of agents, and answers their events. It is safe for concurrent use.
type Host struct {
	HostOptions

	mu   sync.Mutex
	runs map[runKey]*run
}

// NewHost makes a host.
func NewHost(o HostOptions) *Host {
	h := &Host{HostOptions: o, runs: map[runKey]*run{}}
	if h.Logger == nil {
		h.Logger = slog.New(slog.DiscardHandler)
	}
	if h.Now == nil {
		h.Now = time.Now
	}
	if h.Mode == nil {
		h.Mode = func() Mode { return Auto }
	}
	if h.Reachable == nil {
		h.Reachable = func() bool { return false }
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
	r, err := h.run(ctx, s, e)
	if err != nil {
		h.Logger.Error("an event of an agent's hook has no session", "agent", e.Agent, "event", e.Kind, "error", err)
		return faulty(e, err)
	}
	switch e.Kind {
	case PreTool, Permission:
		return h.before(ctx, r, e)
	case PostTool:
		h.after(ctx, r, e)
	case SessionEnd:
		h.end(ctx, r)
	case Prompt, Stop, SubagentStart, SubagentStop, SessionStart, Notification:
	default:
		return faulty(e, fmt.Errorf("the event %q is not known", e.Kind))
	}
	return Answer{Verdict: Pass}
}

// precedes reports whether a tool runs next if nobody says no. What is not known may be such an event.
func (k Kind) precedes() bool {
	switch k {
	case PostTool, Prompt, Stop, SubagentStart, SubagentStop, SessionStart, SessionEnd, Notification:
		return false
	}
	return true
}

// faulty is the answer to an event that could not be dealt with.
func faulty(e Event, err error) Answer {
	text := "Mycelium could not decide about this: " + err.Error()
	if e.Kind.precedes() {
		return Answer{Verdict: Deny, Reason: text}
	}
	return Answer{Verdict: Pass, Message: text}
}
