package ops

import (
	"context"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ground"
	"mycelium/internal/swarm/material"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/swarm/planning"
)

// prepare changes what is known of a feature before its worker begins. A session that ended with failures goes on.
func (o Ops) prepare(ctx context.Context, id, feature string, f func(s *book.Session) (book.Event, error)) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		of, err := Find(s, feature)
		if err != nil {
			return book.Event{}, err
		}
		e, err := f(s)
		if err == nil && of.State == book.Pending && s.State == book.Faulty {
			s.State, s.Ended = book.Going, time.Time{}
		}
		return e, err
	})
}

// Compete has two planners compete for a feature before its worker begins.
func (o Ops) Compete(ctx context.Context, id, feature string, c planning.Competition) error {
	return o.prepare(ctx, id, feature, func(s *book.Session) (book.Event, error) { return planning.Compete(s, feature, c, o.By) })
}

// Choose takes the plan of a planner (A or B) for a feature, or none.
func (o Ops) Choose(ctx context.Context, id, feature, winner, reason string) error {
	return o.prepare(ctx, id, feature, func(s *book.Session) (book.Event, error) { return planning.Choose(s, feature, winner, reason, o.By) })
}

// Route says who may work on a feature, and beside whom.
func (o Ops) Route(ctx context.Context, id, feature string, r plan.Route, rights planning.Rights) error {
	return o.prepare(ctx, id, feature, func(s *book.Session) (book.Event, error) { return planning.SetRoute(s, feature, r, rights, o.By) })
}

// SetContext gives a feature something to be read by its worker: beside what it has, or in its place.
func (o Ops) SetContext(ctx context.Context, id, feature string, c material.Context, merge bool) error {
	return o.prepare(ctx, id, feature, func(s *book.Session) (book.Event, error) { return planning.SetContext(s, feature, c, merge, o.By) })
}

// Material is what the worker of a feature would be given to read if it began now.
func (o Ops) Material(ctx context.Context, s *book.Session, feature string, rights planning.Rights, governs func(*ground.Repo, string) bool,
	b material.Bounds) (material.Material, error) {
	f, err := Find(s, feature)
	if err == nil {
		err = b.Check()
	}
	if err != nil {
		return material.Material{}, err
	}
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return material.Material{}, err
	}
	from := ground.Commit(s.Base)
	if !s.Closed { // its branch stands
		if from, err = g.Tip(ctx); err != nil {
			return material.Material{}, err
		}
	}
	return planning.Gather(ctx, g, s, f, from, rights, func(path string) bool { return governs(g, path) }, b)
}
