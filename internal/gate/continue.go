package gate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
)

// Patience is how long a call waits for what its server asked of the client (MCP 2026-07-28 wants a short time): long enough for
// a person who is at lunch with their phone, short enough that nothing is kept for a client that will not come back.
const Patience = session.Patience

// NewID returns the id of a call, for [Request.ID].
func NewID() string { return audit.NewID() }

// asksForInput reports whether a result asks for input (MCP 2026-07-28, input_required), and so is no outcome yet.
func asksForInput(result []byte) bool {
	// The search is cheap, and few results pass it. A server may write the word with escapes.
	if !bytes.Contains(result, []byte("input_required")) && !bytes.Contains(result, []byte(`\u00`)) {
		return false
	}
	return rawjson.TextAt(result, "resultType") == "input_required"
}

// NotOpen refuses a request that continues a call which does not wait.
const NotOpen = "the call that this request continues is no longer open: it has been continued, has ended, or waited too long; " +
	"call again without requestState"

// Continue decides again, with the scope of now, about a call that still runs and waits for its caller, and records the decision as a
// continuation of that call ([Request.Continues]). Its errors are those of [Gate.Call]. The caller ends a call that may not go on.
func (g *Gate) Continue(ctx context.Context, s *session.Session, r Request) error {
	_, err := g.admit(ctx, s, r, false)
	return err
}

// Abandon ends a call whose input will not come ([Reply.Open]), and records why.
func (g *Gate) Abandon(ctx context.Context, s *session.Session, r Request, why error) {
	since, ok := s.Calls.Resume(r.Continues, r.Item, g.now())
	if !ok {
		return
	}
	g.join(s, &r)
	a := &Admission{Request: r, gate: g, session: s, caller: s.SnapshotFor(r.Child), id: r.Continues, began: g.now(), since: since}
	a.Done(ctx, Reply{}, why)
}

// resume takes up the call that a request continues, and returns when that call began. A request whose call does not wait for input
// becomes invalid, and a call of its own: it is not recorded as part of the call that it names.
func (g *Gate) resume(s *session.Session, r *Request) (since time.Time) {
	if r.Invalid == "" {
		if since, ok := s.Calls.Resume(r.Continues, r.Item, g.now()); ok {
			return since
		}
		r.Invalid = NotOpen
	}
	r.Continues = ""
	return time.Time{}
}

// IsUnknown reports whether an error says that an item does not exist, or may not be told from one that does not.
func IsUnknown(err error) bool {
	var denied *DeniedError
	return errors.As(err, &denied) && denied.Decision.Unknown
}

// follows reports whether a request belongs to a call that was admitted and counted before: it continues the call, or is about the
// task that the call became.
func (r *Request) follows() bool { return r.Continues != "" || r.asksOfTask() }

// asksOfTask reports whether a request is about a task that a call became.
func (r *Request) asksOfTask() bool { return strings.HasPrefix(r.Method, "tasks/") }

// noteOf returns what the record of a decision adds about a request that is not a plain use of an item.
func (r *Request) noteOf() string {
	switch r.Method {
	case "tools/call", "resources/read", "prompts/get", "":
		if r.Continues != "" {
			return "continuation"
		}
		return ""
	}
	return r.Method
}
