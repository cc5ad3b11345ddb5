// Package planning has what is settled about a feature before its worker begins: who plans it and whose plan is taken, who may work on
// it, what it is given to read, and when its turn comes.
package planning

import (
	"fmt"
	"slices"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// Told is what a planner has come to, for people: its plan with its points, or why it has none.
func Told(p *book.Planner) string {
	if p.Plan == nil {
		return fmt.Sprintf("Plan %s: %s\n%s\n", p.Name, p.State.Words(), text.Flatten(p.Reason))
	}
	r := p.Score
	return fmt.Sprintf("Plan %s: %s\n%d of 100 (complete %d, feasible %d, risks %d, clear %d, efficient %d; testing coverage %d %%)\n\n%s",
		p.Name, p.State.Words(), r.Total, r.Completeness, r.Feasibility, r.Risks, r.Clarity, r.Efficiency, r.Testing,
		text.Visible(p.Plan.Markdown()))
}

// ScheduleOf is the schedule of a session. Its estimates are corrected by how long the features took that are done.
func ScheduleOf(s *book.Session) *schedule.Schedule {
	o := schedule.Options{Strategy: schedule.Strategy(s.Settings.Strategy)}
	for _, f := range s.Features {
		if f.State == book.Completed && f.Estimate > 0 {
			a := f.Last()
			o.History = append(o.History, schedule.Took{Role: f.Role, Estimate: f.Estimate,
				Actual: plan.Minutes(a.Ended.Sub(a.Began).Minutes())})
		}
	}
	return schedule.New(Foreseen(s), o)
}

// Foreseen is the plan of a session with what planners found out: a feature touches the files that its chosen plan names too.
func Foreseen(s *book.Session) plan.Plan {
	p := s.Plan()
	for i, f := range s.Features {
		if chosen := f.Chosen(); chosen != nil {
			p.Features[i].Files = append(slices.Clone(f.Files), chosen.Files()...)
		}
	}
	return p
}
