package gate

import (
	"context"
	"time"

	"mycelium/internal/audit"
	"mycelium/internal/credential"
	"mycelium/internal/gate/session"
)

// Late is the end of a call that another process admitted: before a daemon began, or after one died.
type Late struct {
	ToolUse string // the agent's own id of the call
	Tool    string // as the decision has it
	Surface string
	Asked   bool // a person may have said yes at the agent's own terminal, so a call that was marked ask may have run
	Ending
}

// Finish records how such a call ended: once, and only if the log says that it could run in this session. It reports whether it did.
func (g *Gate) Finish(_ context.Context, s *session.Session, e Late) (bool, error) {
	return g.log.Finish(s.ID, e.ToolUse, func(d audit.Record) (audit.Record, bool) {
		if d.Surface != e.Surface || d.Tool != e.Tool || d.Effect != "allow" && (d.Effect != "ask" || !e.Asked) {
			return d, false
		}
		r := audit.Record{
			ID: d.ID, Kind: audit.Outcome, Time: g.now(), Session: d.Session, Principal: d.Principal, Parent: d.Parent, Role: d.Role,
			Skills: d.Skills, Surface: d.Surface, Agent: d.Agent, ItemKind: d.ItemKind, Server: d.Server, Tool: d.Tool, ToolUse: d.ToolUse,
			Outcome: "ok", Duration: e.Took,
		}
		if r.Duration <= 0 {
			r.Duration = max(r.Time.Sub(d.Time), time.Microsecond)
		}
		if e.Failed != "" {
			r.Outcome, r.Error = "error", credential.Excerpt(e.Failed, maxError)
		}
		if d.Thinking == nil && e.Thinking != nil {
			late := *e.Thinking
			late.Claimed = true
			r.Thinking = &late
		}
		return r, true
	})
}
