package gate

import (
	"context"
	"fmt"

	"mycelium/internal/audit"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/view"
)

// counted returns the call as the limits count it. Calls of our own servers are not counted, so that an agent at its limit can find
// out why.
func (a *Admission) counted() limit.Call {
	if view.IsOwn(a.Item.Server) && !a.Item.RunsScript() && !a.Item.StartsAgent() {
		return limit.Call{}
	}
	return limit.Call{Bounds: a.caller.Bounds, Session: a.session.Counted(), Item: a.Item, At: a.began}
}

// tooMany records and refuses a call that a limit refuses.
func (a *Admission) tooMany(ctx context.Context, x *limit.Exceeded) error {
	a.decidedBy = "limit"
	if x.Err != nil {
		a.gate.logger.Error("a call was refused because it cannot be counted", "call", a.id, "tool", a.Item.String(), "error", x.Err)
	}
	d := x.Decision()
	if err := a.recordDecision(ctx, d); err != nil {
		a.gate.logger.Error("a denial is not in the audit log", "call", a.id, "tool", a.Item.String(), "error", err)
	}
	denied := a.denied(d)
	denied.RetryAfter = x.Retry
	return denied
}

// warnOf tells the operator about limits that are nearly used up.
func (a *Admission) warnOf(ctx context.Context, list []limit.Near) {
	for _, w := range list {
		a.gate.logger.Warn("a limit is nearly used up", "limit", w.Limit, "used", w.Used, "of", w.Max, "session", a.session.ID)
		p := &a.caller.Scope.Principal
		err := a.gate.append(ctx, audit.Record{
			ID: audit.NewID(), Kind: audit.Session, Time: a.began, Session: a.session.ID, Principal: p.ID, Role: p.Role, Surface: a.Surface,
			Rule: limit.Rule + w.Limit, DecidedBy: "limit", Note: fmt.Sprintf("limit %s: %d of %d used", w.Limit, w.Used, w.Max),
		})
		if err != nil {
			a.gate.logger.Error("a warning of a limit is not in the audit log", "limit", w.Limit, "error", err)
		}
	}
}
