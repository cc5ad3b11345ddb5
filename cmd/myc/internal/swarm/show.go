package swarm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/failure"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// event prints one event, as a line.
func (a *app) event(e book.Event) {
	if a.JSON {
		_ = a.PrintLine(e)
		return
	}
	about := e.Feature
	if e.Attempt > 0 {
		about += "#" + strconv.Itoa(e.Attempt)
	}
	fmt.Fprintf(a.Out, "%s  %s%s\n", a.Paint(base.Faint, e.At.Local().Format(time.TimeOnly)), text.OneLine(pad(about, 16)),
		a.line(e.Text, 28))
}

// line is a text in the rest of a line, behind so many columns; whole where there is no terminal.
func (a *app) line(s string, used int) string {
	if s = text.Flatten(s); a.Width() > 0 {
		return text.Cell(s, max(40, a.Width()-used))
	}
	return text.Truncate(s, 1000)
}

// pad fills a word up to a width, with at least one space behind it.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(1, n-text.Width(s))) }

// outcome says what became of the session.
func (a *app) outcome(ctx context.Context, o *opened, id string) error {
	s, err := o.Read(ctx, id)
	if err != nil {
		return err
	}
	if err := a.show(ctx, o, s); err != nil {
		return err
	}
	switch s.State {
	case book.Completed:
		if !a.JSON {
			fmt.Fprintf(a.Out, "\nNext: myc swarm merge takes it into your branch\n")
		}
		return nil
	case book.Going:
		return failure.Hint(errors.New("a feature waits for you"), "myc swarm status says for what")
	case book.Paused:
		return failure.Hint(errors.New("the session is paused"), "myc swarm resume")
	default:
	}
	return failure.Hint(errors.New("not every feature was completed"),
		"myc swarm logs FEATURE shows what its worker did; myc swarm retry FEATURE")
}

func statusCmd(a *app) *cobra.Command {
	var graph bool
	c := &cobra.Command{Use: "status", Short: "Show the features of the session and their workers", Args: base.NoArgs,
		Example: "  myc swarm status --graph\n  myc swarm status --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), "see the swarm", func(o *opened, s *book.Session) error {
				if graph {
					a.graph(s)
					return nil
				}
				return a.show(c.Context(), o, s)
			})
		}}
	c.Flags().BoolVar(&graph, "graph", false, "show what waits for what")
	return c
}

// shown is a session as `myc swarm status --json` prints it.
type shown struct {
	*book.Session
	Driver   string          `json:"driver,omitempty"`
	Cost     float64         `json:"costUSD"`
	Features []*book.Feature `json:"features"`
}

// show prints a session.
func (a *app) show(ctx context.Context, o *opened, s *book.Session) error {
	driver, err := o.Driver(ctx, s.ID)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(shown{s, driver, s.Cost(), s.Features})
	}
	done := 0
	var rows [][]string
	for _, f := range s.Features {
		if f.State == book.Completed {
			done++
		}
		rows = append(rows, a.row(s, f))
	}
	who := driver
	if who == "" && s.Open() {
		who = "nobody: myc swarm auto"
	}
	facts := [][]string{{"session", s.ID + ", " + words(s.State)},
		{"branch", strings.TrimPrefix(s.Branch, "refs/heads/")}, {"landed", fmt.Sprintf("%d of %d", done, len(s.Features))},
		{"cost", fmt.Sprintf("$%.2f", s.Cost())}}
	if who != "" {
		facts = append(facts, []string{"driven by", who})
	}
	a.Facts(facts)
	fmt.Fprintln(a.Out)
	a.Table(base.Column{Name: "FEATURE"}, base.Column{Name: "STATE"}, base.Column{Name: "TRY"}, base.Column{Name: "SURE", Drop: 2},
		base.Column{Name: "COST", Drop: 3}, base.Column{Name: "AFTER", Drop: 1}, base.Column{Name: "WHAT", Least: 20}).Print(rows...)
	return nil
}

// row is a feature in the table.
func (a *app) row(s *book.Session, f *book.Feature) []string {
	sure, cost, what := "-", 0.0, text.Flatten(f.Description)
	for _, t := range f.Attempts {
		cost += t.Cost
	}
	if t := f.Live(); t != nil {
		if j, err := swarm.Judge(s.Settings, worker.Folder(t.Folder)); err == nil {
			sure = strconv.Itoa(j.Score) + " " + string(j.Verdict)
		}
	}
	if f.Reason != "" && f.State != book.Completed {
		what = text.Flatten(f.Reason)
	}
	return []string{f.ID, words(f.State), strconv.Itoa(len(f.Attempts)), sure, fmt.Sprintf("$%.2f", cost),
		base.OrDash(strings.Join(f.DependsOn, ", ")), what}
}

// words is a state as people read it.
func words(s book.State) string { return s.Words() }
