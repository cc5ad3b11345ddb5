package gate

import (
	"slices"
	"strings"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Child is a subagent of the agent that a session belongs to: a principal of its own, which never exceeds the session's (W4).
type Child struct {
	ID   string // the agent's own id of it
	Type string // what kind of subagent it is, as the agent calls it
	// Roles are those that it was given. The first that the policy knows is its role, and what the session or any other of them may not
	// do it may not do either: a role given to a child only narrows. None: it has the session's.
	Roles []string
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
	return parent + "/" + text.Truncate(id, maxChild)
}

// snapshotFor is what decides about a child of the session, or about the session itself: nil.
func (s *Session) snapshotFor(c *Child) *snapshot {
	sc := s.snapshot()
	if c == nil {
		return sc
	}
	id := c.name(sc.scope.Principal.ID)
	var roles []string
	for _, name := range c.Roles {
		if v, ok := sc.world.Policy.Role(name); ok && !slices.Contains(roles, v.ID) {
			roles = append(roles, v.ID)
		}
	}
	if len(roles) == 0 {
		return sc.child(id, sc.state.role)
	}
	slices.Reverse(roles) // the first one is the last to be taken, and is what the log shows
	for _, name := range roles {
		sc = sc.child(id, name)
	}
	return sc
}

// child is the scope of a child in a role: its principal has the one above as its parent, switches to no role, and has those of the
// skills active above that are open to its own role. What is decided above stands besides (decideAs).
func (sc *snapshot) child(id, role string) *snapshot {
	p := sc.world.Policy
	out := &snapshot{
		id: sc.id, state: &state{role: role, asked: asked{Only: sc.scope.Skills}}, world: sc.world, parent: sc,
		bounds: sc.bounds, fixed: sc.fixed, open: sc.open, known: sc.known,
	}
	if role != sc.state.role {
		out.known = true
		open := p.OpenSkills(role)
		out.open = slices.DeleteFunc(slices.Clone(sc.open), func(name string) bool { return !slices.Contains(open, name) })
		out.bounds = slices.Clone(sc.bounds)
		for _, b := range p.Bounds(role) {
			if !slices.ContainsFunc(out.bounds, func(o policy.Bound) bool { return o.Name == b.Name }) {
				out.bounds = append(out.bounds, b)
			}
		}
	}
	active := slices.DeleteFunc(slices.Clone(sc.scope.Skills), func(name string) bool { return !slices.Contains(out.open, name) })
	above := sc.scope.Principal
	out.scope = policy.Scope{Principal: policy.Principal{ID: id, Role: role, Parent: &above}, Skills: active, Stage: sc.scope.Stage}
	return out
}

// guards are what is done to any result of an item, here and above.
func (sc *snapshot) guards(it policy.Item) policy.Guard {
	var out policy.Guard
	for ; sc != nil; sc = sc.parent {
		out = out.And(sc.world.Policy.Guards(sc.scope, it))
	}
	return out
}

// shows reports whether an item is seen, here and above.
func (sc *snapshot) shows(it policy.Item) bool {
	for ; sc != nil; sc = sc.parent {
		if !sc.world.Policy.Visible(sc.scope, it) {
			return false
		}
	}
	return true
}

// Shows reports whether a session, or a child of it, sees an item.
func (s *Session) Shows(c *Child, it policy.Item) bool { return s.snapshotFor(c).shows(it) }
