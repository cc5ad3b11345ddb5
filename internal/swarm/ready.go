package swarm

import (
	"slices"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/schedule"
)

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
	order, held := planning.ScheduleOf(s), state.Held
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
