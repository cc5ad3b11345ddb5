package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/audit/index"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

func (a *app) auditQuery() *cobra.Command {
	var q index.Query
	var since, until string
	var thinking, changes bool
	c := &cobra.Command{Use: "query", Short: "Find calls, newest first", Args: base.NoArgs,
		Example: "  myc audit query --role guest --outcome denied --since 24h --json\n" +
			"  myc audit query --program git --arg 'command=*push*' --by person\n  myc audit query --changes --session 'd3f*'",
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if q.Since, err = base.ParseTime(since); err != nil {
				return failure.Usagef("audit query: --since: %w", err)
			}
			if q.Until, err = base.ParseTime(until); err != nil {
				return failure.Usagef("audit query: --until: %w", err)
			}
			if c.Flags().Changed("thinking") {
				q.HasThinking = &thinking
			}
			if err := knownWords(&q); err != nil {
				return err
			}
			return a.WithIndex(c.Context(), func(x *index.Index) error {
				if err := a.knownNames(c.Context(), x, &q); err != nil {
					return err
				}
				if err := a.knownValues(c.Context(), x, &q); err != nil {
					return err
				}
				if changes {
					return a.auditChanges(c.Context(), x, q)
				}
				return a.auditShow(c.Context(), x, q)
			})
		}}
	f := c.Flags()
	selectFlags(f, &q)
	f.BoolVar(&changes, "changes", false, "the beginnings, ends, changes of role and of skills of sessions, instead of calls")
	f.StringVar(&since, "since", "", "not older than: 24h, 7d, or a time (RFC 3339)")
	f.StringVar(&until, "until", "", "not newer than: 24h, 7d, or a time (RFC 3339)")
	f.BoolVar(&thinking, "thinking", false, "only calls with reasoning (=false: only calls without)")
	f.StringVar(&q.ThinkingType, "thinking-type", "", "extended_thinking, chain_of_thought or reasoning")
	f.StringVar(&q.Text, "text", "", "words of the reasoning")
	f.IntVar(&q.Limit, "limit", 100, "at most this many")
	f.IntVar(&q.Offset, "offset", 0, "skip this many")
	return c
}

func (a *app) auditShow(ctx context.Context, x *index.Index, q index.Query) error {
	entries, err := x.Query(ctx, q)
	if err != nil {
		return err
	}
	return a.auditEntries(entries)
}

func (a *app) auditEntries(entries []index.Entry) error {
	if a.JSON {
		return a.PrintJSON(entries)
	}
	var rows [][]string
	for _, e := range entries {
		rows = append(rows, a.entryRow(e))
	}
	a.Table(callColumns()...).Print(rows...)
	return nil
}

func (a *app) auditDenials() *cobra.Command {
	var limit int
	c := &cobra.Command{Use: "denials", Short: "Show the latest denied calls", Example: "  myc audit denials --limit 10",
		Args: base.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			return a.WithIndex(c.Context(), func(x *index.Index) error {
				entries, err := x.Denials(c.Context(), limit)
				if err != nil {
					return err
				}
				return a.auditEntries(entries)
			})
		}}
	c.Flags().IntVar(&limit, "limit", 10, "at most this many")
	return c
}

func (a *app) auditThinking(ctx context.Context, x *index.Index) error {
	r, err := x.Thinking(ctx, 0)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	fmt.Fprintf(a.Out, "%s with reasoning (%.0f %% of all), %d tokens\n", text.Count(r.Stats.Entries, "call"),
		100*r.Stats.Coverage, r.Stats.Tokens)
	for _, e := range r.Entries {
		claimed := ""
		if e.Claimed {
			claimed = ", claimed by the client"
		}
		fmt.Fprintf(a.Out, "\n%s  %s  %s  %s (%s%s, %d characters)\n", e.Time.Local().Format(time.DateTime), base.OrDash(e.Role),
			e.Tool, e.Outcome, base.OrDash(e.Type), claimed, e.FullLength)
		for line := range strings.Lines(strings.TrimSpace(e.Preview)) {
			fmt.Fprintf(a.Out, "  │ %s\n", text.Flatten(strings.TrimRight(line, "\n")))
		}
	}
	return nil
}
