package hook

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/gate"
)

// runKey names a run of an agent: what its hooks say, below the credential that they bring. It selects, and authorizes nothing.
type runKey struct {
	session string // id of the token's session; empty: the default principal's
	agent   string
	id      string // the agent's own session id
}

// run is one run of an agent. What it holds is guarded by the host's mutex.
type run struct {
	key     runKey
	session *gate.Session
	own     bool // opened here, for a hook without a token
	label   string
	dir     string
	pane    string
	tmux    string
	state   State
	began   time.Time
	seen    time.Time
	tool    string                     // the last one
	calls   map[string]*gate.Admission // that run now, by tool_use_id
}

// State is what a run of an agent is doing.
type State string

// The states.
const (
	Active  State = "active"
	Idle    State = "idle"               // it waits for its person
	Pending State = "permission_pending" // a call of it waits for an answer
)

// AgentSession is one run of an agent, for people.
type AgentSession struct {
	ID      string    `json:"id"` // of its session
	Agent   string    `json:"agent"`
	Run     string    `json:"run"` // the agent's own session id
	Label   string    `json:"label"`
	Dir     string    `json:"dir"`
	State   State     `json:"state"`
	Role    string    `json:"role"`
	Skills  []string  `json:"skills"`
	Tool    string    `json:"tool,omitempty"` // the last that it used
	Pane    string    `json:"pane,omitempty"` // tmux pane
	Tmux    string    `json:"tmux,omitempty"` // tmux server, as in TMUX
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"` // its last event
}

// Sessions are the runs of agents, oldest first.
func (h *Host) Sessions() []AgentSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := []AgentSession{}
	for _, r := range h.runs {
		scope := r.session.Scope()
		out = append(out, AgentSession{
			ID: r.session.ID, Agent: r.key.agent, Run: r.key.id, Label: r.label, Dir: r.dir, State: r.state, Role: scope.Principal.Role,
			Skills: append([]string{}, scope.Skills...), Tool: r.tool, Pane: r.pane, Tmux: r.tmux, Started: r.began, Seen: r.seen,
		})
	}
	slices.SortFunc(out, func(a, b AgentSession) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
	return out
}

// run finds the run that an event belongs to, or begins it, and notes what the event says of it.
func (h *Host) run(ctx context.Context, s *gate.Session, e Event) (*run, error) {
	if e.Session == "" {
		return nil, errors.New("the event names no session of the agent")
	}
	key := runKey{agent: e.Agent, id: e.Session}
	if s != nil {
		key.session = s.ID
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.runs[key]
	if r != nil && r.own && isDone(r.session) {
		delete(h.runs, key) // an operator ended it, or the world did; the next begins anew
		r = nil
	}
	now := h.Now()
	if r == nil {
		r = &run{key: key, session: s, began: now, calls: map[string]*gate.Admission{}}
		if s == nil {
			spec := h.Spec()
			spec.Name = e.Agent + " " + e.Session
			opened, err := h.Gate.Open(ctx, spec)
			if err != nil {
				return nil, err
			}
			r.session, r.own = opened, true
		}
		h.runs[key] = r
	}
	r.note(e, now)
	return r, nil
}

// lively is how long a run counts as at work after its last event: longer than any single step of an agent, and an end for one that
// was killed and said nothing.
const lively = 30 * time.Minute

// Busy reports whether an agent is at work, so that the daemon must not end for want of clients.
func (h *Host) Busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	for _, r := range h.runs {
		if r.state != Idle && now.Sub(r.seen) < lively {
			return true
		}
	}
	return false
}

func isDone(s *gate.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// note keeps what an event says of the run.
func (r *run) note(e Event, now time.Time) {
	r.seen = now
	if e.Dir != "" {
		r.dir = e.Dir
	}
	if r.label == "" {
		r.label = filepath.Base(cmp.Or(r.dir, e.Agent))
	}
	r.pane, r.tmux = cmp.Or(e.Pane, r.pane), cmp.Or(e.Tmux, r.tmux)
	switch e.Kind {
	case Stop, Notification:
		r.state = Idle
	case PreTool, Permission:
		r.tool = e.Tool
		r.state = Active
	default:
		r.state = Active
	}
}

// end ends a run, with its session where that is ours.
func (h *Host) end(ctx context.Context, r *run) {
	h.mu.Lock()
	delete(h.runs, r.key)
	h.mu.Unlock()
	if !r.own {
		return
	}
	if err := h.Gate.End(ctx, r.session.ID); err != nil && !errors.Is(err, gate.ErrNoSession) {
		h.Logger.Warn("the session of an agent's run could not be ended", "session", r.session.ID, "error", err)
	}
}
