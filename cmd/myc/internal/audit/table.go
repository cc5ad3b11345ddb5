package audit

import (
	"cmp"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
	"mycelium/internal/run/book"
	"mycelium/internal/text"
)

// who are the columns that tell agents apart. The first characters of a session's id are enough for that: they hold the time at which it
// began, in milliseconds. The whole id is in --json and where the output is no terminal.
func who() []base.Column {
	return []base.Column{{Name: "TIME", Drop: 5}, {Name: "SESSION", Drop: 2}, {Name: "AGENT", Least: 10, Drop: 3},
		{Name: "SUBAGENT", Least: 9, Drop: 4}}
}

// wide is the width of a terminal that has room for whole ids.
const wide = 160

// session is the id of a session for a row.
func (a *app) session(id string) string {
	if w := a.Width(); w > 0 && w < wide {
		id = text.TruncateCells(id, 12)
	}
	return base.OrDash(id)
}

// when is the time of a row. On a terminal it is short: the clock, with the day before today.
func (a *app) when(t time.Time) string {
	t = t.Local()
	now := time.Now()
	switch {
	case a.Width() == 0:
		return t.Format(time.DateTime)
	case t.YearDay() == now.YearDay() && t.Year() == now.Year():
		return t.Format(time.TimeOnly)
	case t.Year() == now.Year():
		return t.Format("01-02 15:04")
	default:
		return t.Format(time.DateOnly)
	}
}

// callColumns are the columns of a table of calls.
func callColumns() []base.Column {
	return append(who(), base.Column{Name: "EFFECT", Paint: base.ByEffect}, base.Column{Name: "OUTCOME", Paint: base.ByEffect},
		base.Column{Name: "ROLE", Least: 9, Drop: 8}, base.Column{Name: "TOOL", Least: 14}, base.Column{Name: "BY", Drop: 9},
		base.Column{Name: "SANDBOX", Drop: 10},
		base.Column{Name: "REASON", Least: 14, Drop: 6}, base.Column{Name: "ARGS", Least: 14, Drop: 7})
}

func (a *app) entryRow(e index.Entry) []string {
	agent, child := a.agentOf(e.Session, e.Agent, e.Surface, e.Principal)
	return []string{a.when(e.Time), a.session(e.Session), agent, base.OrDash(child), base.OrDash(e.Effect),
		e.Outcome, base.OrDash(e.Role), e.Tool, base.OrDash(e.DecidedBy), placeOf(e), e.Reason, string(e.Args)}
}

// placeOf says where a call ran: in a profile of the sandbox, outside of the wall, or, with a dash, in no sandbox.
func placeOf(e index.Entry) string {
	if e.Outside != "" {
		return "outside"
	}
	return base.OrDash(e.Sandbox)
}

// lineColumns are the columns of the log's lines.
func lineColumns() []base.Column {
	return append(who(), base.Column{Name: "KIND", Drop: 7}, base.Column{Name: "EFFECT", Paint: base.ByEffect},
		base.Column{Name: "ROLE", Least: 9, Drop: 8}, base.Column{Name: "WHAT", Least: 20}, base.Column{Name: "REASON", Least: 14, Drop: 6})
}

func (a *app) lineRow(r audit.Record) []string {
	agent, child := a.agentOf(r.Session, r.Agent, r.Surface, r.Principal)
	state := r.Effect
	if r.Kind == audit.Outcome {
		state = r.Outcome
	}
	return []string{a.when(r.Time), a.session(r.Session), agent, base.OrDash(child), string(r.Kind),
		base.OrDash(state), base.OrDash(r.Role), cmp.Or(r.Tool, r.Note, r.Surface), r.Reason}
}

// agentOf returns the program that made a call, else the surface on which it came, with the name of its session if people know it by one,
// and the subagent, whose principal stands below that of its agent.
func (a *app) agentOf(session, agent, surface, principal string) (name, child string) {
	_, child, _ = strings.Cut(principal, "/")
	return base.OrDash(strings.TrimSpace(cmp.Or(agent, surface) + " " + a.nameOf(session))), child
}

// nameOf returns the name of the session of an agent, which the chat and myc status show too; "" if it has none or is forgotten.
func (a *app) nameOf(session string) string {
	if a.names == nil {
		a.names = map[string]string{}
		if p, err := a.Load(); err == nil {
			all, _ := book.Read(p.State.Agents()) // without names the log is as true
			for _, s := range all {
				a.names[s.Session] = s.Label
			}
			delete(a.names, "") // a session of which no event has ended yet
		}
	}
	return a.names[session]
}
