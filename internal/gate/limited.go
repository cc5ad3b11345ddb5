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
func (c *Admission) counted() limit.Call {
	if view.IsOwn(c.Item.Server) {
		return limit.Call{}
	}
	return limit.Call{Bounds: c.caller.Bounds, Session: &c.session.Counters, Item: c.Item, At: c.began}
}

// tooMany records and refuses a call that a limit refuses.
func (c *Admission) tooMany(ctx context.Context, x *limit.Exceeded) error {
	c.decidedBy = "limit"
	d := x.Decision()
	if err := c.recordDecision(ctx, d); err != nil {
		c.gate.logger.Error("a denial is not in the audit log", "call", c.id, "tool", c.Item.String(), "error", err)
	}
	denied := c.denied(d)
	denied.RetryAfter = x.Retry
	return denied
}

// warnOf tells the operator about limits that are nearly used up.
func (c *Admission) warnOf(ctx context.Context, list []limit.Near) {
	for _, w := range list {
		c.gate.logger.Warn("a limit is nearly used up", "limit", w.Limit, "used", w.Used, "of", w.Max, "session", c.session.ID)
		p := &c.caller.Scope.Principal
		err := c.gate.append(ctx, audit.Record{
			ID: audit.NewID(), Kind: audit.Session, Time: c.began, Session: c.session.ID, Principal: p.ID, Role: p.Role, Surface: c.Surface,
			Rule: limit.Rule + w.Limit, DecidedBy: "limit", Note: fmt.Sprintf("limit %s: %d of %d used", w.Limit, w.Used, w.Max),
		})
		if err != nil {
			c.gate.logger.Error("a warning of a limit is not in the audit log", "limit", w.Limit, "error", err)
		}
	}
}
