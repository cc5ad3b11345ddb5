package swarm

import (
	"slices"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
)

// PlanOf is the plan of a session.
func PlanOf(s *book.Session) plan.Plan {
	var p plan.Plan
	for _, f := range s.Features {
		p.Features = append(p.Features, f.Feature)
	}
	return p
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
	return schedule.New(PlanOf(s), o)
}

// ready are the features that are given to workers now, the first first, as many as workers are free.
func (d *Driver) ready(s *book.Session) []string {
	now := time.Now()
	state := schedule.State{Workers: s.Settings.Workers, Elapsed: map[string]time.Duration{}, Attempts: map[string]int{}}
	var wanted, others []string
	for _, f := range s.Features {
		a := f.Live()
		switch {
		case a != nil:
			state.Running = append(state.Running, f.ID)
			state.Elapsed[f.ID] = now.Sub(a.Began)
		case f.State == book.Completed:
			state.Done = append(state.Done, f.ID)
		case f.State != book.Pending || now.Before(f.Retry) || d.busy(f.ID):
			state.Held = append(state.Held, f.ID)
		case f.Wanted.IsZero():
			others = append(others, f.ID)
		default:
			wanted = append(wanted, f.ID)
		}
		state.Attempts[f.ID] = f.Tried
	}
	order, held := ScheduleOf(s), state.Held
	var first []string
	if len(wanted) > 0 {
		state.Held = slices.Concat(held, others)
		first = order.Next(state)
	}
	if s.Settings.Manual {
		return first
	}
	state.Held, state.Running = held, slices.Concat(state.Running, first)
	return append(first, order.Next(state)...)
}

// ownChecks are the commands that a feature itself must pass.
func ownChecks(f *book.Feature) [][]string {
	v := f.Validation
	if v == nil || !v.Enabled || len(v.VerifyCommand) == 0 {
		return nil
	}
	return [][]string{v.VerifyCommand}
}

// expected are the packages that a feature is to touch.
func expected(f *book.Feature) []string {
	if v := f.Validation; v != nil && v.Enabled {
		return v.ExpectedPackages
	}
	return nil
}
