// Package planning has what is settled about a feature before its worker begins: who plans it and whose plan is taken, who may work on
// it, what it is given to read, and when its turn comes.
package planning

import (
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
	"slices"
)

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
