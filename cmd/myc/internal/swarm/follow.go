package swarm

import (
	"context"
	"time"
)

// followEvery is how often the events of a session are looked for.
const followEvery = 200 * time.Millisecond

// follow prints what happens in a session from now on until ctx ends, and what has happened by then.
func (a *app) follow(ctx context.Context, o *opened, id string) {
	_ = a.from(ctx, o, id, 0, func() bool { return false }) // what cannot be told stops no driver
}

// tail prints the last events of a session, and those that come, to its end or that of ctx.
func (a *app) tail(ctx context.Context, o *opened, id string, last int) error {
	return a.from(ctx, o, id, last, func() bool {
		s, err := o.Read(ctx, id)
		return err != nil || !s.Open()
	})
}

// from prints the last events of a session, and those that come until ctx ends or over says that no more come. over is asked at first, and
// after an event.
func (a *app) from(ctx context.Context, o *opened, id string, last int, over func() bool) error {
	before, err := o.Events(ctx, id, 0, max(last, 1))
	if err != nil {
		return err
	}
	var after int64
	switch {
	case len(before) == 0:
	case last == 0:
		after = before[0].Seq
	default:
		after = before[0].Seq - 1
	}
	look := time.NewTicker(followEvery)
	defer look.Stop()
	for ask := true; ; {
		ended := ctx.Err() != nil || ask && over()
		events, err := o.Events(context.WithoutCancel(ctx), id, after, 0)
		if err != nil {
			return err
		}
		for _, e := range events {
			after = e.Seq
			a.event(e)
		}
		if ended {
			return nil
		}
		ask = len(events) > 0
		select {
		case <-ctx.Done():
		case <-look.C:
		}
	}
}
