package config

import (
	"cmp"
	"fmt"

	"mycelium/internal/config/agents"
	"mycelium/internal/config/rules"
)

// mergeAgents takes the smaller of two bounds.
func (p *Project) mergeAgents(user, project *layer) {
	u, w := value(user.doc.Agents), value(project.doc.Agents)
	p.File.Agents = agents.Section{
		Budget: agents.Budget{
			Session: smaller(p, user, project, "agents.budget.session", u.Budget.Session, w.Budget.Session),
			Total:   smaller(p, user, project, "agents.budget.total", u.Budget.Total, w.Budget.Total),
			Warn:    smaller(p, user, project, "agents.budget.warn", u.Budget.Warn, w.Budget.Warn),
		},
		Denials: agents.Denials{
			Alert: smaller(p, user, project, "agents.denials.alert", u.Denials.Alert, w.Denials.Alert),
			End:   smaller(p, user, project, "agents.denials.end", u.Denials.End, w.Denials.End),
		},
		Turns: smaller(p, user, project, "agents.turns", u.Turns, w.Turns),
	}
}

// takeBounds joins the bounds of a rules file to those of the layer.
func (l *layer) takeBounds(file string, f *rules.File) {
	a := value(l.doc.Agents)
	for _, key := range a.Tighten(f) {
		if l.boundBy == nil {
			l.boundBy = map[string]string{}
		}
		l.boundBy[key], l.doc.Agents = file, &a
	}
}

// smaller returns the smaller of two bounds, where 0 is no bound. It returns nil if neither is set.
func smaller[N int | float64](p *Project, user, project *layer, key string, u, w *N) *N {
	by := func(l *layer) string { return cmp.Or(l.boundBy[key], l.docFile) }
	switch {
	case u == nil && w == nil:
		return nil
	case w == nil, u != nil && *u != 0 && (*w == 0 || *w >= *u):
		if w != nil && *w != *u {
			p.ignored(project, by(project), project.docData, key, fmt.Sprintf("the user's files say %v", *u))
		}
		p.setSource(key, true, by(user))
		return u
	default:
		p.setSource(key, true, by(project))
		return w
	}
}
