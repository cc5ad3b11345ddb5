package gate

import (
	"cmp"
	"context"
	"errors"
	"mycelium/internal/audit"
	"mycelium/internal/credential"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
	"slices"
	"time"
)

// What others wrote goes into a record up to these lengths, in bytes.
const (
	maxError = 500
	maxAsked = 500
)

// recordDecision writes what was decided, with the arguments.
func (a *Admission) recordDecision(ctx context.Context, d policy.Decision) error {
	a.measureDecision(d)
	r := a.record(audit.Decided, a.began)
	if a.asked { // the first record has the rest
		r.Time = a.gate.now()
	} else {
		r.Args, r.Thinking = a.Args, a.thinking
	}
	r.Effect, r.Unknown, r.Rule, r.Reason, r.DecidedBy = d.Effect.String(), d.Unknown, d.Rule, d.Reason, cmp.Or(a.decidedBy, "policy")
	r.Note, r.Sandbox, r.Granted = a.noteOf(), d.Sandbox.Profile, d.Sandbox.Granted()
	if d.Effect != policy.Deny {
		r.Outside = d.Outside
	}
	if !a.asked && slices.ContainsFunc(a.facts.Parts, tells) {
		r.Facts = &a.facts
	}
	return a.gate.append(ctx, r)
}

// sessionRule is the rule, in the log, of what a session may not do: anything when it is over, and with itself what is not the agent's to
// change, such as taking another role.
const sessionRule = "session"

// recordRefusal records that a control tool refused what the agent asked of it, after the policy had allowed the call of the tool.
func (a *Admission) recordRefusal(ctx context.Context, reason string) {
	a.asked, a.refused, a.decidedBy = true, true, ""
	if err := a.recordDecision(ctx, policy.Decision{Rule: sessionRule, Reason: reason}); err != nil {
		a.gate.logger.Error("a denial is not in the audit log", "call", a.id, "error", err)
	}
}

// tells reports whether a part of the facts is not empty.
func tells(p policy.Part) bool {
	return p.Program != "" || len(p.Argv)+len(p.Paths)+len(p.Hosts)+len(p.Effects)+len(p.Unclear) > 0
}

// Ending is how a call ended that ran elsewhere, as far as that is known.
type Ending struct {
	Failed   string          // what went wrong; empty: nothing
	Took     time.Duration   // 0: since it was admitted
	Thinking *audit.Thinking // reasoning that came to light only now
}

// Ended is Done for a call that ran elsewhere.
func (a *Admission) Ended(ctx context.Context, e Ending) {
	now := a.gate.now()
	if e.Took > 0 {
		a.since = now.Add(-e.Took)
	}
	if a.thinking == nil && e.Thinking != nil {
		late := *e.Thinking
		late.Claimed = true
		a.late = &late
	}
	var failed error
	if e.Failed != "" {
		failed = errors.New(e.Failed)
	}
	a.Done(ctx, Reply{}, failed)
}

// Release gives back the slots of a call. A call that is only released, because its end will not be known, stays unfinished in the
// log.
func (a *Admission) Release() {
	a.gate.limits.Leave(a.held)
	a.held = nil
}

// Done records how the call ended. If that fails the result is returned all the same, because the call ran; no other call runs until
// the log has taken the record.
func (a *Admission) Done(ctx context.Context, reply Reply, failed error) {
	g := a.gate
	a.Release()
	a.session.Calls.Over(a.id)
	now := g.now()
	r := a.record(audit.Outcome, now)
	r.Duration = now.Sub(a.since)
	r.Outcome, r.Guard, r.Thinking = "ok", a.guarded, a.late
	var denied *DeniedError
	switch {
	case a.refused:
		r.Outcome = "denied"
	case errors.As(failed, &denied):
		r.Outcome, r.Unknown, r.Error = "denied", denied.Decision.Unknown, "its definition is in quarantine"
		if view.IsOwn(a.Item.Server) {
			r.Error = "no skill that is open to the session has it"
		}
	case failed != nil:
		r.Outcome, r.Error = "error", credential.Excerpt(text.Describe(failed), maxError)
	case reply.Error != nil:
		r.Outcome, r.Error = "error", credential.Excerpt(rawjson.TextAt(reply.Error, "message"), maxError)
	case a.Item.Kind == policy.Tool && reportsError(reply.Result):
		r.Outcome, r.Error = "error", "the tool reported an error"
	}
	a.measureOutcome(r.Outcome, reply, failed, r.Duration)
	if err := g.append(ctx, r); err != nil {
		g.logger.Error("an outcome is not in the audit log: nothing runs until it is", "call", a.id, "error", err)
		g.owed.add(r)
	}
}

// record returns what both records of a call share.
func (a *Admission) record(k audit.Kind, at time.Time) audit.Record {
	p := &a.caller.Scope.Principal
	r := audit.Record{
		ID: a.id, Kind: k, Time: at, Session: a.session.ID, Principal: p.ID, Role: p.Role, Skills: a.caller.Scope.Skills,
		Surface: a.Surface, Agent: a.Agent, Server: a.Item.Server, Tool: a.Item.String(),
	}
	if p.Parent != nil {
		r.Parent = p.Parent.ID
	}
	if a.Item.Kind != policy.Tool {
		r.ItemKind = kindName(a.Item.Kind)
	}
	if a.Item.Server == "" {
		r.Tool = a.Asked
	}
	r.Tool, r.ToolUse = credential.Excerpt(r.Tool, maxAsked), credential.Excerpt(a.ToolUse, maxAsked)
	return r
}

// kindName returns the word for a kind.
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
