package schedule

import (
	"cmp"
	"mycelium/internal/swarm/plan"
	"slices"
	"time"
)

// Slot is the time that a feature takes in a timeline. Worker counts from 1, Start and End from the beginning.
type Slot struct {
	ID     string
	Worker int
	Start  time.Duration
	End    time.Duration
}

// Timeline is a simulated run of a plan.
type Timeline struct {
	Workers  int
	Slots    []Slot        // in the order in which they start
	Makespan time.Duration // until everything is done
	Total    time.Duration // one feature after the other
	Critical []string      // the features of the longest path, in their order
	Bound    time.Duration // no schedule is shorter: the longest path, or all work divided by the workers
	titles   map[string]string
}

// JSON is a timeline for programs, with times in minutes.
func (t Timeline) JSON() any {
	type slot struct {
		ID     string       `json:"id"`
		Worker int          `json:"worker"`
		Start  plan.Minutes `json:"startMinutes"`
		End    plan.Minutes `json:"endMinutes"`
	}
	minutes := func(d time.Duration) plan.Minutes { return plan.Minutes(d.Minutes()) }
	slots := make([]slot, len(t.Slots))
	for i, s := range t.Slots {
		slots[i] = slot{s.ID, s.Worker, minutes(s.Start), minutes(s.End)}
	}
	return struct {
		Workers  int          `json:"workers"`
		Slots    []slot       `json:"slots"`
		Makespan plan.Minutes `json:"makespanMinutes"`
		Total    plan.Minutes `json:"totalMinutes"`
		Bound    plan.Minutes `json:"boundMinutes"`
		Critical []string     `json:"critical"`
	}{t.Workers, slots, minutes(t.Makespan), minutes(t.Total), minutes(t.Bound), t.Critical}
}

// Simulate runs the plan with a number of workers, at least one, each feature taking its estimate. Starting, verifying and merging take
// no time in it.
func (s *Schedule) Simulate(workers int) Timeline {
	now := State{Workers: max(workers, 1), Elapsed: map[string]time.Duration{}}
	t := Timeline{Workers: now.Workers, titles: map[string]string{}}
	for _, k := range s.tasks {
		t.titles[k.feature.ID] = k.feature.Description
	}
	busy := map[int]Slot{} // by worker
	for {
		for _, id := range s.Next(now) {
			w := 1
			for ; busy[w].ID != ""; w++ {
			}
			slot := Slot{ID: id, Worker: w, Start: t.Makespan, End: t.Makespan + s.Estimate(id)}
			busy[w] = slot
			t.Slots, t.Total = append(t.Slots, slot), t.Total+slot.End-slot.Start
			now.Running = append(now.Running, id)
		}
		if len(now.Running) == 0 {
			break
		}
		t.Makespan = next(busy)
		for w, slot := range busy {
			if slot.End == t.Makespan {
				delete(busy, w)
				now.Done = append(now.Done, slot.ID)
				now.Running = slices.DeleteFunc(now.Running, func(id string) bool { return id == slot.ID })
			}
			now.Elapsed[slot.ID] = t.Makespan - slot.Start
		}
	}
	t.Critical = s.critical()
	for _, id := range t.Critical {
		t.Bound += s.Estimate(id)
	}
	t.Bound = max(t.Bound, t.Total/time.Duration(t.Workers))
	return t
}

// next is when the first of the running features ends.
func next(busy map[int]Slot) time.Duration {
	first := time.Duration(-1)
	for _, slot := range busy {
		if first < 0 || slot.End < first {
			first = slot.End
		}
	}
	return first
}

// critical is the longest path, the first in the plan if there are several.
func (s *Schedule) critical() []string {
	all := make([]int, len(s.tasks))
	for i := range all {
		all[i] = i
	}
	var out []string
	for from := all; len(from) > 0; {
		i := slices.MinFunc(from, func(a, b int) int {
			return cmp.Or(cmp.Compare(s.tasks[b].path, s.tasks[a].path), cmp.Compare(a, b))
		})
		if s.tasks[i].path == 0 { // it never starts
			break
		}
		out = append(out, s.tasks[i].feature.ID)
		from = s.tasks[i].blocks
	}
	return out
}
