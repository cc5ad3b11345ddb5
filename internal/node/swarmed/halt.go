package swarmed

import (
	"context"

	"mycelium/internal/state"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
)

// Halt has the workers of a paused session stopped, and does not wait for that. Its driver does it, or one that is started for it in a
// terminal of the swarm's own. runtime is $XDG_RUNTIME_DIR, environ the environment of the person.
func Halt(ctx context.Context, o ops.Ops, paths state.Paths, runtime string, environ []string, s *book.Session) error {
	driven, err := o.Driven(ctx, s.ID)
	if err != nil || driven {
		return err
	}
	for _, f := range s.Features {
		if f.Live() != nil {
			return Launch(ctx, paths, runtime, WorkerEnviron(environ, s.Settings.Runner), s.ID)
		}
	}
	return nil
}
