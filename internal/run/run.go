package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
)

// key identifies a run of an agent by what its hooks say, within the session of their token. It selects a run, and authorizes nothing.
type key struct {
	session string // id of the token's session; empty: of the default principal
	agent   string
	id      string // the agent's own session id
}

type run struct {
	key   key
	since time.Time

	mu         sync.Mutex // guards the fields below
	session    *session.Session
	own        bool   // opened here, for a hook without a token
	label      string // what people call it, from the book
	start      string // the folder in which it began
	dir        string
	transcript string
	pane, tmux string
	state      approval.SessionState
	waiting    int    // calls that wait in the queue
	ownMode    string // the agent's own permission mode
	rings      bool   // its own terminal is asking its person
	seen       time.Time
	tool       string // the last tool called
	count      int    // number of calls
	denials    int    // number of calls that were denied
	halted     string // why the next call is denied; empty: the run continues
	ended      time.Time
	task       string // the first prompt
	turns      int    // number of stops
	said       string // its last message at that stop
	failed     bool   // the message reports an error
	cost       float64
	tokens     int64
	overBudget bool // and people have been notified

	calls     map[string]admitted         // running calls, by tool_use_id
	late      []outcome                   // ended calls that are not recorded yet
	reported  []string                    // tool_use_ids of the last calls whose end was reported
	announced map[string]*session.Session // calls of our own gateway that the gate expects, with their session, by tool_use_id
	dialogs   []dialog                    // questions that its own terminal asks, or may be about to ask
	asked     []askedThere                // questions to the agent's own terminal that are not known to be answered
	offered   offered                     // what its person may keep
	recalled  bool                        // asked has what an earlier process asked
	verdicts  map[string]harness.Verdict  // answers given before a tool ran, by call; a later PermissionRequest needs them
	children  map[string]*child
	starting  map[string]starting // calls that start a subagent, by tool_use_id

	briefing string   // what its model was told about its session
	active   []string // the skills that were active at the briefing
	pending  string   // the files that wait for a person, as it was told
	held     int      // stops of the leader of a swarm that were answered with its state, since the last prompt
	heldAt   string   // that state
	retries  int      // stops answered with "try a different approach" since the last prompt
}

// The bounds on what is kept of runs. Beyond them, the oldest entry is dropped. A call that is dropped stays unfinished in the log.
const (
	maxRuns     = 500
	maxCalls    = 500
	maxVerdicts = 100
	maxLate     = 100
	maxChildren = 500
)

// maxName bounds a name or a line of foreign text, in characters.
const maxName = 200

// newRun returns a run with what the book knows of it.
func newRun(k key, known approval.AgentSession) *run {
	halted := ""
	if known.State == approval.Halted {
		halted = "it was ended before the daemon restarted"
	}
	return &run{
		halted: halted,
		key:    k, since: known.Since, label: known.Label, start: known.Start, task: known.Task, turns: known.Turns, denials: known.Denials,
		said: known.Result, calls: map[string]admitted{}, announced: map[string]*session.Session{}, verdicts: map[string]harness.Verdict{},
		children: map[string]*child{}, starting: map[string]starting{},
	}
}

// sessionID returns the id of the session of a run whose hook brings no token. Every process computes the same id, with a daemon or
// without, so that each finds the records of the others. The id reveals nothing.
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

func (r *run) open(s *session.Session, own bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.own, r.briefing = s, own, ""
}

// needsSession reports whether the session of a run has ended although the run continues.
func (r *run) needsSession() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted == "" && isDone(r.session)
}

// release frees what an ended run holds. late reports whether ends of calls are not recorded yet.
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

// note updates the run from an event.
func (r *run) note(e harness.Event, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = now
	r.dir, r.transcript = cmp.Or(e.Dir, r.dir), cmp.Or(e.Transcript, r.transcript)
	r.pane, r.tmux, r.ownMode = cmp.Or(e.Pane, r.pane), cmp.Or(e.Tmux, r.tmux), cmp.Or(e.Mode, r.ownMode)
	switch e.Kind {
	case harness.Stop:
		r.state = approval.Idle
	case harness.Notification: // the agent waits for its person: for an answer or for the next prompt
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
	if e.Kind == harness.Prompt && r.task == "" {
		r.task = taskOf(e.Text)
	}
}

// view returns the run as people see it.
func (r *run) view() approval.AgentSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := approval.AgentSession{
		ID: r.key.id, Agent: r.key.agent, Session: r.session.ID, Label: r.label, Dir: r.dir, Start: r.start,
		Role: r.session.Scope().Principal.Role, Pane: r.pane, Tmux: r.tmux,
		State: r.state, Since: r.since, Seen: r.seen, Ended: r.ended, Task: r.task, Turns: r.turns, Calls: r.count, Denials: r.denials,
		Cost: r.cost, Tokens: r.tokens, Last: r.tool, Result: r.said, Transcript: r.transcript,
	}
	switch {
	case r.halted != "":
		s.State = approval.Halted
	case r.waiting > 0:
		s.State = approval.PermissionPending
	}
	return s
}

// request returns a request with the fields that all requests of a run share.
func (r *run) request(k approval.Kind) approval.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.session.Scope().Principal
	return approval.Request{
		Kind: k, Session: r.session.ID, Principal: p.ID, Role: p.Role, Agent: r.key.agent, Label: r.label, Dir: r.dir, Surface: Surface,
	}
}

// waits records that a call of the run waits in the queue, until over is called.
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

// atWork reports whether a run has done something since a time and does not wait for its person.
func (r *run) atWork(since time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.halted == "" && r.state != approval.Idle && r.seen.After(since)
}

// silentSince reports whether the run had no event after t, or its session has ended.
func (r *run) silentSince(t time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return isDone(r.session) || !r.seen.After(t)
}

// halt makes the gate deny the next call of a run.
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

// verdict returns the answer to the same call before its permission was requested.
func (r *run) verdict(call string) (harness.Verdict, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.verdicts[call]
	return v, ok
}

// remember keeps the answer to a call.
func (r *run) remember(call string, v harness.Verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.verdicts) >= maxVerdicts {
		clear(r.verdicts)
	}
	r.verdicts[call] = v
}
