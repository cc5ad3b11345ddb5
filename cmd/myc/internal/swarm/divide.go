package swarm

import (
	"context"
	"errors"
	"fmt"

	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
)

// divide has a model divide a task into features, and a person accept them.
func (a *app) divide(ctx context.Context, o *open.Swarm, b *begin) (plan.Plan, error) {
	if err := o.Free(ctx); err != nil { // before a model is paid
		return plan.Plan{}, err
	}
	role := b.settings.Role
	if role == "" {
		role = o.Project.File.Session.RoleOfAgent()
	}
	rights, err := a.Rights(o)
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
	found, err := planning.Gather(ctx, g, &book.Session{Settings: book.Settings{Role: role}},
		&book.Feature{Feature: plan.Feature{ID: "task", Description: b.task}}, head, rights,
		func(path string) bool { return swarmed.Governs(g.Prefix(), path) }, about)
	if err != nil {
		return plan.Plan{}, err
	}
	fmt.Fprintln(a.Err, "myc: the task is no list, so a model divides it into features …")
	p, usd, err := planning.Divide(ctx, a.Ask(role, b.settings.Model), b.task, found.Prompt())
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
