package mcpserver

import (
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
)

// resolve reads the name or URI that a client uses. A client of one server has its tools, by their bare names, and nothing else.
func (s *Server) resolve(l Link, kind policy.Kind, asked string) policy.Item {
	switch {
	case l.Only == "":
		if kind == policy.Resource {
			if it, ok := l.session.Linked(asked); ok {
				return it
			}
		}
		return s.gate.Resolve(kind, asked)
	case kind == policy.Tool:
		return policy.Item{Server: l.Only, Name: asked}
	}
	return policy.Item{Kind: kind}
}

// listed is what a list has for a client: what the session sees, or the part of it that belongs to the one server that is served.
func (l Link) listed(kind policy.Kind, all []view.Listed) []view.Listed {
	if l.Only == "" {
		return all
	}
	out := []view.Listed{}
	if kind != policy.Tool {
		return out
	}
	for _, e := range l.session.List(policy.Tool) { // all of them, however long the list is
		if e.Item.Server != l.Only {
			continue
		}
		if raw, err := view.SetString(e.Raw, "name", e.Item.Name); err == nil {
			e.Raw = raw
			out = append(out, e)
		}
	}
	return out
}
