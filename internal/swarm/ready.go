package swarm

import (
	"slices"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/schedule"
)

// PlanOf is the plan of a session.
func PlanOf(s *book.Session) plan.Plan { return s.Plan() }

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
	p := PlanOf(s)
	for i, f := range s.Features {
		if chosen := f.Chosen(); chosen != nil {
			p.Features[i].Files = append(slices.Clone(f.Files), chosen.Files()...)
		}
	}
	return p
}

// ready are the features that are given to workers now, the first first, as many as workers are free.
func (d *Driver) ready(s *book.Session) []string {
	now := time.Now()
	if s.Limited(s.Settings.Runner, now) != nil {
		return nil
	}
	state := schedule.State{Workers: s.Settings.Workers, Elapsed: map[string]time.Duration{}, Attempts: map[string]int{}}
	var wanted, others []string
	for _, f := range s.Features {
		a := f.Live()
		switch {
		case f.State == book.Designing: // two planners take the place of one worker: they only read
			state.Running = append(state.Running, f.ID)
		case a != nil:
			state.Running = append(state.Running, f.ID)
			state.Elapsed[f.ID] = now.Sub(a.Began)
		case f.State == book.Completed:
			state.Done = append(state.Done, f.ID)
		case f.State != book.Pending || now.Before(f.Retry) || d.busy(f.ID) || grouped(s, f):
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

// grouped reports whether another feature of the same affinity group is to land first: its work is done, and waits to be merged.
func grouped(s *book.Session, f *book.Feature) bool {
	return f.Route.Affinity != "" && slices.ContainsFunc(s.Features, func(o *book.Feature) bool {
		return o != f && o.Route.Affinity == f.Route.Affinity && o.State == book.Queued
	})
}
