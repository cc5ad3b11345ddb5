package gate

import (
	"context"
	"fmt"

	"mycelium/internal/audit"
	"mycelium/internal/gate/limit"
	"mycelium/internal/gate/view"
)

// counted is the call as the limits count it. Calls of our own servers are not counted, so that an agent at its limit can find out why.
func (c *Admission) counted() limit.Call {
	if view.IsOwn(c.Item.Server) {
		return limit.Call{}
	}
	return limit.Call{Bounds: c.caller.Bounds, Session: &c.session.Counters, Item: c.Item, At: c.began}
}

// tooMany records a call that a limit refuses.
func (g *Gate) tooMany(ctx context.Context, c *Admission, x *limit.Exceeded) error {
	c.decidedBy = "limit"
	d := x.Decision()
	if err := g.recordDecision(ctx, c, d); err != nil {
		g.logger.Error("a denial is not in the audit log", "call", c.id, "tool", c.Item.String(), "error", err)
	}
	denied := c.denied(d)
	denied.RetryAfter = x.Retry
	return denied
}

// warnOf tells the operator of limits that are nearly used up: once, until less than half of it is used.
func (g *Gate) warnOf(ctx context.Context, c *Admission, list []limit.Near) {
	for _, w := range list {
		g.logger.Warn("a limit is nearly used up", "limit", w.Limit, "used", w.Used, "of", w.Max, "session", c.session.ID)
		p := &c.caller.Scope.Principal
		err := g.append(ctx, audit.Record{
			ID: audit.NewID(), Kind: audit.Session, Time: c.began, Session: c.session.ID, Principal: p.ID, Role: p.Role, Surface: c.Surface,
			Rule: limit.Rule + w.Limit, DecidedBy: "limit", Note: fmt.Sprintf("limit %s: %d of %d used", w.Limit, w.Used, w.Max),
		})
		if err != nil {
			g.logger.Error("a warning of a limit is not in the audit log", "limit", w.Limit, "error", err)
		}
	}
}
