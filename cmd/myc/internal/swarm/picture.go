package swarm

import (
	"cmp"
	"fmt"
	"strings"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
	"mycelium/internal/swarm/schedule"
	"mycelium/internal/text"
)

// picture prints the schedule of a session: what waits for what, and when each feature would be worked on.
func (a *app) picture(s *book.Session) error {
	p := planning.Foreseen(s)
	t := planning.ScheduleOf(s).Simulate(s.Settings.Workers)
	if a.JSON {
		return a.PrintJSON(struct {
			Plan     plan.Plan `json:"plan"`
			Schedule any       `json:"schedule"`
		}{p, t.JSON()})
	}
	width := min(cmp.Or(a.Width(), 100), 120)
	fmt.Fprintf(a.Out, "%s\n", strings.TrimRight(t.Gantt(width), "\n"))
	for i, f := range p.Features {
		score := plan.Score(f)
		switch advice := score.Advise(plan.Threshold); {
		case planning.Planned(s, s.Features[i]):
			fmt.Fprintf(a.Out, "%s is complex (%d of 100): two planners compete for it before a worker begins\n", f.ID, score.Total)
		case s.Features[i].Chosen() != nil:
		case advice == plan.Compete:
			fmt.Fprintf(a.Out, "%s is complex (%d of 100): divide it, or have it planned first\n", f.ID, score.Total)
		case advice == plan.Review:
			fmt.Fprintf(a.Out, "%s is not simple (%d of 100): look at it before a worker does\n", f.ID, score.Total)
		}
	}
	clash := false
	for _, c := range plan.Conflicts(p.Features) {
		if c.SameFiles() && !p.Waits(c.A, c.B) && !p.Waits(c.B, c.A) {
			clash = true
			fmt.Fprintf(a.Out, "%s and %s would touch the same files (%s): they are kept apart where that costs no time\n", c.A, c.B,
				strings.Join(c.What, ", "))
		}
	}
	if clash {
		fmt.Fprintf(a.Out, "side by side without a conflict: %s\n", strings.Join(plan.Apart(p.Features), ", "))
	}
	return nil
}

// features prints features whole.
func (a *app) features(p plan.Plan) {
	for _, f := range p.Features {
		fmt.Fprintf(a.Out, "%s: %s\n", f.ID, text.Flatten(f.Description))
		for _, l := range []struct {
			name string
			list []string
		}{{"after", f.DependsOn}, {"files", f.Files}} {
			if len(l.list) > 0 {
				fmt.Fprintf(a.Out, "  %s: %s\n", l.name, text.Flatten(strings.Join(l.list, ", ")))
			}
		}
		for line := range strings.Lines(strings.TrimSpace(f.Details)) {
			fmt.Fprintf(a.Out, "  %s\n", text.Flatten(strings.TrimRight(line, "\n")))
		}
	}
	fmt.Fprintln(a.Out)
}

// graph prints what waits for what, with the state of each feature.
func (a *app) graph(s *book.Session, compact bool) error {
	switch nodes := planning.GraphOf(s, true); {
	case a.JSON:
		return a.PrintJSON(nodes)
	case compact:
		fmt.Fprint(a.Out, planning.Compact(nodes))
		return nil
	}
	fmt.Fprint(a.Out, schedule.Graph(s.Plan(), min(cmp.Or(a.Width(), 100), 120), func(id string) string {
		f, err := s.Feature(id)
		if err != nil {
			return ""
		}
		return "[" + words(f.State) + "]"
	}))
	return nil
}
