package audit

import (
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit/index"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) statsCmd() *cobra.Command {
	var since, until string
	c := &cobra.Command{
		Use: "stats", Short: "Totals, questions per active hour, top tools and roles, denial rate, reasoning", Args: base.NoArgs,
		Long: "Count the calls of the log. An hour is active in which an agent worked: each five minutes, by the clock, in which a session\n" +
			"made at least one call count as five minutes. A question is a call that a person was asked about, whether one answered or\n" +
			"not. Calls that a model settled alone are counted apart; those that were answered for the session before ask nobody.",
		Example: "  myc audit stats\n  myc audit stats --since 7d --json",
		RunE: func(c *cobra.Command, _ []string) error {
			from, err := base.ParseTime(since)
			if err != nil {
				return failure.Usagef("audit stats: --since: %w", err)
			}
			to, err := base.ParseTime(until)
			if err != nil {
				return failure.Usagef("audit stats: --until: %w", err)
			}
			return a.WithIndex(c.Context(), func(x *index.Index) error {
				s, err := x.Stats(c.Context(), from, to)
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(s)
				}
				a.showStats(s)
				return nil
			})
		}}
	c.Flags().StringVar(&since, "since", "", "not older than: 24h, 7d, or a time (RFC 3339)")
	c.Flags().StringVar(&until, "until", "", "not newer than: 24h, 7d, or a time (RFC 3339)")
	return c
}

func (a *app) showStats(s index.Stats) {
	rows := [][]string{{"calls", fmt.Sprint(s.Total)}, {"denied", fmt.Sprintf("%.1f %%", 100*s.DenialRate)},
		{"average", fmt.Sprintf("%.2f ms", s.AvgDurationMs)},
		{"reasoning", fmt.Sprintf("with %s (%.0f %%), %d tokens", text.Count(s.Thinking.Entries, "call"),
			100*s.Thinking.Coverage, s.Thinking.Tokens)}}
	for _, k := range index.Outcomes() {
		if n := s.ByOutcome[k]; n > 0 {
			rows = append(rows, []string{"  " + k, fmt.Sprint(n)})
		}
	}
	rows = append(rows, []string{"asked", s.Asks.String()})
	for _, q := range s.Asks.ByRule {
		rows = append(rows, []string{"  " + text.OneLine(index.RuleName(q.Name)), q.String()})
	}
	for _, q := range s.Asks.ByAgent {
		rows = append(rows, []string{"  by " + text.OneLine(base.OrDash(q.Name)), q.String()})
	}
	for _, group := range []struct {
		title string
		list  []index.Count
	}{{"tools", s.ByTool}, {"roles", s.ByRole}} {
		rows = append(rows, []string{group.title, ""})
		for _, c := range group.list {
			rows = append(rows, []string{"  " + base.OrDash(c.Name), fmt.Sprint(c.Count)})
		}
	}
	a.Facts(rows)
}
