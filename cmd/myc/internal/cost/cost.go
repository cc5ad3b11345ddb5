// Package cost has the command that tells what agents cost.
package cost

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/model"
	"mycelium/internal/op/failure"
	"mycelium/internal/run"
	"mycelium/internal/transcript"
)

// app is the program with the command of this family.
type app struct{ *base.App }

// Command is `myc cost`.
func Command(a *base.App) *cobra.Command {
	var since string
	c := &cobra.Command{
		Use: "cost", Short: "Show what agents cost, by session, agent and model", Args: base.NoArgs,
		Long: "The costs of models, in US dollars, as the daemon has followed them in the transcripts of agents. A day counts whole.\n" +
			"Without --since it is today.",
		Example: "  myc cost\n  myc cost --since 7d --json",
		RunE: func(*cobra.Command, []string) error {
			from, err := base.ParseTime(since)
			if err != nil {
				return failure.Usagef("cost: --since: %w", err)
			}
			if since == "" {
				from = time.Now()
			}
			return (&app{a}).cost(from.Local())
		}}
	c.Flags().StringVar(&since, "since", "", "the days from this one: 7d, 24h, or a time (RFC 3339); default: today")
	return c
}

// sums are the costs as `myc cost --json` prints them.
type sums struct {
	Since    string             `json:"since"` // a day
	USD      float64            `json:"usd"`
	Sessions []run.Cost         `json:"sessions"` // the dearest first; a session with several models has several
	Agents   map[string]float64 `json:"agents"`
	Models   map[string]float64 `json:"models"`
}

func (a *app) cost(from time.Time) error {
	p, err := a.Load()
	if err != nil {
		return err
	}
	costs, err := run.Costs(p.State.Costs(), from)
	if err != nil {
		return err
	}
	if costs, err = own(costs, p.State.Costs(), from); err != nil {
		return err
	}
	slices.SortFunc(costs, func(a, b run.Cost) int {
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Session, b.Session),
			cmp.Compare(a.Model, b.Model))
	})
	s := sums{Since: from.Format(time.DateOnly), Sessions: costs, Agents: map[string]float64{}, Models: map[string]float64{}}
	for _, c := range costs {
		s.USD += c.USD
		s.Agents[c.Agent] += c.USD
		s.Models[c.Model] += c.USD
	}
	if a.JSON {
		return a.PrintJSON(s)
	}
	a.SayProject()
	a.print(s)
	return nil
}

// own adds what our own agent cost with the engine api. What a program cost that it drove is among the others.
func own(costs []run.Cost, dir string, from time.Time) ([]run.Cost, error) {
	entries, err := (&model.Ledger{Dir: dir}).Of(model.OfAgent, from)
	sums := map[run.Cost]float64{}
	for _, e := range entries {
		sums[run.Cost{Agent: transcript.Own, Session: e.Session, Model: e.Model}] += e.Cents / 100
	}
	for c, usd := range sums {
		c.USD = usd
		costs = append(costs, c)
	}
	return costs, err
}

// print prints the sessions, then the sums.
func (a *app) print(s sums) {
	if len(s.Sessions) > 0 {
		var rows [][]string
		for _, c := range s.Sessions {
			rows = append(rows, []string{dollars(c.USD), base.OrDash(c.Agent), base.OrDash(c.Model), base.OrDash(c.Session)})
		}
		a.Table(base.Column{Name: "COST"}, base.Column{Name: "AGENT", Drop: 1}, base.Column{Name: "MODEL", Least: 10},
			base.Column{Name: "SESSION", Least: 10}).Print(rows...)
		fmt.Fprintln(a.Out)
	}
	facts := [][]string{{"since " + s.Since, dollars(s.USD)}}
	for _, by := range []map[string]float64{s.Agents, s.Models} {
		if len(by) < 2 {
			continue
		}
		for _, name := range dearestFirst(by) {
			facts = append(facts, []string{base.OrDash(name), dollars(by[name])})
		}
	}
	a.Facts(facts)
}

// dearestFirst returns the names of sums.
func dearestFirst(by map[string]float64) []string {
	var names []string
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	return names
}

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }
