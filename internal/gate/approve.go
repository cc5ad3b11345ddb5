package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/approval/risk"
	"mycelium/internal/code"
	"mycelium/internal/credential"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// A call that the policy marks ask waits until it is answered, and does not run before. The log has two decisions about it: the ask, and
// how it was settled.

// Tick is how often a client that asked for progress hears that its call still waits for an approval.
const Tick = 10 * time.Second

// Who decided, besides the policy, in the words of the log.
const (
	byPerson   = "person"
	byModel    = "model"
	byDeadline = "deadline"
	byCaller   = "caller" // it went away, or its session ended
)

var errSessionOver = errors.New("the session is over")

// canAsk reports whether a call may wait for an answer, or needs to ask nobody.
func (a *Admission) canAsk() bool {
	return a.gate.asks != nil || a.hasAnswer()
}

// hasAnswer reports whether a request goes on with a call that a person was asked about: its continuation (decision 9), which may
// bring the client's own answer, or a request about the task that it became, whose id we sealed when the call was admitted.
func (a *Admission) hasAnswer() bool {
	_, asked := a.session.Calls.Question(a.id)
	return a.asksOfTask() || a.Continues != "" && asked
}

// approve waits for the answer to a call, and returns the decision that then stands. It denies with the error of [Gate.Call].
func (a *Admission) approve(ctx context.Context, asked policy.Decision) (d policy.Decision, err error) {
	if a.hasAnswer() {
		if approved, open := a.session.Calls.Question(a.id); open && !approved {
			asked.Reason = "goes on with a call that waits for its answer"
			return asked, nil
		}
		return allowed(asked, "continues a call that was approved"), nil
	}
	if a.where().Place != approval.InQueue {
		return a.consult(ctx, asked)
	}
	r := a.question(asked)
	if answer, known := a.gate.asks.Remembered(r); known { // nobody is asked, so no question is recorded
		next, d, err := a.answered(ctx, asked, r, answer)
		if next == nil {
			return d, err
		}
		r, a.decidedBy = *next, ""
	}
	if err = a.gate.settle(ctx); err == nil {
		err = a.recordDecision(ctx, asked)
	}
	if err != nil {
		return asked, a.unrecorded(err)
	}
	a.asked = true
	a.session.Calls.NoteQuestion(a.id, false)
	defer func() {
		if d.Effect != policy.Allow || err != nil {
			a.session.Calls.Over(a.id)
		}
	}()
	for range maxChanges {
		answer, err := a.wait(ctx, r)
		a.caller = a.session.SnapshotFor(a.Child)
		if err == nil && answer.By == approval.BySession || a.session.Over(a.gate.now()) {
			err = errSessionOver
		}
		if err != nil {
			return asked, a.unanswered(ctx, asked, err)
		}
		next, d, err := a.answered(ctx, asked, r, answer)
		if next == nil {
			return d, err
		}
		if err = a.askAnew(ctx, asked, answer); err != nil {
			return asked, a.unrecorded(err)
		}
		r = *next
	}
	return asked, a.refuse(ctx, policy.Decision{Rule: asked.Rule, Reason: "What this call would run changes while people are asked about it"})
}

// answered makes an answer the decision of a call: a refusal, or what [Admission.approved] returns.
func (a *Admission) answered(
	ctx context.Context, asked policy.Decision, r approval.Request, answer approval.Answer,
) (next *approval.Request, d policy.Decision, err error) {
	a.decidedBy, a.settled = decidedBy(answer), answer.For
	if !answer.Allow {
		return nil, asked, a.refuse(ctx, policy.Decision{Rule: asked.Rule, Reason: denialText(asked, answer)})
	}
	return a.approved(ctx, asked, r, answer)
}

// maxChanges is how often people are asked about one call whose files change while they are asked.
const maxChanges = 3

// askAnew records that a call was approved and is asked about again, because what it would do has changed.
func (a *Admission) askAnew(ctx context.Context, asked policy.Decision, answer approval.Answer) error {
	asked.Reason = approvalText(answer) + ", but what it would do had changed by then: asked again"
	err := a.recordDecision(ctx, asked)
	a.decidedBy = ""
	return err
}

// approved decides a call again that was approved, with the scope of now, so that what became forbidden meanwhile stays forbidden. If the
// call would now do something else than people were asked about, next is the question about that.
func (a *Admission) approved(
	ctx context.Context, asked policy.Decision, r approval.Request, answer approval.Answer,
) (next *approval.Request, d policy.Decision, err error) {
	d = a.decide(ctx)
	if d.Effect == policy.Deny {
		a.decidedBy = ""
		return nil, d, a.refuse(ctx, d)
	}
	if d.Effect == policy.Ask {
		asked.Sandbox, asked.Outside = d.Sandbox, d.Outside
		if now := a.question(asked); now.Bound() != r.Bound() {
			now.Changed = now.WhatChanged(&r)
			return &now, asked, nil
		}
	}
	if d.Sandbox.Profile == r.Lacked.Profile {
		a.lacked = r.Lacked // an equal call may have been settled meanwhile
	}
	a.session.Calls.NoteQuestion(a.id, true)
	a.unused = func() { a.gate.asks.Unused(r, answer) }
	if now := a.gate.now(); a.since.Equal(a.began) {
		a.since = now // waiting for people does not count as time of the call
	}
	return nil, allowed(d, approvalText(answer)), nil
}

// place is where a call is asked about, decided once.
type place struct {
	approval.Place
	why   string // of Nowhere
	known bool
}

// where says where the call is asked about.
func (a *Admission) where() place {
	if !a.place.known {
		asks := cmp.Or(a.session.Asks, a.Asks, approval.AskWait)
		var reach approval.Reach
		if asks == approval.AskReached {
			reach = a.gate.reach()
		}
		a.place.Place, a.place.why = asks.Where(reach, a.Terminal)
		a.place.known = true
		if a.gate.asks == nil && a.place.Place != approval.AtTerminal {
			a.place.Place = approval.Nowhere
			a.place.why = "it needs an approval, no daemon runs that could ask a person, and nobody sits at this agent's terminal"
		}
	}
	return a.place
}

// consult is approve for a call that does not wait: the agent's own terminal asks a person, or nobody is asked. It settles what was
// answered for the session before, and what the model is sure of; it refuses any other call with the effect Ask.
func (a *Admission) consult(ctx context.Context, asked policy.Decision) (d policy.Decision, err error) {
	r := a.question(asked)
	answer, settled := a.gate.asks.Consult(ctx, r)
	a.caller = a.session.SnapshotFor(a.Child)
	switch {
	case a.session.Over(a.gate.now()):
		return asked, a.unanswered(ctx, asked, errSessionOver)
	case !settled:
		if d = a.decide(ctx); d.Effect == policy.Deny { // while the model thought
			return d, a.refuse(ctx, d)
		}
		asked.Reason = joined(asked.Reason, r.Code.NotRead())
		return asked, a.refuse(ctx, asked)
	}
	next, d, err := a.answered(ctx, asked, r, answer)
	if next != nil { // the agent's own terminal asks about what it is now
		a.decidedBy = ""
		return asked, a.refuse(ctx, asked)
	}
	return d, err
}

// joined returns two sentences as one text.
func joined(first, second string) string { return strings.TrimSpace(first + " " + second) }

// allowed returns the decision of a call that was approved.
func allowed(d policy.Decision, why string) policy.Decision {
	d.Effect, d.Reason = policy.Allow, why
	return d
}

// wait asks, and tells the caller that it waits.
func (a *Admission) wait(ctx context.Context, r approval.Request) (approval.Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	settled := make(chan struct{})
	told := make(chan struct{})
	go func() {
		defer close(told)
		a.keepTelling(settled, cancel)
	}()
	if a.Waits != nil {
		defer a.Waits()()
	}
	var client sync.WaitGroup
	answer, err := a.gate.asks.AskTelling(ctx, r, func(r approval.Request) {
		if a.Told != nil {
			a.Told(r)
		}
		if a.caller.World.AskClient && canBeElicited(a.Peer) {
			client.Go(func() { a.gate.askClient(ctx, a.Peer, r) })
		}
	})
	close(settled)
	cancel(nil)
	<-told
	client.Wait()
	return answer, err
}

// keepTelling sends progress to a caller that wants it, and ends the wait when the session ends.
func (a *Admission) keepTelling(settled <-chan struct{}, cancel context.CancelCauseFunc) {
	var tick <-chan time.Time
	token := progressToken(a.Params)
	if a.Peer != nil && token != nil {
		t := time.NewTicker(Tick)
		defer t.Stop()
		tick = t.C
	}
	for n := 1; ; n++ {
		select {
		case <-settled:
			return
		case <-a.session.Done():
			cancel(errSessionOver)
			return
		case <-tick:
			a.Peer.Notify("notifications/progress", waitingProgress(token, n))
		}
	}
}

// progressToken returns the raw token under which a request wants progress, or nil.
func progressToken(params []byte) jsontext.Value {
	var p struct {
		Meta struct {
			Token jsontext.Value `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(params, &p, jsontext.AllowDuplicateNames(true)) != nil {
		return nil
	}
	return p.Meta.Token
}

// waitingProgress returns one progress notification. Progress must grow, and the server's own reports later begin at 0 or more, so
// these numbers stay tiny.
func waitingProgress(token jsontext.Value, n int) []byte {
	b := append([]byte(`{"progressToken":`), token...)
	b = append(b, `,"progress":`...)
	b = strconv.AppendFloat(b, float64(n)/1e6, 'f', -1, 64)
	return append(b, `,"message":"Waiting for an approval. A person answers it with: myc approvals watch"}`...)
}

// question returns what people are shown about a call.
func (a *Admission) question(d policy.Decision) approval.Request {
	p := &a.caller.Scope.Principal
	r := approval.Request{
		Kind: approval.Call, Call: a.id, Session: a.session.ID, Principal: p.ID, Role: p.Role, Agent: a.Agent,
		Label: cmp.Or(a.Label, a.session.Name), Dir: a.facts.Dir, Surface: a.Surface, Tool: a.Item.String(), Facts: a.facts,
		Rule: d.Rule, Reason: d.Reason, Pane: a.Pane, Sandbox: sandboxOf(a, d), Outside: d.Outside,
	}
	r.Risk, r.Category = risk.Assess(a.Item, a.caller.World.Annotations(a.Item), a.facts)
	if a.Item.Server == "" {
		r.Tool = credential.Excerpt(a.Asked, maxAsked)
	}
	if p.Parent != nil {
		r.Parent, r.Above = p.Parent.ID, a.session.Ancestors()
	}
	if a.thinking != nil {
		r.Thinking = a.thinking.Thinking
	}
	r.Code = code.Of(&a.facts, a.gate.where)
	if a.Item.RunsScript() {
		r.Code.Files = append(r.Code.Files, control.ScriptFiles(a.caller, a.args)...)
	}
	if r.Lacked = a.lacked; r.Lacked.Any() {
		r.Risk = policy.Critical // it opens the sandbox: no model alone allows that
	}
	r.Digest = r.Sum(a.Args)
	if len(a.Args) > 0 {
		r.Args = a.gate.log.Redact(a.Args)
	}
	return r
}

// sandboxOf is the sandbox in which a call would run: that of the decision, or that of a tool of ours which runs
// everything in one, with the profile standard unless it is told another.
func sandboxOf(a *Admission, d policy.Decision) box.Box {
	switch {
	case a.Item.RunsScript():
		return box.Of(control.ScriptSandbox(a.caller, a.args))
	case a.Item.Server == policy.SandboxServer:
		profile, _ := a.args["profile"].(string)
		return box.Of(cmp.Or(profile, "standard"))
	}
	return d.Sandbox
}

// decidedBy returns who settled a call, in the words of the log.
func decidedBy(a approval.Answer) string {
	switch {
	case a.By == approval.ByDeadline:
		return byDeadline
	case a.By == approval.ByCaller || a.By == approval.BySession:
		return byCaller
	case a.Via == "model":
		return byModel
	default:
		return byPerson
	}
}

// approvalText says who approved a call, for the log.
func approvalText(a approval.Answer) string {
	text := fmt.Sprintf("approved by %s via %s, for %s", a.By, cmp.Or(a.Via, "?"), a.For)
	if a.As != "" && a.As != approval.ThisCall {
		text += ", as " + string(a.As)
	}
	if a.Rule != "" {
		text += " " + a.Rule
	}
	if a.Reason != "" {
		text += ": " + a.Reason
	}
	return text
}

// denialText says why a call was not approved, to the agent.
func denialText(asked policy.Decision, a approval.Answer) string {
	switch a.By {
	case approval.ByDeadline:
		return cmp.Or(asked.Reason, "This call needs an approval") + " (nobody answered in time, so it is refused)"
	case approval.ByCaller:
		return "The call was withdrawn before anybody had answered whether it may run"
	case approval.BySession:
		return "The session ended before anybody had answered whether this call may run"
	}
	text := "Not approved by " + a.Name()
	if a.For == approval.Never {
		text += ", for the rest of this session"
	}
	if why := cmp.Or(a.Text, a.Reason); why != "" { // the words for the agent before those for the log
		text += ": " + why
	}
	return text
}

// unanswered refuses and records a call whose question had no answer.
func (a *Admission) unanswered(ctx context.Context, asked policy.Decision, err error) error {
	a.decidedBy = byCaller
	d := policy.Decision{Rule: asked.Rule}
	switch {
	case errors.Is(err, errSessionOver):
		d.Reason = "The session ended before anybody had answered whether this call may run"
		return errors.Join(session.ErrNoSession, a.recordDecision(ctx, d))
	case ctx.Err() != nil:
		d.Reason = "The call was withdrawn before anybody had answered whether it may run"
	case errors.Is(err, approval.ErrClosed):
		a.decidedBy = "" // it is asked again when the caller comes back
		d.Reason = "The daemon ended while this call waited for an approval; call again"
		err := a.refuse(ctx, d)
		if denied := (*DeniedError)(nil); errors.As(err, &denied) {
			denied.Ending = true
		}
		return err
	case errors.Is(err, approval.ErrFull):
		a.decidedBy = ""
		d.Reason = "Too many calls wait for an approval already, so this one is refused; wait until those are answered"
	case errors.Is(err, approval.ErrTooLarge):
		a.decidedBy = ""
		d.Reason = "This call needs an approval, and its arguments are too large to be shown to a person; split it"
	default:
		a.gate.logger.Error("nobody could be asked about a call", "call", a.id, "tool", a.Item.String(), "error", err)
		a.decidedBy = ""
		d.Reason = "This call needs an approval, and nobody could be asked. The operator's log says why"
	}
	return a.refuse(ctx, d)
}
