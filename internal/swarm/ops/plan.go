package ops

import (
	"context"
	"fmt"
	"slices"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/plan"
	"mycelium/internal/text"
)

// Add adds a feature to the plan of a session, behind the feature after, or at the end if that is empty. It returns the id that it has.
func (o Ops) Add(ctx context.Context, id string, f plan.Feature, after string) (added string, err error) {
	err = o.replan(ctx, id, func(p plan.Plan) (plan.Plan, string, error) {
		next, err := p.Add(f, after)
		for _, n := range next.Features {
			if _, had := p.Feature(n.ID); !had {
				added = n.ID
			}
		}
		return next, o.By + " added a feature: " + f.Description, err
	})
	return added, err
}

// Depend has a feature depend on exactly the features on; none clears its dependencies.
func (o Ops) Depend(ctx context.Context, id, feature string, on []string) error {
	return o.replan(ctx, id, func(p plan.Plan) (plan.Plan, string, error) {
		p, err := p.Depend(feature, on)
		return p, feature + " depends on " + list(on) + " now", err
	})
}

// replan changes the plan of a session. What a worker has begun keeps its dependencies.
func (o Ops) replan(ctx context.Context, id string, f func(plan.Plan) (p plan.Plan, what string, err error)) error {
	return o.change(ctx, id, func(s *book.Session) (book.Event, error) {
		if err := s.Reopen(); err != nil {
			return book.Event{}, err
		}
		p, what, err := f(s.Plan())
		if err != nil {
			return book.Event{}, err
		}
		old := s.Features
		s.Features = nil
		for _, n := range p.Features {
			i := slices.IndexFunc(old, func(f *book.Feature) bool { return f.ID == n.ID })
			if i < 0 {
				s.Features = append(s.Features, &book.Feature{Feature: n, State: book.Pending})
				continue
			}
			if len(old[i].Attempts) > 0 && !slices.Equal(old[i].DependsOn, n.DependsOn) {
				return book.Event{}, text.Hinted(fmt.Errorf("feature %s has been given to a worker already", n.ID),
					"add a feature that depends on it")
			}
			old[i].Feature = n
			s.Features = append(s.Features, old[i])
		}
		return book.Event{Kind: "plan", Text: what}, nil
	})
}
