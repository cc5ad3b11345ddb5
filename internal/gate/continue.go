package gate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
)

// Patience is how long a call waits for what its server asked of the client (MCP 2026-07-28 wants a short time): long enough for
// a person who is at lunch with their phone, short enough that nothing is kept for a client that will not come back.
const Patience = 10 * time.Minute

// maxOpen bounds the calls of one session whose servers wait for input.
const maxOpen = 64

// NewID makes the id of a call, for [Request.ID].
func NewID() string { return audit.NewID() }

// asksForInput reports whether a result is a server's wish for input (MCP 2026-07-28, input_required), which is no outcome yet.
func asksForInput(result []byte) bool {
	// A server may write the word with escapes, which are in few results: what is not seen here would reach the client unchecked.
	return (bytes.Contains(result, []byte("input_required")) || bytes.Contains(result, []byte(`\u00`))) && rawjson.TextAt(result, "resultType") == "input_required"
}

// opened is a call that ran and whose server waits for input: what is known of it until it is continued. Arguments and state are
// not kept: the retry brings them again.
type opened struct {
	item  policy.Item
	since time.Time
	until time.Time
}

// opens are those calls of one session, by id.
type opens struct {
	mu    sync.Mutex
	calls map[string]opened
	asked map[string]bool // calls that somebody was asked about and that are not over; true: approved. What continues them asks nobody
}

// note notes that somebody is asked about a call, or has approved it.
func (o *opens) note(id string, approved bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asked == nil {
		o.asked = map[string]bool{}
	}
	o.asked[id] = approved
}

// question reports whether somebody was asked about a call that is not over, and whether it was approved.
func (o *opens) question(id string) (approved, asked bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	approved, asked = o.asked[id]
	return approved, asked
}

// over forgets that somebody was asked about a call.
func (o *opens) over(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.asked, id)
}

// errTooManyOpen is told to the caller of a call that cannot be kept open.
var errTooManyOpen = errors.New("the server asks for input, but too many calls of this session wait for input already; answer or wait for those first")

func (o *opens) keep(id string, c opened, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, c := range o.calls {
		if now.After(c.until) {
			delete(o.calls, id)
			delete(o.asked, id)
		}
	}
	if len(o.calls) >= maxOpen {
		return errTooManyOpen
	}
	if o.calls == nil {
		o.calls = map[string]opened{}
	}
	o.calls[id] = c
	return nil
}

// take removes a call, so that it can be continued once.
func (o *opens) take(id string, item policy.Item, now time.Time) (opened, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c, ok := o.calls[id]
	if !ok || c.item != item || now.After(c.until) {
		return opened{}, false
	}
	delete(o.calls, id)
	return c, true
}

// NotOpen is why a request is refused that continues a call which does not wait.
const NotOpen = "the call that this request continues is no longer open: it has been continued, has ended, or waited too long; call again without requestState"

// Continue decides again, with the scope of now, about a call that still runs and waits for its caller, and records the decision
// as a continuation of that call ([Request.Continues]). Its errors are those of [Gate.Call]; the caller ends a call that may not go on.
func (g *Gate) Continue(ctx context.Context, s *Session, r Request) error {
	_, err := g.admit(ctx, s, r, false)
	return err
}

// Abandon ends a call that waited for input which will not come ([Reply.Open]), and records why.
func (g *Gate) Abandon(ctx context.Context, s *Session, r Request, why error) {
	c, ok := s.open.take(r.Continues, r.Item, g.now())
	if !ok {
		return
	}
	g.join(s, &r)
	a := &Admission{Request: r, gate: g, session: s, scoped: s.scopedFor(r.Child), id: r.Continues, began: g.now(), since: c.since}
	a.Done(ctx, Reply{}, why)
}

// resume takes out the open call that a request continues. One that cannot be continued makes the request invalid.
func (g *Gate) resume(s *Session, r *Request) opened {
	if r.Invalid == "" {
		if o, ok := s.open.take(r.Continues, r.Item, g.now()); ok {
			return o
		}
		r.Invalid = NotOpen
	}
	r.Continues = "" // a refused attempt is a call of its own: it says nothing about the one that it names
	return opened{}
}

// stillOpen puts a call back whose continuation only a limit refused: it may be tried again.
func (g *Gate) stillOpen(s *Session, r Request, o opened, err error) {
	var denied *DeniedError
	if !o.since.IsZero() && errors.As(err, &denied) && denied.RetryAfter > 0 {
		_ = s.open.keep(r.Continues, o, g.now()) // where others took its place meanwhile, it is over
	}
}

// keepOpen notes that a call waits for input. It is not at work meanwhile.
func (g *Gate) keepOpen(a *Admission) error {
	now := g.now()
	if err := a.session.open.keep(a.id, opened{a.Item, a.since, now.Add(Patience)}, now); err != nil {
		return err
	}
	a.Release()
	return nil
}

// IsUnknown reports whether an error says that what was asked for does not exist, or may not be told from it.
func IsUnknown(err error) bool {
	var denied *DeniedError
	return errors.As(err, &denied) && denied.Decision.Unknown
}

// follows reports whether a request belongs to a call that was admitted, and counted, before: its continuation, or what is asked of
// the task that it became.
func (r *Request) follows() bool { return r.Continues != "" || r.asksOfTask() }

// asksOfTask reports whether a request is about a task that a call became.
func (r *Request) asksOfTask() bool { return strings.HasPrefix(r.Method, "tasks/") }

// noteOf is what the record of a decision says besides: of what is no plain use of an item.
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
