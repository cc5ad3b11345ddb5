package ops

import (
	"context"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/review"
)

// Review has what has landed reviewed, and returns the session. Whoever drives it starts the reviewers.
func (o Ops) Review(ctx context.Context, id string, types []string, force bool) (*book.Session, error) {
	g, err := o.Ground(ctx, id)
	if err != nil {
		return nil, err
	}
	tip, err := g.Tip(ctx)
	if err != nil {
		return nil, err
	}
	return o.Change(ctx, id, "", func(s *book.Session) ([]book.Event, error) { return review.Ask(s, string(tip), types, force, o.By) })
}

// Implement makes features of issues that the reviews found, and returns their ids.
func (o Ops) Implement(ctx context.Context, id string, c review.Choice) (ids []string, err error) {
	_, err = o.Change(ctx, id, "", func(s *book.Session) (events []book.Event, err error) {
		ids, events, err = review.Implement(s, c, o.By)
		return events, err
	})
	return ids, err
}

// Configure changes which reviews a session has, and returns the session. Only a person takes one away.
func (o Ops) Configure(ctx context.Context, id string, c review.Change) (*book.Session, error) {
	return o.Change(ctx, id, "", func(s *book.Session) ([]book.Event, error) { return review.Configure(s, c, o.By == Person, o.By) })
}
