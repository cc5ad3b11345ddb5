// Package schedule says which features of a swarm start next, and when all of them would be done. It is list scheduling: of the
// features that are ready, the one with the longest remaining path starts first. It is pure and deterministic, and it simulates what
// it decides, so a person sees the schedule before anything starts.
package schedule

import (
	"cmp"
	"math"
	"slices"
	"time"

	"mycelium/internal/swarm/plan"
)

// Strategy says which of the ready features is first (row C58 of the requirements).
type Strategy string

// The strategies. The priority of row C58 breaks the ties of Adaptive, and decides in the other two.
const (
	Adaptive     Strategy = "adaptive"      // the longest remaining path: the shortest time for all. The empty strategy is this one
	BreadthFirst Strategy = "breadth-first" // what depends on nothing
	DepthFirst   Strategy = "depth-first"   // what most features wait for
)

// Strategies lists the strategies, the default first.
func Strategies() []Strategy { return []Strategy{Adaptive, BreadthFirst, DepthFirst} }

// Took is how long a feature took, beside how long it was thought to take. Features of one role are alike.
type Took struct {
	Role     string
	Estimate plan.Minutes // 0: it had none
	Actual   plan.Minutes
}

// Options of [New].
type Options struct {
	Strategy Strategy
	History  []Took // corrects the estimates
}

// Schedule knows the features of a plan, how long they take and what waits for them. It does not change: a changed plan, or a longer
// history, makes a new one.
type Schedule struct {
	strategy Strategy
	tasks    []task
	at       map[string]int
	routed   bool // a feature has a route that says beside whom it may run
}

// task is a feature by the numbers of the features around it.
type task struct {
	feature plan.Feature
	needs   []int
	blocks  []int
	apart   []int // would touch the same files
	lasts   time.Duration
	path    time.Duration // from its start to the end of the last feature that waits for it
	easy    bool          // its complexity is under 40
}

// New makes a schedule. The features of p are those of a plan that keeps its laws; a feature whose dependencies are unknown or in a
// circle never starts.
func New(p plan.Plan, o Options) *Schedule {
	s := &Schedule{strategy: cmp.Or(o.Strategy, Adaptive), tasks: make([]task, len(p.Features)), at: map[string]int{}}
	for i, f := range p.Features {
		s.at[f.ID] = i
	}
	like := newCorrection(o.History)
	for i, f := range p.Features {
		t := &s.tasks[i]
		s.routed = s.routed || f.Route.MaxParallel > 0 || f.Route.Affinity != ""
		score := plan.Score(f).Total
		t.feature, t.easy, t.lasts = f, score < 40, like.correct(f.Role, guess(f, score))
		for _, on := range f.DependsOn {
			n, known := s.at[on]
			if !known {
				n = i // it waits for itself
			}
			t.needs = append(t.needs, n)
			s.tasks[n].blocks = append(s.tasks[n].blocks, i)
		}
	}
	for _, c := range plan.Conflicts(p.Features) {
		if a, b := s.at[c.A], s.at[c.B]; c.SameFiles() {
			s.tasks[a].apart = append(s.tasks[a].apart, b)
			s.tasks[b].apart = append(s.tasks[b].apart, a)
		}
	}
	s.paths()
	return s
}

// guess is how long a feature will take if nothing is known of the like of it: its estimate, or by its complexity something between
// the 15 and the 60 minutes that a feature should have (row C103).
func guess(f plan.Feature, complexity int) time.Duration {
	if f.Estimate > 0 {
		return f.Estimate.Duration()
	}
	return 15*time.Minute + time.Duration(complexity)*45*time.Minute/100
}

// correction is by which factor the features of each role took longer than they were thought to.
type correction map[string]float64

func newCorrection(history []Took) correction {
	sums, counts := map[string]float64{}, map[string]int{}
	for _, h := range history {
		if !(h.Estimate > 0) || !(h.Actual > 0) {
			continue
		}
		factor := math.Log(min(max(float64(h.Actual/h.Estimate), 0.1), 10))
		for _, role := range slices.Compact([]string{h.Role, ""}) { // "": all features
			sums[role] += factor
			counts[role]++
		}
	}
	c := correction{}
	for role, sum := range sums {
		c[role] = math.Exp(sum / float64(counts[role]+1)) // one more that took as long as thought: a single one proves little
	}
	return c
}

// correct applies the factor of a role, or that of all features if nothing is known of the role.
func (c correction) correct(role string, d time.Duration) time.Duration {
	factor, known := c[role]
	if !known {
		factor = cmp.Or(c[""], 1)
	}
	return max(time.Duration(float64(d)*factor).Round(time.Second), time.Second)
}

// paths finds the longest remaining path of each feature, from the last features to the first.
func (s *Schedule) paths() {
	left := make([]int, len(s.tasks)) // how many that wait for it have no path yet
	var ready []int
	for i, t := range s.tasks {
		if left[i] = len(t.blocks); left[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[0]
		ready = ready[1:]
		t := &s.tasks[i]
		t.path = t.lasts
		for _, b := range t.blocks {
			t.path = max(t.path, t.lasts+s.tasks[b].path)
		}
		for _, n := range t.needs {
			if left[n]--; left[n] == 0 {
				ready = append(ready, n)
			}
		}
	}
}

// Estimate is how long a feature is expected to take, corrected by what the like of it took; 0 for one that is not in the plan.
func (s *Schedule) Estimate(id string) time.Duration {
	if i, ok := s.at[id]; ok {
		return s.tasks[i].lasts
	}
	return 0
}

// State is what happens at the moment of a decision. The lists are ids of features.
type State struct {
	Workers  int // how many may run at once
	Done     []string
	Running  []string
	Elapsed  map[string]time.Duration // how long those that run have been running
	Held     []string                 // not to be started now: failed for good, stopped by a person, waiting for its next attempt
	Attempts map[string]int           // started before, without success
}

// Next says which features start now, in their order. It fills every free worker as long as a feature is ready: one that is not done,
// running or held, whose dependencies are all done, and whose route lets it run beside those that run. A feature that would touch the same
// files as one that runs gives way to the next one that would not, unless everything would then be done later.
func (s *Schedule) Next(now State) []string {
	m := s.mark(now)
	var out []string
	for range min(max(now.Workers-len(now.Running), 0), len(s.tasks)) {
		first := m.first(func(int) bool { return true })
		if first < 0 {
			break
		}
		first = m.apart(first)
		m.start(first)
		out = append(out, s.tasks[first].feature.ID)
	}
	return out
}

// maxTried is how many features are tried in the place of one that collides: each try simulates the rest of the run.
const maxTried = 8

// apart is the first feature that collides with none that runs and with which everything would be done as early as with feature i; or
// feature i.
func (m moment) apart(i int) int {
	if !m.collides(i) {
		return i
	}
	end, tried := m.endIf(i), 0
	other := m.first(func(o int) bool {
		if m.collides(o) || tried == maxTried {
			return false
		}
		tried++
		return m.endIf(o) <= end
	})
	if other < 0 {
		return i
	}
	return other
}

// The states of a feature.
const (
	pending = iota
	held
	running
	done
)

// moment is a State by the numbers of features.
type moment struct {
	s       *Schedule
	workers int
	order   []int // of the features, the first one to start at the beginning
	state   []uint8
	left    []time.Duration // how long each will still take
}

func (s *Schedule) mark(now State) moment {
	m := moment{s, now.Workers, make([]int, len(s.tasks)), make([]uint8, len(s.tasks)), make([]time.Duration, len(s.tasks))}
	for _, l := range []struct {
		ids   []string
		state uint8
	}{{now.Held, held}, {now.Running, running}, {now.Done, done}} {
		for _, id := range l.ids {
			if i, ok := s.at[id]; ok {
				m.state[i] = l.state
			}
		}
	}
	priorities := make([]int, len(s.tasks))
	for i, t := range s.tasks {
		m.order[i], m.left[i] = i, t.lasts
		if m.state[i] == running {
			m.left[i] = max(t.lasts-now.Elapsed[t.feature.ID], time.Second)
		}
		priorities[i] = s.priority(i, m.state) - 20*now.Attempts[t.feature.ID]
	}
	slices.SortFunc(m.order, func(a, b int) int {
		path, priority := cmp.Compare(s.tasks[b].path, s.tasks[a].path), cmp.Compare(priorities[b], priorities[a])
		if s.strategy != Adaptive {
			path, priority = priority, path
		}
		return cmp.Or(path, priority, cmp.Compare(a, b))
	})
	return m
}

// priority is that of row C58, without the attempts: 50 for each pending feature that it blocks, 40 if it depends on nothing, 30 if it
// is easy; breadth-first adds 20 if it depends on nothing, depth-first 30 for each feature that it blocks.
func (s *Schedule) priority(i int, state []uint8) int {
	t, blocked, score := s.tasks[i], 0, 0
	for _, b := range t.blocks {
		if state[b] == pending {
			blocked++
		}
	}
	score += 50 * blocked
	if t.easy {
		score += 30
	}
	if len(t.needs) == 0 {
		score += 40
	}
	switch {
	case s.strategy == BreadthFirst && len(t.needs) == 0:
		score += 20
	case s.strategy == DepthFirst:
		score += 30 * blocked
	}
	return score
}

// first is the first feature of the order that is ready and that the caller wants, or -1.
func (m moment) first(want func(int) bool) int {
	for _, i := range m.order {
		if m.state[i] == pending && m.ready(i) && want(i) {
			return i
		}
	}
	return -1
}

func (m moment) ready(i int) bool {
	return !slices.ContainsFunc(m.s.tasks[i].needs, func(on int) bool { return m.state[on] != done }) && m.beside(i)
}

// beside reports whether the routes of a feature and of those that run let it run beside them.
func (m moment) beside(i int) bool {
	if !m.s.routed {
		return true
	}
	mine, busy := m.s.tasks[i].feature.Route, 1
	most := cmp.Or(mine.MaxParallel, plan.MaxParallel)
	for o, state := range m.state {
		if state != running {
			continue
		}
		busy++
		other := m.s.tasks[o].feature.Route
		most = min(most, cmp.Or(other.MaxParallel, plan.MaxParallel))
		if mine.Affinity != "" && mine.Affinity == other.Affinity {
			return false
		}
	}
	return busy <= most
}

// collides reports whether a feature would touch the same files as one that runs.
func (m moment) collides(i int) bool {
	return slices.ContainsFunc(m.s.tasks[i].apart, func(o int) bool { return m.state[o] == running })
}

func (m moment) start(i int) { m.state[i] = running }

// endIf is when everything would be done if feature i started now and the others followed in their order, whatever they touch.
func (m moment) endIf(i int) time.Duration {
	m.state, m.left = slices.Clone(m.state), slices.Clone(m.left)
	m.start(i)
	var end time.Duration
	for {
		busy := 0
		for _, state := range m.state {
			if state == running {
				busy++
			}
		}
		for ; busy < m.workers; busy++ {
			next := m.first(func(int) bool { return true })
			if next < 0 {
				break
			}
			m.start(next)
		}
		if busy == 0 {
			return end
		}
		step := time.Duration(math.MaxInt64)
		for i, state := range m.state {
			if state == running {
				step = min(step, m.left[i])
			}
		}
		end += step
		for i, state := range m.state {
			if state != running {
				continue
			}
			if m.left[i] -= step; m.left[i] <= 0 {
				m.state[i] = done
			}
		}
	}
}
