package swarm

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/stats"
)

func statsCmd(a *app) *cobra.Command {
	return &cobra.Command{Use: "stats", Short: "Show the figures of the session: times, workers, attempts, cost", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.With(c.Context(), "see the swarm", func(_ *open.Swarm, s *book.Session) error {
				figures := stats.Of(s, time.Now())
				if a.JSON {
					return a.PrintJSON(figures)
				}
				a.figures(figures)
				return nil
			})
		}}
}

// figures prints the figures of a session.
func (a *app) figures(s stats.Stats) {
	long := func(seconds float64) string { return (time.Duration(seconds) * time.Second).String() }
	rows := [][]string{{"elapsed", long(s.Elapsed)},
		{"landed", fmt.Sprintf("%d of %d, %d failed (%.0f %% of what is over)", s.Landed, s.Features, s.Failed, s.Success)}}
	if s.Fastest != nil {
		rows = append(rows, []string{"a feature took", fmt.Sprintf("%s on average; fastest %s (%s), slowest %s (%s)", long(s.Average),
			s.Fastest.Feature, long(s.Fastest.Seconds), s.Slowest.Feature, long(s.Slowest.Seconds))})
	}
	rows = append(rows, []string{"workers", fmt.Sprintf("%d at work, %d completed, %d failed, %d stopped", s.Workers.Running,
		s.Workers.Completed, s.Workers.Crashed, s.Workers.Stopped)},
		[]string{"attempts", fmt.Sprintf("%d, %.1f on average, %d at most", s.Attempts.Total, s.Attempts.Average, s.Attempts.Max)})
	var most []string
	for _, m := range s.Most {
		most = append(most, fmt.Sprintf("%s %d", m.Feature, m.Attempts))
	}
	if len(most) > 0 {
		rows = append(rows, []string{"most attempts", strings.Join(most, ", ")})
	}
	a.Facts(append(rows, []string{"cost", fmt.Sprintf("$%.2f", s.Cost)}))
}
