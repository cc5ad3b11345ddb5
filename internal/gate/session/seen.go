package session

import (
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// List returns what the session sees of one kind, sorted. It is computed only after a change. The slice is shared: do not modify it.
func (s *Session) List(k policy.Kind) []view.Listed {
	if int(k) >= len(view.Lists{}.Items) {
		return nil
	}
	return s.Look().Items[k]
}

// Templates returns the resource templates that the grants of the session admit: those whose text, taken as a URI, a grant covers. A
// read through any template is decided by the URI that is read.
func (s *Session) Templates() []view.Listed { return s.Look().Templates }

// Look returns what the session sees now, and notes that it was shown. If the world changes meanwhile it looks again: either this loop
// sees the new world, or [Registry.Swap] sees what was shown, and tells the session.
func (s *Session) Look() *view.Lists {
	for {
		sc := s.Snapshot()
		v := sc.View()
		if s.shown.Load() != v {
			s.shown.Store(v)
		}
		if s.registry.world.Load() == sc.World && s.state.Load() == sc.state {
			return v
		}
	}
}

// Capabilities returns what the servers that the session sees declared. See [view.Catalog.Capabilities].
func (s *Session) Capabilities() []byte {
	sc := s.Snapshot()
	return sc.World.Capabilities(sc.View())
}
