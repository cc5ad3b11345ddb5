package schedule

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// figures of a graph for three and for five workers, in minutes.
type figures struct {
	Three, Five int
}

// taskGraph is a graph of testdata/task-graphs.json and conflict-graphs.json.
type taskGraph struct {
	Graph             int
	CriticalPathFirst figures
	Bound             figures
	Tasks             []struct {
		ID, Role     string
		Minutes      plan.Minutes
		Needs, Files []string
	}
}

func (g taskGraph) plan(t testing.TB) plan.Plan {
	t.Helper()
	var features []plan.Feature
	for _, k := range g.Tasks {
		features = append(features, plan.Feature{ID: k.ID, Description: k.ID, DependsOn: k.Needs, Role: k.Role, Files: k.Files,
			Estimate: k.Minutes})
	}
	p, problems := plan.New(features)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

func graphs(t testing.TB, file string, want int) []taskGraph {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Graphs []taskGraph }
	if err := json.Unmarshal(data, &all); err != nil || len(all.Graphs) != want {
		t.Fatalf("%s: %d graphs, %v", file, len(all.Graphs), err)
	}
	return all.Graphs
}

// TestBounds: on the ten published graphs the makespan is that of list scheduling, which is the bound where one can be reached.
func TestBounds(t *testing.T) {
	for _, g := range graphs(t, "task-graphs.json", 10) {
		for workers, want := range map[int][2]int{3: {g.CriticalPathFirst.Three, g.Bound.Three}, 5: {g.CriticalPathFirst.Five, g.Bound.Five}} {
			line := New(g.plan(t), Options{}).Simulate(workers)
			if line.Makespan != time.Duration(want[0])*time.Minute {
				t.Errorf("graph %d, %d workers: %v, want %d minutes", g.Graph, workers, line.Makespan, want[0])
			}
			if low := line.Bound; low > line.Makespan || low > time.Duration(want[1])*time.Minute || low <= time.Duration(want[1]-1)*time.Minute {
				t.Errorf("graph %d, %d workers: bound %v, want %d minutes, rounded up", g.Graph, workers, low, want[1])
			}
		}
	}
}

// TestConflictGraphs: on the five graphs with conflicts the makespan is at most that of list scheduling that ignores them, and features
// that touch the same files run side by side for less time than there.
func TestConflictGraphs(t *testing.T) {
	var saved time.Duration
	for _, g := range graphs(t, "conflict-graphs.json", 5) {
		p := g.plan(t)
		if n := len(p.Features); n < 12 || n > 20 || !slices.ContainsFunc(plan.Conflicts(p.Features), plan.Conflict.SameFiles) {
			t.Errorf("graph %d has %d features", g.Graph, n)
		}
		careless := New(p, Options{})
		for i := range careless.tasks {
			careless.tasks[i].apart = nil
		}
		for workers, want := range map[int]int{3: g.CriticalPathFirst.Three, 5: g.CriticalPathFirst.Five} {
			line := New(p, Options{}).Simulate(workers)
			before, after := together(p, careless.Simulate(workers)), together(p, line)
			t.Logf("graph %d, %d workers: %v; list scheduling %d minutes; bound %v; conflicts side by side for %v, without care %v", g.Graph,
				workers, line.Makespan, want, line.Bound, after, before)
			if line.Makespan > time.Duration(want)*time.Minute || after > before {
				t.Errorf("graph %d, %d workers: %v, want %d minutes; %v of conflicts, %v without care", g.Graph, workers, line.Makespan, want,
					after, before)
			}
			saved += before - after
		}
	}
	if saved <= 0 {
		t.Error("no conflict is avoided on any graph")
	}
}

// together is how long features that touch the same files run side by side.
func together(p plan.Plan, line Timeline) time.Duration {
	slots := map[string]Slot{}
	for _, s := range line.Slots {
		slots[s.ID] = s
	}
	var sum time.Duration
	for _, c := range plan.Conflicts(p.Features) {
		if a, b := slots[c.A], slots[c.B]; c.SameFiles() {
			sum += max(min(a.End, b.End)-max(a.Start, b.Start), 0)
		}
	}
	return sum
}

// someFeatures draws a plan: what a feature depends on stands before it, or it would be a circle.
func someFeatures(t *rapid.T) plan.Plan {
	var features []plan.Feature
	for i := range rapid.IntRange(1, 18).Draw(t, "features") {
		f := plan.Feature{ID: fmt.Sprintf("f%d", i), Description: rapid.SampledFrom([]string{"x", "解析器を作る",
			"Rewrite all of the parser"}).Draw(t, "d"),
			Role: rapid.SampledFrom([]string{"", "qa"}).Draw(t, "role"), Estimate: plan.Minutes(rapid.IntRange(0, 30).Draw(t, "estimate")),
			Files: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.go", "b.go", "c/"}), 0, 2, rapid.ID).Draw(t, "files")}
		for j := range i {
			if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
				f.DependsOn = append(f.DependsOn, fmt.Sprintf("f%d", j))
			}
		}
		features = append(features, f)
	}
	p, problems := plan.New(features)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

func someOptions(t *rapid.T) Options {
	o := Options{Strategy: rapid.SampledFrom(append(Strategies(), "")).Draw(t, "strategy")}
	for range rapid.IntRange(0, 3).Draw(t, "history") {
		o.History = append(o.History, Took{"qa", plan.Minutes(rapid.IntRange(-1, 30).Draw(t, "est")), plan.Minutes(rapid.IntRange(-1,
			90).Draw(t, "act"))})
	}
	return o
}

// TestNextLaws: a feature never starts before its dependencies are done, never twice, never one that is held, and no worker is idle while
// a feature is ready. The answer does not depend on the order in which the state names the features.
func TestNextLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someFeatures(t)
		s := New(p, someOptions(t))
		now := State{Workers: rapid.IntRange(-1, 6).Draw(t, "workers"), Attempts: map[string]int{}}
		for _, f := range p.Features {
			switch rapid.IntRange(0, 4).Draw(t, "state") {
			case 0:
				now.Done = append(now.Done, f.ID)
			case 1:
				now.Running = append(now.Running, f.ID)
			case 2:
				now.Held = append(now.Held, f.ID)
			}
			now.Attempts[f.ID] = rapid.IntRange(0, 3).Draw(t, "attempts")
		}
		got := s.Next(now)
		ready := 0
		for _, f := range p.Features {
			idle := !slices.Contains(slices.Concat(now.Done, now.Running, now.Held), f.ID)
			fulfilled := !slices.ContainsFunc(f.DependsOn, func(on string) bool { return !slices.Contains(now.Done, on) })
			if idle && fulfilled {
				ready++
			} else if slices.Contains(got, f.ID) {
				t.Fatalf("%s starts, although it is not ready", f.ID)
			}
		}
		if want := max(min(now.Workers-len(now.Running), ready), 0); len(got) != want ||
			len(slices.Compact(slices.Sorted(slices.Values(got)))) != want {
			t.Fatalf("%v start, want %d", got, want)
		}
		slices.Reverse(now.Done)
		slices.Reverse(now.Running)
		if again := s.Next(now); !slices.Equal(got, again) {
			t.Fatalf("%v, then %v", got, again)
		}
	})
}

// TestApartCostsNothing: to keep features apart never makes the whole longer.
func TestApartCostsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := someFeatures(t)
		for i := range p.Features {
			p.Features[i].Estimate = max(p.Features[i].Estimate, 1) // a guess would depend on the files
		}
		o, workers := Options{Strategy: rapid.SampledFrom(Strategies()).Draw(t, "strategy")}, rapid.IntRange(1, 6).Draw(t, "workers")
		careless := New(p, o)
		for i := range careless.tasks {
			careless.tasks[i].apart = nil
		}
		if apart, all := New(p, o).Simulate(workers).Makespan, careless.Simulate(workers).Makespan; apart > all {
			t.Fatalf("%v, and %v without the files", apart, all)
		}
	})
}

// TestSimulateLaws: everything runs once, after what it depends on, each worker does one thing at a time, and the makespan lies between
// the bound and what list scheduling guarantees (Graham: under two bounds).
func TestSimulateLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, o, workers := someFeatures(t), someOptions(t), rapid.IntRange(0, 6).Draw(t, "workers")
		s := New(p, o)
		line := s.Simulate(workers)
		slots, free := map[string]Slot{}, map[int]time.Duration{}
		for _, slot := range line.Slots {
			f, ok := p.Feature(slot.ID)
			if _, twice := slots[slot.ID]; twice || !ok || slot.End-slot.Start != s.Estimate(slot.ID) || slot.Worker < 1 ||
				slot.Worker > max(workers, 1) {
				t.Fatalf("%+v", slot)
			}
			for _, on := range f.DependsOn {
				if before, ok := slots[on]; !ok || before.End > slot.Start {
					t.Fatalf("%s starts before %s is done", slot.ID, on)
				}
			}
			if free[slot.Worker] > slot.Start {
				t.Fatalf("worker %d does two things", slot.Worker)
			}
			free[slot.Worker], slots[slot.ID] = slot.End, slot
		}
		if len(slots) != len(p.Features) || line.Makespan < line.Bound || line.Makespan >= 2*line.Bound || line.Makespan > line.Total {
			t.Fatalf("%d of %d features, makespan %v, bound %v, total %v", len(slots), len(p.Features), line.Makespan, line.Bound, line.Total)
		}
		if again := New(p, o).Simulate(workers); fmt.Sprint(again) != fmt.Sprint(line) {
			t.Fatalf("not deterministic:\n%v\n%v", line, again)
		}
		columns := rapid.IntRange(-5, 200).Draw(t, "columns")
		for name, picture := range map[string]string{"gantt": line.Gantt(columns), "graph": Graph(p, columns,
			func(string) string { return "✓" })} {
			for _, l := range strings.Split(picture, "\n") {
				if text.Width(l) > max(columns, minColumns) {
					t.Fatalf("%s, %d columns: %d in %q", name, columns, text.Width(l), l)
				}
			}
			if bars := strings.Split(picture, "\n")[1 : len(line.Slots)+1]; name == "gantt" &&
				slices.ContainsFunc(bars, func(l string) bool { return !strings.ContainsAny(l, "█▒") }) {
				t.Fatalf("a feature has no bar in\n%s", picture)
			}
			for _, f := range p.Features {
				if !strings.Contains(picture, f.ID) {
					t.Fatalf("%s: %s is missing in\n%s", name, f.ID, picture)
				}
			}
		}
	})
}

func features(t testing.TB, lines string) plan.Plan {
	t.Helper()
	p, problems := plan.Read("p.yaml", []byte(lines))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return p
}

// TestStrategies: the longest path, C58's priorities as its tie-break, and the strategies that obey them first.
func TestStrategies(t *testing.T) {
	const lone, head, hub = "{id: lone, description: L, estimate: 60}", "{id: head, description: H, estimate: 20}",
		"{id: hub, description: U, estimate: 10}"
	const rest = "{id: tail, description: T, estimate: 30, dependsOn: [head]}, {id: u1, description: 1, estimate: 1, dependsOn: [hub]}, " +
		"{id: u2, description: 2, estimate: 1, dependsOn: [hub]}"
	p := features(t, "["+lone+", "+head+", "+hub+", "+rest+"]")
	for strategy, want := range map[Strategy]string{"": "lone head hub", Adaptive: "lone head hub", BreadthFirst: "hub head lone",
		DepthFirst: "hub head lone"} {
		if got := strings.Join(New(p, Options{Strategy: strategy}).Next(State{Workers: 3}), " "); got != want {
			t.Errorf("%s: %s, want %s", strategy, got, want)
		}
	}
	// Breadth-first prefers what depends on nothing, depth-first what more waits for.
	p = features(t, `[{id: done, description: D}, {id: free, description: F, estimate: 10},
 {id: hub, description: H, estimate: 10, dependsOn: [done]}, {id: leaf, description: L, estimate: 1, dependsOn: [hub]}]`)
	for strategy, want := range map[Strategy]string{BreadthFirst: "free hub", DepthFirst: "hub free"} {
		if got := strings.Join(New(p, Options{Strategy: strategy}).Next(State{Workers: 2, Done: []string{"done"}}), " "); got != want {
			t.Errorf("%s: %s, want %s", strategy, got, want)
		}
	}
	// Equal paths: less attempts first, then easier, then the order of the plan.
	p = features(t, "[{id: a, description: A, estimate: 9}, {id: b, description: B, estimate: 9}, {id: c, description: C, estimate: 9}]")
	if got := strings.Join(New(p, Options{}).Next(State{Workers: 3, Attempts: map[string]int{"a": 1}}), " "); got != "b c a" {
		t.Errorf("after an attempt: %s", got)
	}
}

// TestApart: features that touch the same files are kept apart while something else is ready, and never when nothing is.
func TestApart(t *testing.T) {
	p := features(t, `[{id: a, description: A, estimate: 90, files: [x.go]}, {id: b, description: B, estimate: 80, files: [x.go]},
 {id: c, description: C, estimate: 5}]`)
	s := New(p, Options{})
	for _, c := range []struct {
		now  State
		want string
	}{
		{State{Workers: 2}, "a c"},
		{State{Workers: 3}, "a c b"},
		{State{Workers: 2, Running: []string{"a"}}, "c"},
		{State{Workers: 2, Running: []string{"a"}, Done: []string{"c"}}, "b"},
		{State{Workers: 2, Running: []string{"c"}}, "a"},
	} {
		if got := strings.Join(s.Next(c.now), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.now, got, c.want)
		}
	}
}

// TestRoutes: what a route says about workers beside its own is obeyed, also where nothing else is ready, and by the picture too.
func TestRoutes(t *testing.T) {
	p := features(t, `[{id: a, description: A, estimate: 90, route: {affinityGroup: db}},
 {id: b, description: B, estimate: 80, route: {affinityGroup: db}}, {id: c, description: C, estimate: 5},
 {id: d, description: D, estimate: 4, route: {maxParallelism: 2}}]`)
	s := New(p, Options{})
	for _, c := range []struct {
		now  State
		want string
	}{
		{State{Workers: 4}, "a c"},
		{State{Workers: 4, Running: []string{"a"}}, "c"},
		{State{Workers: 4, Running: []string{"a"}, Done: []string{"c"}}, "d"},
		{State{Workers: 4, Running: []string{"d"}}, "a"},
		{State{Workers: 4, Done: []string{"a", "c", "d"}}, "b"},
	} {
		if got := strings.Join(s.Next(c.now), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.now, got, c.want)
		}
	}
	if line := s.Simulate(4); len(line.Slots) != 4 || line.Makespan != 170*time.Minute {
		t.Errorf("%+v", line)
	}
}

// TestEstimates are corrected by what the like of a feature took, and guessed from its complexity where there is none.
func TestEstimates(t *testing.T) {
	p := features(t,
		"[{id: b, description: B, role: backend, estimate: 10}, {id: q, description: Q, role: qa, estimate: 10}, {id: n, description: N}]")
	for _, c := range []struct {
		name    string
		history []Took
		b, q, n time.Duration
	}{
		{"no history", nil, 10 * time.Minute, 10 * time.Minute, 15 * time.Minute},
		{"one took four times as long", []Took{{"backend", 10, 40}}, 20 * time.Minute, 20 * time.Minute, 30 * time.Minute},
		{"others were right", []Took{{"backend", 10, 40}, {"qa", 10, 10}}, 20 * time.Minute, 10 * time.Minute, 23*time.Minute + 49*time.Second},
		{"many took half as long", slices.Repeat([]Took{{"backend", 10, 5}}, 99), 302 * time.Second, 302 * time.Second, 453 * time.Second},
		{"without an estimate it tells nothing", []Took{{"backend", 0, 40}, {"backend", 10, -1}}, 10 * time.Minute, 10 * time.Minute,
			15 * time.Minute},
	} {
		s := New(p, Options{History: c.history})
		if b, q, n := s.Estimate("b"), s.Estimate("q"), s.Estimate("n"); b != c.b || q != c.q || n != c.n {
			t.Errorf("%s: %v %v %v, want %v %v %v", c.name, b, q, n, c.b, c.q, c.n)
		}
	}
	if New(p, Options{}).Estimate("x") != 0 {
		t.Error("an unknown feature has an estimate")
	}
}

// TestBrokenPlan: a list of features that is no plan is no reason to panic, and what can run does.
func TestBrokenPlan(t *testing.T) {
	p := plan.Plan{Features: []plan.Feature{{ID: "a", DependsOn: []string{"b"}}, {ID: "b", DependsOn: []string{"a"}}, {ID: "c"},
		{ID: "d", DependsOn: []string{"x"}}, {ID: "e", DependsOn: []string{"e"}}}}
	line := New(p, Options{}).Simulate(2)
	if len(line.Slots) != 1 || line.Slots[0].ID != "c" {
		t.Errorf("%+v", line)
	}
	if got := Graph(p, 80, nil); !strings.Contains(got, "c") {
		t.Error(got)
	}
	if got := New(plan.Plan{}, Options{}).Simulate(0).Gantt(0); !strings.Contains(got, "1 worker: 0s") {
		t.Error(got)
	}
}

// TestShortBars: a feature that is short beside the others has a bar all the same, also at the end.
func TestShortBars(t *testing.T) {
	p := features(t, "[{id: a, description: A, estimate: 9000}, {id: b, description: B, estimate: 1, dependsOn: [a]}]")
	if got := New(p, Options{}).Simulate(1).Gantt(60); strings.Count(got, "█\n")+strings.Count(got, "█ ") != 3 {
		t.Errorf("got\n%s", got) // two bars and the legend
	}
}

// TestPictures: what a person sees, with wide characters.
func TestPictures(t *testing.T) {
	p := features(t, `[{id: parser, description: 解析器を作る, estimate: 30}, {id: printer, description: Print it, estimate: 20},
 {id: checker, description: Check, estimate: 40, dependsOn: [parser]}, {id: all, description: 全体を試す, estimate: 30,
	dependsOn: [checker, printer]},
 {id: docs, description: Write the manual, estimate: 15, dependsOn: [parser]}]`)
	const gantt = `                            0          25m         50m        1h15m 1h40m
parser  解析器を作る     w1 ██████████████                                   30m
printer Print it         w2 ▒▒▒▒▒▒▒▒▒                                        20m
checker Check            w1               █████████████████                  40m
docs    Write the manual w2               ▒▒▒▒▒▒                             15m
all     全体を試す       w1                                ██████████████    30m
2 workers: 1h40m; one after the other: 2h15m
█ longest path  ▒ other work  no schedule is under 1h40m
`
	if got := New(p, Options{}).Simulate(2).Gantt(80); got != gantt {
		t.Errorf("got\n%swant\n%s", got, gantt)
	}
	const graph = `✓ parser  解析器を作る
├─ checker  Check
│  └─ all  全体を試す  (also after printer)
└─ docs  Write the manual
printer  Print it
`
	if got := Graph(p, 80, func(id string) string { return map[string]string{"parser": "✓"}[id] }); got != graph {
		t.Errorf("got\n%swant\n%s", got, graph)
	}
}

// Programs read a timeline in minutes.
func TestTimelineAsJSON(t *testing.T) {
	b, err := json.Marshal(Timeline{Slots: []Slot{{ID: "a", Worker: 1, End: 90 * time.Minute}}, Makespan: 90 * time.Minute}.JSON())
	if err != nil || !strings.Contains(string(b), `"endMinutes":90`) || !strings.Contains(string(b), `"makespanMinutes":90`) {
		t.Errorf("%s %v", b, err)
	}
}
