package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
)

// key names a run of an agent: what its hooks say, below the credential that they bring. It selects, and authorizes nothing.
type key struct {
	session string // id of the token's session; empty: the default principal's
	agent   string
	id      string // the agent's own session id
}

// run is one run of an agent.
type run struct {
	key   key
	since time.Time

	mu         sync.Mutex // guards what follows
	session    *session.Session
	own        bool // opened here, for a hook without a token
	label      string
	dir        string
	transcript string
	pane, tmux string
	state      approval.SessionState
	waiting    int  // calls that wait in the queue
	rings      bool // its own terminal asks its person
	seen       time.Time
	tool       string // the last one
	count      int    // of calls
	halted     string // why it shall end; empty: it goes on
	turns      int    // how often it stopped
	said       string // its last word then
	failed     bool   // which tells of an error
	cost       float64
	overBudget bool // and people know

	calls     map[string]admitted         // that run now, by tool_use_id
	late      []outcome                   // of calls that have ended, and that are not on record yet
	told      []string                    // tool_use_ids of the last calls whose end was told
	announced map[string]*session.Session // calls of our own gateway that the gate expects, and in whose name, by tool_use_id
	verdicts  map[string]harness.Verdict  // that were given before a tool ran, by call; for a PermissionRequest after it
	children  map[string]*child
	starting  map[string]starting // calls that start a subagent, by tool_use_id

	briefing string   // what its model was told of its session
	active   []string // the skills that were active then
	retries  int      // stops that were answered with "try another way", since the last prompt
}

// The bounds on what is kept of runs. What is beyond them is forgotten, the oldest first; a call that is forgotten stays unfinished in
// the log.
const (
	maxRuns     = 500
	maxCalls    = 500
	maxVerdicts = 100
	maxLate     = 100
	maxChildren = 500
	maxPast     = 50
)

// maxName bounds a name or a line that others wrote, in characters.
const maxName = 200

func newRun(k key, now time.Time) *run {
	return &run{
		key: k, since: now, calls: map[string]admitted{}, announced: map[string]*session.Session{}, verdicts: map[string]harness.Verdict{},
		children: map[string]*child{}, starting: map[string]starting{},
	}
}

// sessionID is the id of the session that a run of an agent has where its hook brings no token: the same in every process that opens it,
// with a daemon and without, so that records and what was written in the session are found by the next. It tells nobody anything.
func sessionID(principal string, e harness.Event) string {
	sum := sha256.Sum256([]byte("run\x00" + principal + "\x00" + e.Agent + "\x00" + e.Session))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
}

func isDone(s *session.Session) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// open gives a run its session.
func (r *run) open(s *session.Session, own bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.own, r.briefing = s, own, ""
}

// needsSession reports whether the session of a run has ended, and the run has not been told to end.
func (r *run) needsSession() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted == "" && isDone(r.session)
}

// release lets go of what a run that is over holds. late: ends of calls are not on record yet.
func (r *run) release(g *gate.Gate) (s *session.Session, own, late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.calls {
		a.Release()
	}
	for id, s := range r.announced {
		g.Forget(s, id)
	}
	return r.session, r.own, len(r.late) > 0
}

// note keeps what an event says of the run.
func (r *run) note(e harness.Event, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = now
	r.dir, r.transcript = cmp.Or(e.Dir, r.dir), cmp.Or(e.Transcript, r.transcript)
	r.pane, r.tmux = cmp.Or(e.Pane, r.pane), cmp.Or(e.Tmux, r.tmux)
	if r.dir != "" {
		r.label = filepath.Base(r.dir)
	}
	switch e.Kind {
	case harness.Stop:
		r.state = approval.Idle
	case harness.Notification: // it waits for its person: for an answer, or for what is next
		if !r.rings {
			r.state = approval.Idle
		}
	case harness.PreTool, harness.Permission:
		r.state, r.tool = approval.Active, e.Tool
	default:
		r.state = approval.Active
	}
	if e.Kind == harness.PreTool {
		r.count++
	}
}

// view is the run as people see it.
func (r *run) view() approval.AgentSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := approval.AgentSession{
		ID: r.key.id, Agent: r.key.agent, Label: r.label, Dir: r.dir, Role: r.session.Scope().Principal.Role, Pane: r.pane, Tmux: r.tmux,
		State: r.state, Since: r.since, Seen: r.seen, Calls: r.count, Cost: r.cost, Last: r.tool,
	}
	if r.waiting > 0 {
		s.State = approval.PermissionPending
	}
	return s
}

// request is what every request of a run says.
func (r *run) request(k approval.Kind) approval.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.session.Scope().Principal
	return approval.Request{
		Kind: k, Session: r.session.ID, Principal: p.ID, Role: p.Role, Agent: r.key.agent, Label: r.label, Dir: r.dir, Surface: surface,
	}
}

// waits notes that a call of a run waits in the queue, until the function that it returns is called.
func (r *run) waits() (over func()) {
	add := func(n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting += n
	}
	add(1)
	return func() { add(-1) }
}

func (r *run) gateSession() *session.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session
}

func (r *run) lastSeen() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// atWork reports whether a run did something after a time, and does not wait for its person.
func (r *run) atWork(since time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state != approval.Idle && r.seen.After(since)
}

// silentSince reports whether the last event of a run is that old, or its session has ended.
func (r *run) silentSince(t time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return isDone(r.session) || !r.seen.After(t)
}

// halt has the next call of a run refused.
func (r *run) halt(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halted = why
}

func (r *run) haltedBy() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted
}

// verdict is what was said of the same call before its permission was asked for.
func (r *run) verdict(call string) (harness.Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.verdicts[call]
	return v, ok
}

// remember keeps what was said of a call.
func (r *run) remember(call string, v harness.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.verdicts) >= maxVerdicts {
		clear(r.verdicts)
	}
	r.verdicts[call] = v
}
