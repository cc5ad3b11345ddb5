package gate

import (
	"sync"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
)

// An agent's hook is told of a call of one of our gateway's tools before the agent's MCP client sends it. What only the hook knows is kept
// until the call comes: which subagent calls, and why. The call is found by the agent's own id of it, among the calls of the same
// principal; the id selects, and authorizes nothing.

// Expected is what is known about a call before it comes.
type Expected struct {
	Child    *session.Child  // who calls; nil: the agent itself
	Thinking *audit.Thinking // why, where that is known
	// Came, if set, is called when the call has come, with the session that it came through. It must not wait.
	Came func(s *session.Session)
}

// callKey names a call that is expected.
type callKey struct{ principal, toolUse string }

// expectation is a call that is expected, and the session whose hook said so.
type expectation struct {
	session *session.Session
	Expected
}

// maxExpected bounds the calls that one session may announce: as many tools as an agent uses at once, many times over.
const maxExpected = 1024

// arrivals are the calls that are expected.
type arrivals struct {
	mu    sync.Mutex
	calls map[callKey]expectation
	count map[*session.Session]int
}

// Expect notes a call that is about to come through a session of the same principal, until Forget is called. False means that too many
// calls are expected, or that another session has announced the same id; the caller must then deny the call, which would be decided
// without what is known about it.
func (g *Gate) Expect(s *session.Session, toolUse string, e Expected) bool {
	x, key := &g.arrivals, callKey{s.Principal.ID, toolUse}
	x.mu.Lock()
	defer x.mu.Unlock()
	old, again := x.calls[key]
	if again && old.session != s || !again && x.count[s] >= maxExpected {
		return false
	}
	if x.calls == nil {
		x.calls, x.count = map[callKey]expectation{}, map[*session.Session]int{}
	}
	x.calls[key] = expectation{s, e}
	if !again {
		x.count[s]++
	}
	return true
}

// Forget ends what Expect began.
func (g *Gate) Forget(s *session.Session, toolUse string) {
	x, key := &g.arrivals, callKey{s.Principal.ID, toolUse}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.calls[key].session != s {
		return
	}
	delete(x.calls, key)
	if x.count[s]--; x.count[s] == 0 {
		delete(x.count, s)
	}
}

// join adds to a request what is known about it.
func (g *Gate) join(s *session.Session, r *Request) {
	if r.ToolUse == "" || r.Child != nil || r.Agent != "" { // an agent's own tool is announced by nobody
		return
	}
	x := &g.arrivals
	x.mu.Lock()
	e, ok := x.calls[callKey{s.Principal.ID, r.ToolUse}]
	x.mu.Unlock()
	if !ok {
		return
	}
	r.Child = e.Child
	if r.Thinking == nil {
		r.Thinking = e.Thinking
	}
	if e.Came != nil {
		e.Came(s)
	}
}
