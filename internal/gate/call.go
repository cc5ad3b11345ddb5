package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/guard"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
	"mycelium/internal/rawjson"
	"mycelium/internal/telemetry"
)

// Request is one use of an item.
type Request struct {
	Item     policy.Item
	Asked    string          // the name as the caller wrote it, for the record
	Method   string          // tools/call, resources/read or prompts/get
	Params   []byte          // raw params for the backend: the name or uri already the backend's own
	Args     []byte          // raw arguments of a tool or prompt; may be nil
	Surface  string          // mcp-stdio, mcp-http, cli …
	Thinking *audit.Thinking // reasoning that came with the call
	Peer     Peer            // who gets what the server says and asks while the call runs; may be nil
	Child    *session.Child  // the subagent that calls; nil: the agent itself, or the one that is expected to (Expect)
	ToolUse  string          // the agent's own id of the call; see Expect and Finish
	Dir      string          // the working directory of an agent whose own tool this is, absolute; empty: the project folder

	Agent string // whose own tool it is: claude, codex …; empty: the caller is an MCP client
	Label string // what people call the session: its folder, its tmux window; of a request for approval
	Pane  string // tmux pane of the agent, if it has one
	// Asks says what becomes of the call if it needs an approval. What the session says stands above it. Empty: the call waits.
	Asks     approval.WhenAsked
	Terminal bool // a person sits at the agent's own terminal, which can ask: see DeniedError.AtTerminal
	// Abstains says that a call about which only the fallback would decide is left to whoever asks, and recorded so: see
	// [Admission.Abstained].
	Abstains bool
	// Within is the profile of the sandbox in which the call runs where no rule wants one: then it never runs outside. Empty: it may.
	Within string
	// Unbound says why the call, which a rule allows or asks about, cannot run in a sandbox; "": it can. nil: whoever makes the call cannot
	// bind it to one.
	Unbound func(ctx context.Context, effect policy.Effect) string
	// Lacked returns what the call lacked when it ran in the sandbox before; nil: it is not known of such calls.
	Lacked func() approval.Lacked
	// Waits, if set, is called when the call begins to wait for an approval, and the function that it returns when the wait is over.
	Waits func() (over func())
	// Told, if set, is called once, when people may see the request for the approval. It must not block.
	Told func(r approval.Request)

	ID        string          // of the call, from NewID; empty: the gate makes it
	Continues string          // the call that this request continues: Reply.Open, or one that runs and waits (Continue)
	span      *telemetry.Span // nil: not traced
	Invalid   string          // why the surface refuses this request; a hidden item answers like an absent one all the same
}

// Reply is the answer: exactly one of Result and Error is set, byte for byte as the backend sent it.
type Reply struct {
	Result []byte
	Error  []byte // a JSON-RPC error object
	Open   string // the result asks for input: the id of the call, which is not over; see Request.Continues and Abandon

	Refused bool // the result of a control tool tells that the session may not do what was asked
}

// DeniedError is the only refusal. Surfaces translate it: an Unknown one is answered exactly like an item that does not exist. Its
// decision holds only what the caller may know. The effect is Ask if the policy would have asked a person.
type DeniedError struct {
	Decision policy.Decision
	Asked    string // what the caller asked for
	Invalid  bool   // the request itself is at fault (Request.Invalid or NotOpen), not what it asks for
	// AtTerminal says that the agent's own terminal has to ask its person. The effect is Ask then.
	AtTerminal bool
	// Question is what it asks, if AtTerminal is set.
	Question *approval.Request
	// Lacked is what the call would have got in the sandbox, nil for nothing, and Settled how it was refused that: Never for the rest of
	// the session, Once for now, "" if the question was not settled.
	Lacked  *approval.Lacked
	Settled approval.For

	// Advice is what the caller is told besides, after several denials in a row, and Halt why its agent must stop now; both may be empty.
	Advice, Halt string

	// Ending says that the call waited for an approval when this process ended. It has not run, and its request is kept for the next process.
	Ending bool

	// RetryAfter is when a call that only a limit refuses may be tried again; 0 for any other refusal.
	RetryAfter time.Duration
}

func (e *DeniedError) Error() string { return e.Decision.Reason }

// Call takes a request through the door: facts, decision, record, backend, record. A refusal is a *DeniedError. Any other error is a
// failure of the backend or of the log, in words for people. A session that is over gets [session.ErrNoSession].
func (g *Gate) Call(ctx context.Context, s *session.Session, r Request) (Reply, error) {
	if g.tracer == nil {
		reply, err := g.call(ctx, s, r)
		g.count(s, &r, reply, err)
		return reply, err
	}
	meta := rawjson.Member(r.Params, "_meta")
	r.span = g.tracer.Start(r.Method, rawjson.TextAt(meta, "traceparent"), rawjson.TextAt(meta, "tracestate"))
	reply, err := g.call(ctx, s, r)
	r.span.End(failureOf(reply, err))
	g.count(s, &r, reply, err)
	return reply, err
}

// count counts denials in a row (E25). A call that ran ends the row. What does not exist, and a mistake in the request, is no denial.
func (g *Gate) count(s *session.Session, r *Request, reply Reply, err error) {
	var denied *DeniedError
	switch {
	case g.row == nil || r.Item.Kind != policy.Tool || reply.Refused:
	case errors.As(err, &denied) && !denied.Decision.Unknown && !denied.Invalid:
		denied.Advice, denied.Halt = g.row(s, r.Item.String(), int(s.Denied.Add(1)), denied.Decision.Reason)
	case err == nil:
		s.Denied.Store(0)
	}
}

// call is Call without the span of the whole call.
func (g *Gate) call(ctx context.Context, s *session.Session, r Request) (Reply, error) {
	if r.Item.Server == policy.AgentServer {
		r.Item = policy.Item{Kind: r.Item.Kind} // an agent's own tools are admitted, never run by us
	}
	if r.Item.Server != "" {
		s.Await(ctx, r.Item.Server) // a server that was just added is not told of as unknown
	}
	g.log.Enter()
	defer g.log.Leave()
	var since time.Time // of the call that it continues
	if r.Continues != "" {
		since = g.resume(s, &r)
	}
	a, err := g.admit(ctx, s, r, true)
	if err != nil {
		var denied *DeniedError
		if !since.IsZero() && errors.As(err, &denied) && denied.RetryAfter > 0 { // only a limit refused it: it may be tried again
			_ = s.Calls.Wait(r.Continues, r.Item, since, g.now()) // if other calls took its place meanwhile, it is over
		}
		return Reply{}, err
	}
	if !since.IsZero() {
		a.since = since
	}
	defer g.running.begin()()
	reply, err := a.run(ctx)
	if err == nil && asksForInput(reply.Result) {
		if err = s.Calls.Wait(a.id, a.Item, a.since, g.now()); err == nil {
			a.Release() // it is not at work meanwhile
			reply.Open = a.id
			return reply, nil
		}
		reply = Reply{}
	}
	a.Done(ctx, reply, err)
	return reply, err
}

// Admission is a request that was decided and recorded, and may run.
type Admission struct {
	Request
	gate     *Gate
	session  *session.Session
	caller   *session.Snapshot // as of the decision
	id       string
	began    time.Time // of this request
	since    time.Time // of the call that it may continue
	args     policy.Args
	facts    policy.Facts
	thinking *audit.Thinking
	late     *audit.Thinking // of Ended

	decidedBy string      // for the record; empty: the policy
	abstained bool        // nothing but the fallback would have decided
	asked     bool        // somebody was asked, and that is recorded
	place     place       // where it is asked about
	refused   bool        // what it would have done was not approved or is not the session's to do, and that is recorded
	held      limit.Slots // given back by Done
	unused    func()      // gives an approval back that the call cannot use; nil: none

	lacked  approval.Lacked // what it gets in the sandbox beyond the profile, if people allow it
	settled approval.For    // how they answered that; "": not yet

	sandbox box.Box      // of the decision
	outside string       // likewise
	guard   policy.Guard // likewise
	guarded []string     // what it did
}

// Abstained reports whether the policy has no opinion about the call: whoever asked decides.
func (a *Admission) Abstained() bool { return a.abstained }

// Sandbox is the sandbox in which whoever asked must run the call; the zero value: it runs in none.
func (a *Admission) Sandbox() box.Box { return a.sandbox }

// Outside is why the command of the call runs outside although the policy has a wall; "" for every other call.
func (a *Admission) Outside() string { return a.outside }

// Lacked is what the call gets in the sandbox beyond the profile, because it lacked that before and was approved, and for how long.
func (a *Admission) Lacked() (approval.Lacked, approval.For) { return a.lacked, a.settled }

// Admit is the first half of Call, for a call that runs elsewhere: it decides, counts and records. Its errors are those of Call. The
// caller ends an admission with [Admission.Done] or [Admission.Ended].
func (g *Gate) Admit(ctx context.Context, s *session.Session, r Request) (a *Admission, err error) {
	return g.admit(ctx, s, r, true)
}

// admit is Admit. runs says that the call is about to run: it takes a slot if the number of calls under way is limited. A continuation
// has its rate token.
func (g *Gate) admit(ctx context.Context, s *session.Session, r Request, runs bool) (a *Admission, err error) {
	g.join(s, &r)
	a = &Admission{Request: r, gate: g, session: s, caller: s.SnapshotFor(r.Child), began: g.now(), thinking: claim(s, &r)}
	if a.id = cmp.Or(r.Continues, r.ID); a.id == "" {
		a.id = audit.NewID()
	}
	a.since = a.began
	if s.Over(a.began) {
		return nil, errors.Join(session.ErrNoSession, a.recordDecision(ctx, policy.Decision{Rule: sessionRule, Reason: "the session is over"}))
	}
	span := a.span.Decide()
	d := a.decide(ctx)
	span.End("")
	if r.Invalid != "" && !d.Unknown {
		d = policy.Decision{Rule: "request", Reason: r.Invalid}
	}
	if why := g.gone(); why != "" && !d.Unknown {
		d = policy.Decision{Rule: "project", Reason: "No call runs: " + why + ". The operator must look at it."}
	}
	if d.Effect == policy.Deny || d.Effect == policy.Ask && !a.canAsk() {
		return nil, a.refuse(ctx, d)
	}
	if !r.follows() {
		refused, near := g.limits.Pass(a.counted())
		if refused != nil {
			return nil, a.tooMany(ctx, refused)
		}
		a.warnOf(ctx, near)
	}
	if d.Effect == policy.Ask {
		if d, err = a.approve(ctx, d); err != nil {
			return nil, err
		}
		if runs && d.Effect != policy.Allow {
			return nil, a.refuse(ctx, d)
		}
	}
	a.guard, a.sandbox, a.outside = d.Guard, d.Sandbox, d.Outside
	if r.asksOfTask() { // with which arguments the task began is not known any more
		a.guard = a.caller.Guards(r.Item)
	}
	if err = g.settle(ctx); err == nil {
		err = a.recordDecision(ctx, d)
	}
	if err != nil {
		return nil, a.unrecorded(err)
	}
	if runs && !a.Item.StartsAgent() { // a sub-agent's calls would wait for the slot of the call that started it
		var refused *limit.Exceeded
		if a.held, refused = g.limits.Enter(a.counted(), !r.follows()); refused != nil {
			s.Calls.Over(a.id)
			if a.unused != nil {
				a.unused() // nobody is asked again when the caller tries again
			}
			return nil, a.tooMany(ctx, refused)
		}
	}
	s.Used(a.Item, &a.facts, a.began)
	return a, nil
}

// run carries an allowed call to a control tool of ours or to a backend. A panic of a server in this process fails the call, and does
// not end the program.
func (a *Admission) run(ctx context.Context) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.gate.logger.Error("a call panicked", "call", a.id, "tool", a.Item.String(), "panic", p, "stack", string(debug.Stack()))
			reply, err = Reply{}, fmt.Errorf("call %s: the server failed", a.Asked)
		}
	}()
	if view.IsOwn(a.Item.Server) {
		if a.Method == "completion/complete" {
			return Reply{Result: []byte(`{"completion":{"values":[]}}`)}, nil
		}
		result, refused, err := a.gate.control.Answer(ctx, &control.Call{
			ID: a.id, Session: a.session, Caller: a.caller, Child: a.Child, Item: a.Item, Args: a.args, Began: a.began,
			Confirm: a.confirm, Tell: a.telling(), Budget: budgetIn(a.Params),
		})
		if errors.Is(err, control.ErrUnknown) {
			err = a.unknown()
		}
		if refused != "" && !a.refused {
			a.recordRefusal(ctx, refused)
		}
		if err == nil && (a.Item.RunsScript() || a.Item.StartsAgent()) && a.guard != (policy.Guard{}) {
			return a.guarding(Reply{Result: result})
		}
		return Reply{Result: result, Refused: refused != ""}, err
	}
	var span *telemetry.Span
	if a.span != nil {
		span = a.span.Request(a.Item.Server, a.Method, a.Item.Name)
	}
	began := a.gate.now()
	result, rpcErr, err := a.gate.backends.Do(ctx, a.caller.Scope, a.session.ID, a.Item.Server, a.Method, traced(a.Params, span), a.Peer)
	a.measureBackend(span, began, result, rpcErr, err)
	switch {
	case isAbsent(err):
		return Reply{}, a.unknown()
	case err != nil:
		return Reply{}, err
	case rpcErr == nil && result == nil:
		return Reply{}, fmt.Errorf("call %s: the server answered with neither a result nor an error", a.Asked)
	case rpcErr != nil:
		reply = Reply{Error: rpcErr}
	default:
		reply = Reply{Result: result}
	}
	if a.guard != (policy.Guard{}) {
		return a.guarding(reply)
	}
	return reply, nil
}

// guarding applies the guard of the decision to an answer, and notes what it did.
func (a *Admission) guarding(reply Reply) (out Reply, err error) {
	name, secrets := a.Item.String(), a.gate.log.Secrets()
	if a.Item.Kind == policy.Resource {
		name = view.URI(a.Item)
	}
	if reply.Error != nil {
		out.Error, a.guarded, err = guard.Error(a.guard, secrets, name, reply.Error)
	} else {
		out.Result, a.guarded, err = guard.Result(a.guard, secrets, name, reply.Result)
	}
	return out, err
}

// isAbsent reports whether a backend refuses an item that may not be told from an absent one: its definition changed, and this call
// was admitted before the policy knew.
func isAbsent(err error) bool {
	var a interface{ Absent() bool }
	return errors.As(err, &a) && a.Absent()
}

// Thinking is the log's, for surfaces that do not know it.
type Thinking = audit.Thinking

// CacheUse is the log's likewise.
type CacheUse = audit.CacheUse

// claim returns the reasoning that belongs to a call: what came with it, else what set_thinking left, which is used once. The gate saw
// neither being made, so both are marked as claimed.
func claim(s *session.Session, r *Request) *audit.Thinking {
	if r.Item == control.SetThinkingItem {
		return r.Thinking
	}
	t := s.Thinking.Swap(nil)
	if r.Thinking != nil {
		own := *r.Thinking
		t = &own
	}
	if t != nil {
		t.Claimed = true
	}
	return t
}
