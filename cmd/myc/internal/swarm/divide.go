package swarm

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/cmd/myc/internal/engine"
	"mycelium/internal/agent"
	"mycelium/internal/agent/structured"
	"mycelium/internal/approval"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
)

// askBudget is what one question to a model may cost, in US dollars.
const askBudget = 2

// ask asks the model of the engine that works here, in a session of a role, without any tools.
func (a *app) ask(role, model string) swarm.Ask {
	return func(ctx context.Context, schema, said string) (_ jsontext.Value, usd float64, err error) {
		form, err := structured.Parse([]byte(schema))
		if err != nil {
			return nil, 0, err
		}
		e, err := engine.Open(ctx, a.App, engine.Options{Role: role, Model: model, Ask: approval.AskReached, Toolless: true, Budget: askBudget,
			Anywhere: a.anywhere})
		if err != nil {
			return nil, 0, err
		}
		defer func() { err = errors.Join(err, e.Close()) }()
		turn, answer, err := form.Say(ctx, e, said, func(agent.Event) {})
		if err == nil && turn.Stop != agent.StopEnd {
			err = fmt.Errorf("the model did not answer: %s", turn.Stop)
		}
		return answer, turn.Cost, err
	}
}

// rights is what the policy gives the workers.
func (a *app) rights(o *opened) (swarm.Rights, error) {
	if o.view == nil {
		v, err := a.OpenView()
		if err != nil {
			return nil, err
		}
		o.view = v
	}
	return swarmed.Rights{View: o.view}, nil
}

// divide has a model divide a task into features, and a person accept them.
func (a *app) divide(ctx context.Context, o *opened, b *begin) (plan.Plan, error) {
	if err := o.Free(ctx); err != nil { // before a model is paid
		return plan.Plan{}, err
	}
	role := b.settings.Role
	if role == "" {
		role = o.project.File.Session.RoleOfAgent()
	}
	rights, err := a.rights(o)
	if err != nil {
		return plan.Plan{}, err
	}
	g, err := o.Ground(ctx, "new")
	if err != nil {
		return plan.Plan{}, err
	}
	head, _, err := g.Head(ctx)
	if err != nil {
		return plan.Plan{}, err
	}
	about := material.Defaults()
	about.Files = 5
	found, err := swarm.Gather(ctx, g, &book.Session{Settings: book.Settings{Role: role}},
		&book.Feature{Feature: plan.Feature{ID: "task", Description: b.task}}, head, rights,
		func(path string) bool { return governs(g.Prefix(), path) }, about)
	if err != nil {
		return plan.Plan{}, err
	}
	fmt.Fprintln(a.Err, "myc: the task is no list, so a model divides it into features …")
	p, usd, err := swarm.Divide(ctx, a.ask(role, b.settings.Model), b.task, found.Prompt())
	if err != nil {
		return plan.Plan{}, fmt.Errorf("divide the task into features: %w", err)
	}
	if err := a.settle(o, b, p); err != nil {
		return plan.Plan{}, err
	}
	s := &book.Session{Settings: b.settings}
	for _, f := range p.Features {
		s.Features = append(s.Features, &book.Feature{Feature: f, State: book.Pending})
	}
	if !a.JSON {
		a.features(p)
		if err := a.picture(s); err != nil {
			return plan.Plan{}, err
		}
		fmt.Fprintf(a.Out, "\ndivided by a model for $%.2f\n", usd)
	}
	if !b.yes && !a.Confirm("Begin a session with these features? [y/N] ") {
		return plan.Plan{}, failure.Hint(errors.New("no session was begun"), "--yes takes what the model says without a question; "+
			"a list (- one feature a line) needs no model")
	}
	return p, nil
}
