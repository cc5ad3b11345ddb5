package gate

import (
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// List returns what a session sees of one kind, sorted, from a snapshot that is computed only when something changed. The
// slice is shared: do not modify it.
func (g *Gate) List(s *Session, k policy.Kind) []view.Listed {
	if int(k) >= len(view.Lists{}.Items) {
		return nil
	}
	return s.look().Items[k]
}

// Templates lists the resource templates that a session's grants admit: those whose text, taken as a URI, a grant covers. To
// read through a template that is not listed is decided by the URI that comes of it, like any other.
func (g *Gate) Templates(s *Session) []view.Listed { return s.look().Templates }

// look is what the session sees now, and notes that it was shown. When the world changes meanwhile it looks again: either
// this loop sees the new world, or [Gate.Swap] sees what was shown, and tells the session.
func (s *Session) look() *view.Lists {
	for {
		sc := s.now()
		v := sc.view()
		if s.shown.Load() != v {
			s.shown.Store(v)
		}
		if s.gate.world.Load() == sc.world && s.state.Load() == sc.state {
			return v
		}
	}
}

// view computes what the scope sees, once.
func (sc *scoped) view() *view.Lists {
	sc.once.Do(func() { sc.seen = sc.world.Lists(sc.scope, sc.open) })
	return sc.seen
}

// sees is the one predicate of visibility, that of calls.
func (sc *scoped) sees(it policy.Item) bool { return sc.world.Policy.Visible(sc.scope, it) }

// Capabilities are what the servers that a session sees declared.
func (g *Gate) Capabilities(s *Session) []byte {
	sc := s.now()
	return sc.world.Capabilities(sc.view())
}

// Resolve reads the name or URI that clients use.
func (g *Gate) Resolve(k policy.Kind, asked string) policy.Item {
	return g.world.Load().Resolve(k, asked)
}

// ClientName is an item's name or URI in the form that clients use.
func (g *Gate) ClientName(it policy.Item) string { return g.world.Load().ClientName(it) }
