package gate

import (
	"cmp"
	"context"
	"errors"
	"mycelium/internal/audit"
	"mycelium/internal/credential"
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
func (c *Admission) recordDecision(ctx context.Context, d policy.Decision) error {
	c.measureDecision(d)
	r := c.record(audit.Decided, c.began)
	if c.asked { // the first record has the rest
		r.Time = c.gate.now()
	} else {
		r.Args, r.Thinking = c.Args, c.thinking
	}
	r.Effect, r.Unknown, r.Rule, r.Reason, r.DecidedBy = d.Effect.String(), d.Unknown, d.Rule, d.Reason, cmp.Or(c.decidedBy, "policy")
	r.Note = c.noteOf()
	if !c.asked && slices.ContainsFunc(c.facts.Parts, tells) {
		r.Facts = &c.facts
	}
	return c.gate.append(ctx, r)
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

// Release gives back the slots of a call. A call that is only released, because its end will not be known, stays unfinished in the
// log.
func (c *Admission) Release() {
	c.gate.limits.Leave(c.held)
	c.held = nil
}

// Done records how the call ended. If that fails the result is returned all the same, because the call ran; no other call runs until
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
	c.measureOutcome(r.Outcome, reply, failed, r.Duration)
	if err := g.append(ctx, r); err != nil {
		g.logger.Error("an outcome is not in the audit log: nothing runs until it is", "call", c.id, "error", err)
		g.owed.add(r)
	}
}

// record returns what both records of a call share.
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
