package project

import (
	"cmp"
	"fmt"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
	"mycelium/internal/backend"
	"mycelium/internal/node/api"
)

// agentAtWork is an agent as `myc status --json` prints it.
type agentAtWork struct {
	Name    string                `json:"name"` // the one that /send in a chat takes
	Agent   string                `json:"agent"`
	ID      string                `json:"id"`      // the agent's own id of its session
	Session string                `json:"session"` // its session here, as in the log; "": no hook has told of it
	State   approval.SessionState `json:"state"`
	Task    string                `json:"task"`
	Turns   int                   `json:"turns"`
	Denials int                   `json:"denials"`
	Cost    float64               `json:"cost"`
	Result  string                `json:"result"`
}

func agentsAtWork(r api.StatusReply) (out []agentAtWork) {
	for _, s := range r.Agents {
		out = append(out, agentAtWork{s.Label, s.Agent, s.ID, s.Session, s.State, s.Task, s.Turns, s.Denials, s.Cost, s.Result})
	}
	return out
}

// printAgents prints the agents at work, if there are any.
func (a *app) printAgents(r api.StatusReply) {
	var rows [][]string
	for _, s := range r.Agents {
		rows = append(rows, []string{s.Label, base.OrDash(s.Agent), string(s.State), fmt.Sprint(s.Turns), fmt.Sprint(s.Denials),
			fmt.Sprintf("$%.2f", s.Cost), base.OrDash(cmp.Or(s.Task, s.Result))})
	}
	if rows == nil {
		return
	}
	fmt.Fprintln(a.Out)
	a.Table(base.Column{Name: "NAME", Least: 8}, base.Column{Name: "AGENT", Drop: 1}, base.Column{Name: "STATE", Least: 6},
		base.Column{Name: "TURNS", Drop: 3}, base.Column{Name: "DENIED", Drop: 4}, base.Column{Name: "COST", Drop: 2},
		base.Column{Name: "TASK", Least: 20}).Print(rows...)
}

// backendState returns the state of a server. If calls are refused now, it says until when.
func backendState(b backend.Status) string {
	state := b.State
	if b.Breaker != "" && b.Breaker != "closed" {
		state += ", breaker " + b.Breaker
	}
	if !b.Retry.IsZero() {
		state += " until " + b.Retry.Local().Format(time.TimeOnly)
	}
	return state
}

// backendCalls counts the running calls of a server and those that wait.
func backendCalls(b backend.Status) string {
	switch {
	case b.Waiting > 0:
		return fmt.Sprintf("%d, %d wait", b.Active, b.Waiting)
	case b.Active > 0:
		return fmt.Sprint(b.Active)
	default:
		return "–"
	}
}

func restarts(b backend.Status) string {
	if b.Restarts == 0 {
		return "–"
	}
	return fmt.Sprint(b.Restarts)
}
