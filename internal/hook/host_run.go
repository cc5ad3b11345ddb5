package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/approval"
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
	key        runKey
	session    *gate.Session
	own        bool // opened here, for a hook without a token
	label      string
	dir        string
	transcript string
	pane, tmux string
	state      approval.SessionState
	asked      int  // calls that wait in the queue
	rings      bool // its own terminal asks its person
	since      time.Time
	seen       time.Time
	tool       string // the last one
	count      int    // of calls
	halted     string // why it shall end; empty: it goes on
	turns      int    // how often it stopped
	said       string // its last word then
	failed     bool   // which tells of an error
	cost       float64
	broke      bool // its budget is used up, and people know

	calls    map[string]underway      // that run now, by tool_use_id
	late     []ended                  // whose end is not on record yet
	heard    []string                 // tool_use_ids whose end was told, the last ones
	awaited  map[string]*gate.Session // calls of our own gateway that were announced to the gate, and in whose name, by tool_use_id
	given    map[string]Verdict       // what was answered before a tool ran, by tool and arguments; for a PermissionRequest after it
	children map[string]*child
	starting map[string]starting // calls that start a subagent, by tool_use_id

	told    string   // what its model was told of its session
	active  []string // the skills that were active then
	retries int      // stops that were answered with "try another way", since the last prompt
}

// The bounds on what is kept of runs. What is beyond them is forgotten, the oldest first; a call that is forgotten stays unfinished in
// the log.
const (
	maxRuns     = 500
	maxCalls    = 500
	maxGiven    = 100
	maxChildren = 500
	maxPast     = 50
)

func newRun(key runKey, now time.Time) *run {
	return &run{
		key: key, since: now, calls: map[string]underway{}, awaited: map[string]*gate.Session{}, given: map[string]Verdict{},
		children: map[string]*child{}, starting: map[string]starting{},
	}
}

// run finds the run that an event belongs to, or begins it, and notes what the event says of it. An event that names no session of its
// agent belongs to one run of them all.
func (h *Host) run(ctx context.Context, s *gate.Session, e Event) (*run, error) {
	key := runKey{agent: e.Agent, id: e.Session}
	if s != nil {
		key.session = s.ID
	}
	r := h.known(key, e)
	if r != nil {
		return r, nil
	}
	h.opening.Lock()
	defer h.opening.Unlock()
	if r := h.known(key, e); r != nil {
		return r, nil
	}
	own := s == nil
	if own {
		spec := h.Spec()
		spec.Name = strings.TrimSpace(e.Agent + " " + bounded(e.Session, maxName))
		spec.ID, spec.Known = sessionID(spec.Principal, e), h.Alone && e.Kind != SessionStart
		var err error
		if s, err = h.Gate.Open(ctx, spec); err != nil {
			return nil, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r = h.runs[key]; r == nil {
		h.makeRoom()
		r = newRun(key, h.Now())
		h.runs[key] = r
	}
	r.session, r.own, r.told = s, own, ""
	r.note(e, h.Now())
	return r, nil
}

// known is a run that is there, and whose session lives.
func (h *Host) known(key runKey, e Event) *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.runs[key]
	if r == nil || key.session == "" && r.halted == "" && isDone(r.session) {
		return nil
	}
	r.note(e, h.Now())
	return r
}

// sessionID is the id of the session that a run of an agent has where its hook brings no token: the same in every process that opens it,
// with a daemon and without, so that records and what was written in the session are found by the next. It tells nobody anything.
func sessionID(principal string, e Event) string {
	sum := sha256.Sum256([]byte("run\x00" + principal + "\x00" + e.Agent + "\x00" + e.Session))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

// makeRoom forgets the run that was silent for longest, where there are too many. The lock is held.
func (h *Host) makeRoom() {
	if len(h.runs) < maxRuns {
		return
	}
	var oldest *run
	for _, r := range h.runs {
		if oldest == nil || r.seen.Before(oldest.seen) {
			oldest = r
		}
	}
	h.forget(oldest)
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
	r.dir, r.transcript = cmp.Or(e.Dir, r.dir), cmp.Or(e.Transcript, r.transcript)
	r.pane, r.tmux = cmp.Or(e.Pane, r.pane), cmp.Or(e.Tmux, r.tmux)
	if r.dir != "" {
		r.label = filepath.Base(r.dir)
	}
	switch e.Kind {
	case Stop:
		r.state = approval.Idle
	case Notification: // it waits for its person: for an answer, or for what is next
		if !r.rings {
			r.state = approval.Idle
		}
	case PreTool, Permission:
		r.state, r.tool = approval.Active, e.Tool
	default:
		r.state = approval.Active
	}
	if e.Kind == PreTool {
		r.count++
	}
}

// view is the run as people see it. The lock is held.
func (r *run) view() approval.AgentSession {
	s := approval.AgentSession{
		ID: r.key.id, Agent: r.key.agent, Label: r.label, Dir: r.dir, Role: r.session.Scope().Principal.Role, Pane: r.pane, Tmux: r.tmux,
		State: r.state, Since: r.since, Seen: r.seen, Calls: r.count, Cost: r.cost, Last: r.tool,
	}
	if r.asked > 0 {
		s.State = approval.PermissionPending
	}
	return s
}

// Sessions are the runs of agents, oldest first.
func (h *Host) Sessions() []approval.AgentSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := []approval.AgentSession{}
	for _, r := range h.runs {
		out = append(out, r.view())
	}
	slices.SortFunc(out, func(a, b approval.AgentSession) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Past are runs that ended, the newest first.
func (h *Host) Past() []approval.AgentSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.past)
}

// waits notes that a call of a run waits in the queue, until the function that it returns is called.
func (h *Host) waits(r *run) (over func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.asked++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		r.asked--
	}
}

// ring notes that a run's own terminal asks its person. Whatever the run tells next ends that.
func (h *Host) ring(r *run) {
	h.mu.Lock()
	r.state, r.rings = approval.PermissionPending, true
	s := r.view()
	h.mu.Unlock()
	h.Bell(s, true)
	h.waitsThere(s, "it asks at its own terminal whether "+s.Last+" may run")
}

// quiet ends what ring began.
func (h *Host) quiet(r *run) {
	h.mu.Lock()
	rang, s := r.rings, r.view()
	r.rings = false
	h.mu.Unlock()
	if rang {
		h.Bell(s, false)
	}
}

// Abort tells a run of an agent to end: its next call is refused, and says why. id is the agent's own session id.
func (h *Host) Abort(id, why string) error {
	why = cmp.Or(why, "a person ended this session")
	var ended []approval.AgentSession
	h.mu.Lock()
	for _, r := range h.runs {
		if r.key.id == id {
			r.halted, ended = why, append(ended, r.view())
		}
	}
	h.mu.Unlock()
	if ended == nil {
		return fmt.Errorf("no agent runs a session %q", id)
	}
	for _, s := range ended {
		h.notice(approval.Aborted, s, 0, why)
	}
	return nil
}

// end ends a run, with its session where that is ours.
func (h *Host) end(ctx context.Context, r *run) {
	h.mu.Lock()
	h.forget(r)
	h.mu.Unlock()
	h.endLeft(ctx)
}

// forget takes a run out. The lock is held.
func (h *Host) forget(r *run) {
	if h.runs[r.key] != r {
		return
	}
	delete(h.runs, r.key)
	for _, a := range r.calls {
		a.Release()
	}
	for id, s := range r.awaited {
		h.Gate.Forget(s, id)
	}
	if len(r.late) > 0 {
		h.gone = append(h.gone, r)
	}
	h.past = slices.Insert(h.past, 0, r.view())
	h.past = h.past[:min(len(h.past), maxPast)]
	if r.own {
		h.left = append(h.left, r.session)
	}
}

// endLeft ends sessions that no run has any more, and records what runs that are over left.
func (h *Host) endLeft(ctx context.Context) {
	h.mu.Lock()
	left, gone := h.left, h.gone
	h.left, h.gone = nil, nil
	h.mu.Unlock()
	for _, r := range gone {
		h.settle(ctx, r)
	}
	for _, s := range left {
		if err := h.Gate.End(ctx, s.ID); err != nil && !errors.Is(err, gate.ErrNoSession) {
			h.Logger.Warn("the session of an agent's run could not be ended", "session", s.ID, "error", err)
		}
	}
}
