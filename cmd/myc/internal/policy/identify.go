package policy

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/agentcard"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy/identity"
	"mycelium/internal/text"
)

// agent is the agent whose role `policy test` tells.
type agent struct {
	card   string   // file
	skills []string // ids, instead of those on the card
	at     string   // time; empty: now
}

func (a *app) testCmd() *cobra.Command {
	var who agent
	c := &cobra.Command{Use: "test [FILE …]", Short: "Run the examples of rule files, and txtar corpora, or say which role an agent gets",
		Example: "  myc policy test rules.yaml\n  myc policy test -a partner.json -t 2026-11-27T23:30:00+09:00", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, files []string) error {
			if who.card == "" && who.skills == nil && who.at == "" {
				return a.policyTest(files)
			}
			if len(files) > 0 {
				return failure.Usagef("policy test: either files, or -a and -s for an agent")
			}
			return a.identify(c.Context(), who)
		}}
	c.Flags().StringVarP(&who.card, "agent", "a", "", "file with an agent card (A2A): say which role the agent gets")
	c.Flags().StringSliceVarP(&who.skills, "skills", "s", nil, "skills of the agent, instead of those on its card")
	c.Flags().StringVarP(&who.at, "time", "t", "", `when, as 2026-11-27T23:30:00+09:00 or "2026-11-27 23:30" (default: now)`)
	return c
}

// read returns the agent's card and the time.
func (w *agent) read() (*agentcard.Card, time.Time, error) {
	at := time.Now()
	if w.at != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, w.at); err != nil {
			if at, err = time.ParseInLocation("2006-01-02 15:04", w.at, time.Local); err != nil {
				return nil, at, failure.Usagef(`policy test: -t %q is no time: write 2026-11-27T23:30:00+09:00 or "2026-11-27 23:30"`, w.at)
			}
		}
	}
	card := &agentcard.Card{Card: identity.Card{Name: "agent"}}
	if w.card != "" {
		data, err := base.ReadFile(w.card)
		if err != nil {
			return nil, at, err
		}
		if card, err = agentcard.Parse(data); err != nil {
			return nil, at, failure.New(failure.Invalid, fmt.Errorf("policy test: agent card %s: %w", w.card, err), "")
		}
	}
	if w.card == "" && w.skills == nil {
		return nil, at, failure.Usagef("policy test: which agent? Name its card with -a, or its skills with -s")
	}
	if w.skills != nil {
		card.Skills = nil
		for _, id := range w.skills {
			card.Skills = append(card.Skills, identity.Skill{ID: id})
		}
	}
	return card, at, nil
}

// identify says which role an agent gets, and what each rule makes of it.
func (a *app) identify(ctx context.Context, who agent) error {
	a.OnDisk = true
	card, at, err := who.read()
	if err != nil {
		return err
	}
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	a.SayUntrusted(v)
	got := v.Identify(ctx, card, at)
	if a.JSON {
		return a.PrintJSON(got)
	}
	facts := [][]string{{"agent", got.Agent}, {"skills", base.OrDash(strings.Join(got.Skills, ", "))}, {"time", at.Format(time.RFC3339)},
		{"card", text.Flatten(got.Signed)}, {"role", base.OrDash(got.Role)}, {"because", text.Flatten(got.Reason)}}
	if !got.Until.IsZero() {
		facts = append(facts, []string{"until", got.Until.Format(time.RFC3339)})
	}
	a.Facts(facts)
	if len(got.Verdicts) == 0 {
		return nil
	}
	fmt.Fprintln(a.Out)
	var rows [][]string
	for _, r := range got.Verdicts {
		mark := "·"
		if r.Match {
			mark = "✓"
		}
		rows = append(rows, []string{r.From, fmt.Sprint(r.Rule), fmt.Sprint(r.Priority), r.Role, mark, r.Why})
	}
	a.Table(base.Column{Name: "SKILL"}, base.Column{Name: "RULE", Drop: 2}, base.Column{Name: "PRIORITY", Drop: 1}, base.Column{Name: "ROLE"},
		base.Column{}, base.Column{Name: "WHY", Least: 30}).Print(rows...)
	return nil
}
