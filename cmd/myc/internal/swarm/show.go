package swarm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/confidence"
	"mycelium/internal/swarm/monitor"
	"mycelium/internal/swarm/ops"
	"mycelium/internal/swarm/review"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
)

// outcome says what became of the session.
func (a *app) outcome(ctx context.Context, o *open.Swarm, id string) error {
	s, err := o.Read(ctx, id)
	if err != nil {
		return err
	}
	if err := a.show(ctx, o, s); err != nil {
		return err
	}
	switch s.State {
	case book.Completed:
		if !a.JSON && s.Overall() != "" {
			fmt.Fprintf(a.Out, "\nThe reviews found: %s. myc swarm review show tells what\n", s.Overall())
		}
		if !a.JSON {
			fmt.Fprintf(a.Out, "\nNext: myc swarm merge takes it into your branch\n")
		}
		return nil
	case book.Going:
		return failure.Hint(errors.New("a feature waits for you"), "myc swarm status says for what")
	case book.Paused:
		if s.GivenUp {
			return failure.Hint(errors.New("a person gives the session up"), "myc swarm init begins another")
		}
		return failure.Hint(errors.New("the session is paused"), "myc swarm resume")
	default:
	}
	return failure.Hint(errors.New("not every feature was completed"),
		"myc swarm logs FEATURE shows what its worker did; myc swarm retry FEATURE")
}

// show prints a session.
func (a *app) show(ctx context.Context, o *open.Swarm, s *book.Session) error {
	driver, err := o.Driver(ctx, s.ID)
	if err != nil {
		return err
	}
	if a.JSON {
		workers, err := ops.Heartbeats(ctx, o.Ops, s, time.Now())
		if err != nil {
			return err
		}
		return a.PrintJSON(shown{s, driver, s.Cost(), s.Features, swarmed.AccountFor(s.Settings.Runner, a.Environ), workers})
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
	stands := words(s.State)
	if s.Closed {
		stands += ", closed"
	}
	facts := [][]string{{"session", s.ID + ", " + stands},
		{"branch", strings.TrimPrefix(s.Branch, "refs/heads/")}, {"landed", fmt.Sprintf("%d of %d", done, len(s.Features))},
		{"cost", fmt.Sprintf("$%.2f", s.Cost())}}
	for _, r := range review.Last(s).Reviews {
		facts = append(facts, []string{review.Label(r.Type), review.Result(r)})
	}
	if l := s.Limited(s.Settings.Runner, time.Now()); l != nil {
		facts = append(facts, []string{"waits", "for a limit of the provider until " + l.Until.Local().Format(time.DateTime) + ": " + l.Why})
	}
	if u := s.Unsandboxed; u != nil {
		facts = append(facts, []string{"sandbox", "none: workers run without it, by " + u.By + ", record " + u.Record})
	}
	for _, line := range keptOut(s) {
		facts = append(facts, []string{"kept out", line})
	}
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
	sure, cost, what := "", f.Planning.Spent(), text.Flatten(f.Description)
	for _, t := range f.Attempts {
		cost += t.Cost
	}
	if t := f.Live(); t != nil {
		if j, err := monitor.Judge(s.Settings, worker.Folder(t.Folder)); err == nil {
			sure = strconv.Itoa(j.Score) + " " + string(j.Verdict)
			if j.Verdict == confidence.Waiting {
				what = j.Reason
			}
		}
	}
	if f.Reason != "" && f.Live() == nil && f.State != book.Completed {
		what = text.Flatten(f.Reason)
	}
	return []string{f.ID, words(f.State), strconv.Itoa(len(f.Attempts)), base.OrDash(sure), fmt.Sprintf("$%.2f", cost),
		base.OrDash(strings.Join(f.DependsOn, ", ")), what}
}

// words is a state as people read it.
func words(s book.State) string { return s.Words() }
