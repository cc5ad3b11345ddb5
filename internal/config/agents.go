package config

import (
	"fmt"
	"math"

	"mycelium/internal/config/source"
)

// Agents is the agents: section: how far coding agents may go.
type Agents struct {
	Budget  AgentBudget  `yaml:"budget" json:"budget,omitzero"`
	Denials AgentDenials `yaml:"denials" json:"denials,omitzero"`
}

// AgentBudget bounds the cost of agents' models in US dollars, as far as their transcripts report it.
type AgentBudget struct {
	Session *float64 `yaml:"session" json:"session,omitzero"` // of one session over its life; absent or 0: no bound
	Total   *float64 `yaml:"total" json:"total,omitzero"`     // of all sessions of a day; absent or 0: no bound
	Warn    *float64 `yaml:"warn" json:"warn,omitzero"`       // share of either at which people are told; absent: 0.8
}

// AgentDenials says what happens after many refusals in a row.
type AgentDenials struct {
	Alert *int `yaml:"alert" json:"alert,omitzero"` // after so many, the agent and people are told; absent: 5; 0: never
	End   *int `yaml:"end" json:"end,omitzero"`     // after so many the session ends; absent: 10; 0: never
}

// Larger values are mistakes.
const (
	mostDollars = 1e6
	mostDenials = 1000
)

func (a *Agents) check(bad source.Report) {
	for key, v := range map[string]*float64{"session": a.Budget.Session, "total": a.Budget.Total} {
		if v != nil && !(*v >= 0 && *v <= mostDollars) {
			bad("agents.budget."+key, fmt.Sprintf("agents.budget.%s is %v", key, *v), "write US dollars, such as 5.00; 0 is no bound")
		}
	}
	if v := a.Budget.Warn; v != nil && !(*v > 0 && *v <= 1) {
		bad("agents.budget.warn", fmt.Sprintf("agents.budget.warn is %v", *v), "write a share above 0 and up to 1, such as 0.8")
	}
	for key, v := range map[string]*int{"alert": a.Denials.Alert, "end": a.Denials.End} {
		if v != nil && (*v < 0 || *v > mostDenials) {
			bad("agents.denials."+key, fmt.Sprintf("agents.denials.%s is %d", key, *v), "write a number of refusals from 1 to 1000; 0 is never")
		}
	}
}

// mergeAgents takes the smaller of two bounds.
func (p *Project) mergeAgents(user, project *layer) {
	u, w := value(user.doc.Agents), value(project.doc.Agents)
	p.File.Agents = Agents{
		Budget: AgentBudget{
			Session: smaller(p, user, project, "agents.budget.session", u.Budget.Session, w.Budget.Session),
			Total:   smaller(p, user, project, "agents.budget.total", u.Budget.Total, w.Budget.Total),
			Warn:    smaller(p, user, project, "agents.budget.warn", u.Budget.Warn, w.Budget.Warn),
		},
		Denials: AgentDenials{
			Alert: smaller(p, user, project, "agents.denials.alert", u.Denials.Alert, w.Denials.Alert),
			End:   smaller(p, user, project, "agents.denials.end", u.Denials.End, w.Denials.End),
		},
	}
}

// smaller returns the smaller of two bounds, where 0 is no bound. It returns nil if neither is set.
func smaller[N int | float64](p *Project, user, project *layer, key string, u, w *N) *N {
	switch {
	case u == nil && w == nil:
		return nil
	case w == nil, u != nil && *u != 0 && (*w == 0 || *w >= *u):
		if w != nil && *w != *u {
			p.ignored(project, project.docFile, project.docData, key, fmt.Sprintf("the user's files say %v", *u))
		}
		p.setSource(key, true, user.docFile)
		return u
	default:
		p.setSource(key, true, project.docFile)
		return w
	}
}

// Limits returns the budgets with their defaults: US dollars, with 0 for no bound, and the share at which people are told.
func (b AgentBudget) Limits() (session, total, warn float64) {
	return value(b.Session), value(b.Total), math.Max(value(b.Warn), 0)
}

// Limits returns the numbers of refusals with their defaults.
func (d AgentDenials) Limits() (alert, end int) {
	alert, end = 5, 10
	if d.Alert != nil {
		alert = *d.Alert
	}
	if d.End != nil {
		end = *d.End
	}
	return alert, end
}
