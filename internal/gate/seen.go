package gate

import (
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// List returns what a session sees of one kind, sorted, from a snapshot that is computed only when something changed. The
// slice is shared: do not modify it.
func (s *Session) List(k policy.Kind) []view.Listed {
	if int(k) >= len(view.Lists{}.Items) {
		return nil
	}
	return s.look().Items[k]
}

// Templates lists the resource templates that a session's grants admit: those whose text, taken as a URI, a grant covers. To
// read through a template that is not listed is decided by the URI that comes of it, like any other.
func (s *Session) Templates() []view.Listed { return s.look().Templates }

// look is what the session sees now, and notes that it was shown. When the world changes meanwhile it looks again: either
// this loop sees the new world, or [Registry.Swap] sees what was shown, and tells the session.
func (s *Session) look() *view.Lists {
	for {
		sc := s.snapshot()
		v := sc.view()
		if s.shown.Load() != v {
			s.shown.Store(v)
		}
		if s.registry.world.Load() == sc.world && s.state.Load() == sc.state {
			return v
		}
	}
}

// view computes what the scope sees, once.
func (sc *snapshot) view() *view.Lists {
	sc.once.Do(func() { sc.seen = sc.world.Lists(sc.scope, sc.open) })
	return sc.seen
}

// sees is the one predicate of visibility, that of calls.
func (sc *snapshot) sees(it policy.Item) bool { return sc.world.Policy.Visible(sc.scope, it) }

// Capabilities are what the servers that a session sees declared.
func (s *Session) Capabilities() []byte {
	sc := s.snapshot()
	return sc.world.Capabilities(sc.view())
}
