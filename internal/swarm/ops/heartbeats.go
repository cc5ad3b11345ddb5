package ops

import (
	"context"
	"time"

	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/monitor"
)

// Heartbeats are those of the workers of a session that are at work, by feature.
func Heartbeats(ctx context.Context, o Ops, s *book.Session, now time.Time) (map[string]monitor.Heartbeat, error) {
	out := map[string]monitor.Heartbeat{}
	for _, f := range s.Features {
		t := f.Live()
		if t == nil {
			continue
		}
		g, err := o.Ground(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		if out[f.ID], err = monitor.HeartbeatOf(ctx, g, f, t, now); err != nil {
			return nil, err
		}
	}
	return out, nil
}
