package gate

import (
	"cmp"
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
	Asked   bool   // a person may have said yes at the agent's own terminal, so a call that was marked ask may have run
	Mode    string // with Asked: the agent's own permission mode, if the person chose another one with the answer
	Refused bool   // the call did not run, so the person that the agent's own terminal asked did not say yes
	Why     string // who answered the agent's own terminal from elsewhere, and how; "": the person who sits there
	Ending
}

// maxMode bounds the name of a permission mode in the log, in characters.
const maxMode = 40

// Finish records how such a call ended: once, and only if the log says that it could run in this session. A call that the agent's own
// terminal asked about was answered there: that is recorded too. Finish reports whether it recorded anything.
func (g *Gate) Finish(_ context.Context, s *session.Session, e Late) (bool, error) {
	return g.log.Finish(s.ID, e.ToolUse, func(d audit.Record) []audit.Record {
		asked := d.Effect == "ask"
		switch {
		case d.Surface != e.Surface || d.Tool != e.Tool:
			return nil
		case asked && e.Refused:
			return []audit.Record{g.answeredThere(d, "deny",
				cmp.Or(e.Why, "not approved by the person at the agent's own terminal: the call did not run"))}
		case e.Refused || asked && !e.Asked || !asked && d.Effect != "allow":
			return nil
		case asked:
			why := cmp.Or(e.Why, "approved by the person at the agent's own terminal")
			if e.Mode != "" {
				why += ", who also chose the agent's own mode " + credential.Excerpt(e.Mode, maxMode) + ", which answers no other call"
			}
			return []audit.Record{g.answeredThere(d, "allow", why), g.ended(d, e)}
		}
		return []audit.Record{g.ended(d, e)}
	})
}

// answeredThere returns the record of an answer that was given at the agent's own terminal.
func (g *Gate) answeredThere(d audit.Record, effect, why string) audit.Record {
	r := follows(d, audit.Decided, g.now())
	r.Effect, r.Rule, r.Reason, r.DecidedBy = effect, d.Rule, why, byPerson
	return r
}

// ended returns the record of the outcome.
func (g *Gate) ended(d audit.Record, e Late) audit.Record {
	r := follows(d, audit.Outcome, g.now())
	r.Outcome, r.Duration = "ok", e.Took
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
	return r
}

// follows returns what a further record of a call shares with its decision.
func follows(d audit.Record, k audit.Kind, at time.Time) audit.Record {
	return audit.Record{
		ID: d.ID, Kind: k, Time: at, Session: d.Session, Principal: d.Principal, Parent: d.Parent, Role: d.Role, Skills: d.Skills,
		Surface: d.Surface, Agent: d.Agent, ItemKind: d.ItemKind, Server: d.Server, Tool: d.Tool, ToolUse: d.ToolUse,
	}
}
