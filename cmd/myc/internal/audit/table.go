package audit

import (
	"cmp"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
)

// who are the columns that tell agents apart. The first characters of a session's id are enough for that; the whole id is in --json and
// where the output is no terminal.
func who() []base.Column {
	return []base.Column{{Name: "TIME", Drop: 5}, {Name: "SESSION", Least: 9, Drop: 4}, {Name: "AGENT", Least: 10, Drop: 3},
		{Name: "SUBAGENT", Least: 9, Drop: 6}}
}

// callColumns are the columns of a table of calls.
func callColumns() []base.Column {
	return append(who(), base.Column{Name: "EFFECT", Paint: base.ByEffect, Drop: 7}, base.Column{Name: "OUTCOME", Paint: base.ByEffect},
		base.Column{Name: "ROLE", Least: 9, Drop: 8}, base.Column{Name: "TOOL", Least: 14}, base.Column{Name: "BY", Drop: 9},
		base.Column{Name: "REASON", Least: 14, Drop: 2}, base.Column{Name: "ARGS", Least: 14, Drop: 1})
}

func entryRow(e index.Entry) []string {
	agent, child := agentOf(e.Agent, e.Surface, e.Principal)
	return []string{e.Time.Local().Format(time.DateTime), base.OrDash(e.Session), agent, base.OrDash(child), base.OrDash(e.Effect),
		e.Outcome, base.OrDash(e.Role), e.Tool, base.OrDash(e.DecidedBy), e.Reason, string(e.Args)}
}

// lineColumns are the columns of the log's lines.
func lineColumns() []base.Column {
	return append(who(), base.Column{Name: "KIND", Drop: 7}, base.Column{Name: "EFFECT", Paint: base.ByEffect},
		base.Column{Name: "ROLE", Least: 9, Drop: 8}, base.Column{Name: "WHAT", Least: 20}, base.Column{Name: "REASON", Least: 14, Drop: 1})
}

func lineRow(r audit.Record) []string {
	agent, child := agentOf(r.Agent, r.Surface, r.Principal)
	state := r.Effect
	if r.Kind == audit.Outcome {
		state = r.Outcome
	}
	return []string{r.Time.Local().Format(time.DateTime), base.OrDash(r.Session), agent, base.OrDash(child), string(r.Kind),
		base.OrDash(state), base.OrDash(r.Role), cmp.Or(r.Tool, r.Note, r.Surface), r.Reason}
}

// agentOf returns the program that made a call, else the surface on which it came, and the subagent, whose principal stands below that of
// its agent.
func agentOf(agent, surface, principal string) (name, child string) {
	_, child, _ = strings.Cut(principal, "/")
	return base.OrDash(cmp.Or(agent, surface)), child
}
