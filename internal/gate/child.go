package gate

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
)

// Child is a subagent of the agent that a session belongs to: a principal of its own, which never exceeds the session's (W4).
type Child struct {
	ID   string // the agent's own id of it
	Type string // what kind of subagent it is, as the agent calls it
	Role string // the role that it was given; empty, or one that the policy does not know: the session's. It only narrows.
}

// maxChild bounds the id of a child, in bytes: it becomes part of a principal's id.
const maxChild = 100

// name is the id of the child's principal: below its parent's.
func (c *Child) name(parent string) string {
	id := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, c.ID)
	return parent + "/" + bounded(id, maxChild)
}

// scopedFor is what decides about a child of the session, or about the session itself: nil.
func (s *Session) scopedFor(c *Child) *scoped {
	sc := s.now()
	if c == nil {
		return sc
	}
	return sc.child(c)
}

// child is the scope of a child: its principal has the session's as its parent, switches to no role, and has those of the session's
// active skills that are open to its own role. What its parent may not do with its own active skills is decided besides (decideAs).
func (sc *scoped) child(c *Child) *scoped {
	p := sc.world.Policy
	role := sc.state.role
	if _, ok := p.Role(c.Role); ok && c.Role != "" {
		role = c.Role
	}
	parent := sc.scope.Principal
	st := &state{role: role, asked: asked{Only: sc.scope.Skills}}
	out := &scoped{id: sc.id, state: st, world: sc.world, parent: sc, bounds: sc.bounds, fixed: sc.fixed, known: sc.known, open: sc.open}
	if role != sc.state.role {
		out.known = true
		open := p.OpenSkills(role)
		out.open = slices.DeleteFunc(slices.Clone(sc.open), func(name string) bool { return !slices.Contains(open, name) })
		out.bounds = slices.Clone(sc.bounds)
		for _, b := range p.Bounds(role) {
			if !slices.ContainsFunc(out.bounds, func(o policy.Bound) bool { return o.Name == b.Name && o.Session == b.Session }) {
				out.bounds = append(out.bounds, b)
			}
		}
	}
	active := slices.DeleteFunc(slices.Clone(sc.scope.Skills), func(name string) bool { return !slices.Contains(out.open, name) })
	out.scope = policy.Scope{
		Principal: policy.Principal{ID: c.name(parent.ID), Role: role, Parent: &parent},
		Skills:    active, Stage: sc.scope.Stage,
	}
	return out
}

// decideAs asks the policy. A child is also decided as the session that it belongs to, with the skills that are active there, and the
// stricter answer stands: the policy by itself would take its parent to have every skill that is open to it.
func (sc *scoped) decideAs(c policy.Call) policy.Decision {
	c.Scope = sc.scope
	d := sc.world.Policy.Decide(c)
	if sc.parent == nil || d.Unknown {
		return d
	}
	above := sc.parent.decideAs(c)
	if above.Unknown || above.Effect < d.Effect {
		return above
	}
	d.Guard = d.Guard.And(above.Guard)
	return d
}

// Shows reports whether a session, or a child of it, sees an item.
func (g *Gate) Shows(s *Session, c *Child, it policy.Item) bool {
	for sc := s.scopedFor(c); sc != nil; sc = sc.parent {
		if !sc.world.Policy.Visible(sc.scope, it) {
			return false
		}
	}
	return true
}
