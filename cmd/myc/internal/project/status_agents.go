package project

import (
	"cmp"
	"fmt"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/approval"
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
