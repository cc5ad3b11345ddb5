package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/credential"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/facts"
	"mycelium/internal/gate/guard"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/telemetry"
	"mycelium/internal/text"
)

// Request is one use of an item.
type Request struct {
	Item     policy.Item
	Asked    string          // the name as the caller wrote it, for the record
	Method   string          // tools/call, resources/read or prompts/get
	Params   []byte          // raw params for the backend: the name or uri already the backend's own
	Args     []byte          // raw arguments of a tool or prompt; nil: none
	Surface  string          // mcp-stdio, mcp-http, cli …
	Thinking *audit.Thinking // reasoning that came with the call
	Peer     Peer            // who is told and asked while the call runs; nil: nobody
	Child    *session.Child  // the subagent that calls; nil: the agent itself, or the one that is expected to (Expect)
	ToolUse  string          // the agent's own id of the call, by which it may be expected, and its end told
	Dir      string          // the working directory of an agent whose own tool this is, absolute; empty: the project folder

	Agent  string // whose own tool it is: claude, codex …; empty: of an MCP client
	Label  string // what people call the session: its folder, its tmux window; of a request for approval
	Pane   string // tmux pane of the agent; empty: none
	NoWait bool   // what the policy marks ask, and no answer for its session and no model settles, is refused with that effect: somebody else asks
	// Waits is called when the call begins to wait for an approval, and what it returns when that is over; nil: nobody wants to know.
	Waits func() (over func())

	ID        string          // of the call, from NewID; empty: the gate makes one
	Continues string          // the call that this request goes on with: Reply.Open, or one that runs and waits (Continue); empty: a new call
	span      *telemetry.Span // nil: not traced
	Invalid   string          // why the surface will not take this request; of what is hidden not even that is said, all else is refused with it
}

// Reply is what came back: exactly one of Result and Error is set, byte for byte as the backend sent it.
type Reply struct {
	Result []byte
	Error  []byte // a JSON-RPC error object
	Open   string // the result asks for input: the id of the call, which is not over; see Request.Continues and Abandon
}

// DeniedError is the only refusal. Surfaces translate it: an Unknown one is answered exactly like an item that does not exist.
// Its decision is the part that the caller may know: of an unknown item nothing but that. The effect is Ask where the policy
// would have asked somebody.
type DeniedError struct {
	Decision policy.Decision
	Asked    string // what the caller asked for
	Invalid  bool   // the request itself is at fault (Request.Invalid, or what it continues is not open), not what it asks for

	// RetryAfter is when a call that only a limit refuses may be tried again; 0: trying again is no use.
	RetryAfter time.Duration
}

func (e *DeniedError) Error() string { return e.Decision.Reason }

// call is Call, not measured as a whole.
func (g *Gate) call(ctx context.Context, s *session.Session, r Request) (Reply, error) {
	if r.Item.Server == policy.AgentServer {
		r.Item = policy.Item{Kind: r.Item.Kind} // an agent's own tools are admitted, never run by us
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
	reply, err := g.run(ctx, a)
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
	asked     bool        // somebody was asked, and that is recorded
	held      limit.Slots // given back by Done

	guard   policy.Guard // of the decision
	guarded []string     // what it did
}

// Admit is the first half of Call, for what others run: it decides, counts and records. Its errors are those of Call. Who gets an
// admission ends it with [Admission.Done].
func (g *Gate) Admit(ctx context.Context, s *session.Session, r Request) (a *Admission, err error) {
	return g.admit(ctx, s, r, true)
}

// admit is Admit. runs tells that the call is about to run: it takes a slot where the number of calls at work is limited. A
// continuation has its rate token.
func (g *Gate) admit(ctx context.Context, s *session.Session, r Request, runs bool) (a *Admission, err error) {
	g.join(s, &r)
	a = &Admission{Request: r, gate: g, session: s, caller: s.SnapshotFor(r.Child), id: cmp.Or(r.Continues, r.ID), began: g.now(), thinking: claim(s, &r)}
	if a.id == "" {
		a.id = audit.NewID()
	}
	a.since = a.began
	if s.Over(a.began) {
		return nil, errors.Join(session.ErrNoSession, g.recordDecision(ctx, a, policy.Decision{Rule: "session", Reason: "the session is over"}))
	}
	span := a.span.Decide()
	d := g.decide(a)
	span.End("")
	if r.Invalid != "" && !d.Unknown {
		d = policy.Decision{Rule: "request", Reason: r.Invalid}
	}
	if d.Effect == policy.Deny || d.Effect == policy.Ask && !g.canAsk(a) {
		return nil, g.refuse(ctx, a, d)
	}
	if !r.follows() {
		refused, near := g.limits.Pass(a.counted())
		if refused != nil {
			return nil, g.tooMany(ctx, a, refused)
		}
		g.warnOf(ctx, a, near)
	}
	if d.Effect == policy.Ask {
		if d, err = g.approve(ctx, a, d); err != nil {
			return nil, err
		}
		if runs && d.Effect != policy.Allow {
			return nil, g.refuse(ctx, a, d)
		}
	}
	a.guard = d.Guard
	if r.asksOfTask() { // with which arguments the task began is not known any more
		a.guard = a.caller.Guards(r.Item)
	}
	if err = g.settle(ctx); err == nil {
		err = g.recordDecision(ctx, a, d)
	}
	if err != nil {
		return nil, g.unrecorded(a, err)
	}
	if runs {
		var refused *limit.Exceeded
		if a.held, refused = g.limits.Enter(a.counted(), !r.follows()); refused != nil {
			s.Calls.Over(a.id)
			return nil, g.tooMany(ctx, a, refused)
		}
	}
	s.Written.Note(a.Item, &a.facts)
	return a, nil
}

// unrecorded refuses a call that cannot be recorded.
func (g *Gate) unrecorded(a *Admission, err error) error {
	g.logger.Error("a call was refused because it cannot be recorded", "call", a.id, "tool", a.Item.String(), "error", err)
	return &DeniedError{Asked: a.Asked, Decision: policy.Decision{
		Rule: "audit", Reason: "This call cannot be recorded, so it does not run. The operator must look at the audit log.",
	}}
}

// decide reads the arguments, makes the facts and asks the policy. A fault of ours on the way is a denial.
func (g *Gate) decide(c *Admission) (d policy.Decision) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("a decision panicked", "call", c.id, "tool", c.Item.String(), "panic", p, "stack", string(debug.Stack()))
			d = policy.Decision{Rule: "fault", Reason: "This call could not be decided, so it does not run. The operator's log says why."}
		}
	}()
	var err error
	if c.args, c.facts, err = g.read(c); err != nil {
		// Of what is hidden not even that is said. Without arguments the policy says why it is hidden, for the log.
		if d := decideAs(c.caller, policy.Call{Item: c.Item, Time: c.began}); d.Unknown {
			return d
		}
		return policy.Decision{Rule: "arguments", Reason: "The arguments are not valid: " + err.Error()}
	}
	return decideAs(c.caller, policy.Call{Item: c.Item, Args: c.args, Facts: c.facts, Time: c.began})
}

// decideAs asks the policy. A child is also decided as what stands above it, with the skills that are active there, and the strictest
// answer stands: the policy by itself takes a parent to have every skill that is open to it.
func decideAs(sc *session.Snapshot, c policy.Call) policy.Decision {
	c.Scope = sc.Scope
	d := sc.World.Policy.Decide(c)
	if sc.Parent == nil || d.Unknown {
		return d
	}
	above := decideAs(sc.Parent, c)
	if above.Unknown || above.Effect < d.Effect {
		return above
	}
	d.Guard = d.Guard.And(above.Guard)
	return d
}

// read decodes the arguments and makes the facts. Its errors are for the caller.
func (g *Gate) read(c *Admission) (policy.Args, policy.Facts, error) {
	args, err := policy.ParseArgs(c.Args)
	if err != nil {
		return nil, policy.Facts{}, err
	}
	dir := cmp.Or(c.caller.World.Roots[c.Item.Server], g.dir)
	if c.Item.Server == policy.AgentServer && c.Dir != "" && c.Dir != g.dir {
		if dir = facts.Resolve(c.Dir); dir == "" {
			return nil, policy.Facts{}, errors.New("the working directory does not lead anywhere")
		}
	}
	f, err := facts.Of(c.Item, c.caller.World.Annotations(c.Item), args, dir, g.home)
	if err == nil {
		c.session.Written.Mark(&f)
	}
	return args, f, err
}

// refuse records a denial and puts it into the words that the caller may read. A denial that cannot be recorded denies all
// the same.
func (g *Gate) refuse(ctx context.Context, c *Admission, d policy.Decision) error {
	if err := g.recordDecision(ctx, c, d); err != nil {
		g.logger.Error("a denial is not in the audit log", "call", c.id, "tool", c.Item.String(), "error", err)
	}
	switch {
	case d.Unknown:
		return c.unknown()
	case d.Effect == policy.Ask && !c.NoWait:
		d.Reason = cmp.Or(d.Reason, "This call needs an approval") + " (nobody can be asked here, so it is refused)"
	}
	denied := c.denied(d)
	denied.Invalid = c.Invalid != ""
	return denied
}

// denied is a refusal as the caller may read it: without what has the form of a secret, which a fault of its arguments can quote.
func (c *Admission) denied(d policy.Decision) *DeniedError {
	d.Reason = credential.Mask(d.Reason)
	return &DeniedError{Decision: d, Asked: c.Asked}
}

// unknown is the one refusal of what does not exist and of what may not be seen (T7).
func (c *Admission) unknown() error {
	return c.denied(policy.Decision{Unknown: true, Reason: "Unknown " + kindName(c.Item.Kind) + ": " + c.Asked})
}

// run carries an allowed call to whoever answers it: one of our control tools, or a backend. A panic of a server in this
// process is a failed call, not the end of the program.
func (g *Gate) run(ctx context.Context, c *Admission) (reply Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("a call panicked", "call", c.id, "tool", c.Item.String(), "panic", p, "stack", string(debug.Stack()))
			reply, err = Reply{}, fmt.Errorf("call %s: the server failed", c.Asked)
		}
	}()
	if view.IsOwn(c.Item.Server) {
		if c.Method == "completion/complete" {
			return Reply{Result: []byte(`{"completion":{"values":[]}}`)}, nil
		}
		result, err := g.control.Answer(ctx, &control.Call{
			ID: c.id, Session: c.session, Caller: c.caller, Child: c.Child, Item: c.Item, Args: c.args, Began: c.began,
			Confirm: func(ctx context.Context, add []string) ([]string, error) { return g.confirm(ctx, c, add) },
		})
		if errors.Is(err, control.ErrUnknown) {
			err = c.unknown()
		}
		return Reply{Result: result}, err
	}
	var span *telemetry.Span
	if c.span != nil {
		span = c.span.Request(c.Item.Server, c.Method, c.Item.Name)
	}
	began := g.now()
	result, rpcErr, err := g.backends.Do(ctx, c.caller.Scope, c.Item.Server, c.Method, traced(c.Params, span), c.Peer)
	g.measureBackend(c, span, began, result, rpcErr, err)
	switch {
	case isAbsent(err):
		return Reply{}, c.unknown()
	case err != nil:
		return Reply{}, err
	case rpcErr == nil && result == nil:
		return Reply{}, fmt.Errorf("call %s: the server answered with neither a result nor an error", c.Asked)
	case rpcErr != nil:
		reply = Reply{Error: rpcErr}
	default:
		reply = Reply{Result: result}
	}
	if c.guard != (policy.Guard{}) {
		return c.guarding(reply)
	}
	return reply, nil
}

// guarding applies the guard of the decision to an answer, and notes what it did.
func (c *Admission) guarding(reply Reply) (out Reply, err error) {
	name, secrets := c.Item.String(), c.gate.log.Secrets()
	if c.Item.Kind == policy.Resource {
		name = view.URI(c.Item)
	}
	if reply.Error != nil {
		out.Error, c.guarded, err = guard.Error(c.guard, secrets, name, reply.Error)
	} else {
		out.Result, c.guarded, err = guard.Result(c.guard, secrets, name, reply.Result)
	}
	return out, err
}

// isAbsent reports whether a backend refuses an item because it may not be told from one that does not exist: its definition changed, and
// this call was admitted before the policy knew.
func isAbsent(err error) bool {
	var a interface{ Absent() bool }
	return errors.As(err, &a) && a.Absent()
}

// recordDecision writes what was decided, with the arguments.
func (g *Gate) recordDecision(ctx context.Context, c *Admission, d policy.Decision) error {
	g.measureDecision(c, d)
	r := c.record(audit.Decided, c.began)
	if c.asked { // the first record has the rest
		r.Time = g.now()
	} else {
		r.Args, r.Thinking = c.Args, c.thinking
	}
	r.Effect, r.Unknown, r.Rule, r.Reason, r.DecidedBy = d.Effect.String(), d.Unknown, d.Rule, d.Reason, cmp.Or(c.decidedBy, "policy")
	r.Note = c.noteOf()
	if !c.asked && slices.ContainsFunc(c.facts.Parts, tells) {
		r.Facts = &c.facts
	}
	return g.append(ctx, r)
}

// tells reports whether a part of the facts says anything at all.
func tells(p policy.Part) bool {
	return p.Program != "" || len(p.Argv)+len(p.Paths)+len(p.Hosts)+len(p.Effects)+len(p.Unclear) > 0
}

// Thinking is the log's, for surfaces that do not know it.
type Thinking = audit.Thinking

// CacheUse is the log's likewise.
type CacheUse = audit.CacheUse

// Ending is how a call ended that others ran, as far as they say.
type Ending struct {
	Failed   string          // what went wrong; empty: nothing
	Took     time.Duration   // 0: since it was admitted
	Thinking *audit.Thinking // reasoning that came to light only now
}

// Ended is Done for a call that others ran.
func (c *Admission) Ended(ctx context.Context, e Ending) {
	now := c.gate.now()
	if e.Took > 0 {
		c.since = now.Add(-e.Took)
	}
	if c.thinking == nil && e.Thinking != nil {
		late := *e.Thinking
		late.Claimed = true
		c.late = &late
	}
	var failed error
	if e.Failed != "" {
		failed = errors.New(e.Failed)
	}
	c.Done(ctx, Reply{}, failed)
}

// Release gives back what an admission holds whose end nobody will tell: in the log it stays unfinished.
func (c *Admission) Release() {
	c.gate.limits.Leave(c.held)
	c.held = nil
}

// Done records how the call ended. If that fails the result goes out all the same (the call ran), and nothing else runs until
// the log has taken the record.
func (c *Admission) Done(ctx context.Context, reply Reply, failed error) {
	g := c.gate
	c.Release()
	c.session.Calls.Over(c.id)
	now := g.now()
	r := c.record(audit.Outcome, now)
	r.Duration = now.Sub(c.since)
	r.Outcome, r.Guard, r.Thinking = "ok", c.guarded, c.late
	var denied *DeniedError
	switch {
	case errors.As(failed, &denied):
		r.Outcome, r.Unknown, r.Error = "denied", denied.Decision.Unknown, "its definition is in quarantine"
	case failed != nil:
		r.Outcome, r.Error = "error", credential.Excerpt(text.Describe(failed), maxError)
	case reply.Error != nil:
		r.Outcome, r.Error = "error", credential.Excerpt(rawjson.TextAt(reply.Error, "message"), maxError)
	case c.Item.Kind == policy.Tool && reportsError(reply.Result):
		r.Outcome, r.Error = "error", "the tool reported an error"
	}
	g.measureOutcome(c, r.Outcome, reply, failed, r.Duration)
	if err := g.append(ctx, r); err != nil {
		g.logger.Error("an outcome is not in the audit log: nothing runs until it is", "call", c.id, "error", err)
		g.owed.add(r)
	}
}

// What others wrote goes into a record up to these lengths, in bytes.
const (
	maxError = 500
	maxAsked = 500
)

// record is what both records of a call share.
func (c *Admission) record(k audit.Kind, at time.Time) audit.Record {
	p := &c.caller.Scope.Principal
	r := audit.Record{
		ID: c.id, Kind: k, Time: at, Session: c.session.ID, Principal: p.ID, Role: p.Role, Skills: c.caller.Scope.Skills,
		Surface: c.Surface, Server: c.Item.Server, Tool: c.Item.String(),
	}
	if p.Parent != nil {
		r.Parent = p.Parent.ID
	}
	if c.Item.Kind != policy.Tool {
		r.ItemKind = kindName(c.Item.Kind)
	}
	if c.Item.Server == "" {
		r.Tool = c.Asked
	}
	r.Tool, r.ToolUse = credential.Excerpt(r.Tool, maxAsked), credential.Excerpt(c.ToolUse, maxAsked)
	return r
}

// kindName is the word for a kind.
func kindName(k policy.Kind) string {
	switch k {
	case policy.Resource:
		return "resource"
	case policy.Prompt:
		return "prompt"
	default:
		return "tool"
	}
}

// claim takes the reasoning that belongs to a call: what came with it, else what set_thinking left, which is used once. We
// saw neither come into being, so both are claimed.
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
