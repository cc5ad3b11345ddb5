package session

import (
	"context"
	"slices"
	"time"

	"mycelium/internal/gate/view"
)

// Await waits until a server whose tools the session's skills name has said for the first time what it offers, or could not be started.
// It waits at most as long as the server may take to start. For any other server, and for one that is known, it does not wait. The name ""
// means each server that the skills name.
func (s *Session) Await(ctx context.Context, server string) {
	var over <-chan time.Time
	for {
		swapped := s.registry.swapped.wait() // before the world is read, so that a change in between is not missed
		limit := s.awaits(server)
		if limit == 0 {
			return
		}
		if over == nil {
			t := time.NewTimer(limit)
			defer t.Stop()
			over = t.C
		}
		select {
		case <-swapped:
		case <-over:
			return
		case <-s.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// awaits returns how long the session waits for a server; 0: it does not.
func (s *Session) awaits(server string) (limit time.Duration) {
	w := s.registry.world.Load()
	if len(w.Learning) == 0 || w.Ahead == nil {
		return 0
	}
	ahead := s.scopeIn(s.state.Load(), &view.Catalog{World: view.World{Policy: w.Ahead}})
	for _, k := range w.Skills.Pending() {
		if !slices.Contains(ahead.Scope.Skills, k.Name) {
			continue
		}
		for _, name := range k.Waits {
			if server == "" || server == name {
				limit = max(limit, w.Learning[name])
			}
		}
	}
	return limit
}
