package session

import (
	"slices"
	"strings"
	"sync"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Snapshot is what a state comes to in a world: the role and skills of a session, seen through the policy of one moment. It is
// immutable.
type Snapshot struct {
	id    string // of the session
	state *state
	World *view.Catalog
	Scope policy.Scope
	Open  []string // skills that the role may activate
	Fixed []string // protected: the start set, which no agent takes apart
	Known bool     // the role exists

	Bounds []policy.Bound // the limits of its calls
	Parent *Snapshot      // of a child: the session that it belongs to; of a sub-agent: what started it
	above  *Snapshot      // of a sub-agent: the session that started it

	once sync.Once
	seen *view.Lists // computed when first asked for
}

// Closed returns the names that the rules close to commands of this scope.
func (sc *Snapshot) Closed() (policy.Closed, error) { return sc.World.Policy.Closed(sc.Scope) }

// Snapshot returns the session's state seen through the world of this moment. It takes no lock: two callers may compute the same.
func (s *Session) Snapshot() *Snapshot {
	st, w := s.state.Load(), s.registry.world.Load()
	if sc := s.last.Load(); sc != nil && sc.state == st && sc.World == w && (s.above == nil || sc.above == s.above.Snapshot()) {
		return sc
	}
	sc := s.scopeIn(st, w)
	s.last.Store(sc)
	return sc
}

// scopeIn returns what a state comes to in a world.
func (s *Session) scopeIn(st *state, w *view.Catalog) *Snapshot {
	if s.above != nil {
		return s.scopeBelow(st, w)
	}
	sc := &Snapshot{id: s.ID, state: st, World: w}
	if st.role != "" {
		_, sc.Known = w.Policy.Role(st.role)
		sc.Open = w.Policy.OpenSkills(st.role)
		sc.Bounds = w.Policy.Bounds(st.role)
	}
	first := st.asked.Only
	if first == nil && st.role != "" {
		first = w.Policy.StartSkills(st.role)
	}
	admit := func(name string) bool { return slices.Contains(sc.Open, name) }
	active := []string{}
	for _, name := range first {
		if admit(name) {
			sc.Fixed = append(sc.Fixed, name)
			if !slices.Contains(st.asked.Removed, name) {
				active = append(active, name)
			}
		}
	}
	for _, name := range st.asked.Added {
		if admit(name) {
			active = append(active, name)
		}
	}
	slices.Sort(active)
	p := s.Principal
	p.Role, p.Roles = st.role, st.may
	if w.FixedRoles { // set_role is absent, and tells of no other role
		p.Roles = NonEmpty(st.role)
	}
	sc.Scope = policy.Scope{Principal: p, Skills: slices.Compact(active), Folder: s.Folder, Only: s.Writes}
	return sc
}

// Within returns the snapshot of a caller whose commands run in a profile of the sandbox and nowhere else.
func (sc *Snapshot) Within(profile string) *Snapshot {
	out := &Snapshot{id: sc.id, state: sc.state, World: sc.World, Scope: sc.Scope, Open: sc.Open, Fixed: sc.Fixed, Known: sc.Known,
		Bounds: sc.Bounds, above: sc.above}
	out.Scope.Profile = profile
	if sc.Parent != nil {
		out.Parent = sc.Parent.Within(profile)
	}
	return out
}

// Boxes reports whether a call may have to run in a sandbox, for a scope of the caller or for one above it.
func (sc *Snapshot) Boxes(scope *policy.Scope) bool {
	return sc.World.Policy.Boxes(scope) || sc.Parent != nil && sc.Parent.Boxes(&sc.Parent.Scope)
}

// MayTake returns the roles that the session may switch to and that exist, the present one included, sorted.
func (sc *Snapshot) MayTake() []string {
	var roles []string
	for _, r := range sc.Scope.Principal.Roles {
		if _, ok := sc.World.Policy.Role(r); ok {
			roles = append(roles, r)
		}
	}
	return roles
}

// InRole returns what a snapshot would be in another role.
func (s *Session) InRole(sc *Snapshot, role string) *Snapshot {
	return s.scopeIn(&state{role: role, asked: sc.state.asked}, sc.World)
}

// Promotion returns the mode in which skills become active here: the stricter one of the session section's and the role's.
func (sc *Snapshot) Promotion() string {
	mode := sc.World.PromotionMode()
	if v, ok := sc.World.Policy.Role(sc.state.role); ok {
		mode = policy.StricterPromotion(mode, v.Promotion)
	}
	if sc.Parent != nil {
		mode = policy.StricterPromotion(mode, sc.Parent.Promotion())
	}
	return mode
}

// Removed reports whether the operator took a skill away.
func (sc *Snapshot) Removed(skill string) bool { return slices.Contains(sc.state.asked.Removed, skill) }

// Child is a subagent of the agent that a session belongs to. It is a principal of its own, which never exceeds the session's (W4).
type Child struct {
	ID   string // the agent's own id of it
	Type string // what kind of subagent it is, as the agent calls it
	// Roles are those that it was given. The first that the policy knows is its role, and what the session or any other of them may not
	// do it may not do either: a role given to a child only narrows. None: it has the session's.
	Roles []string
	Depth int // 1: the agent itself started it; 2: a subagent of that depth did. [MaxDepth] starts no other
}

// MaxDepth is the depth of subagents that start no others (requirements, D34).
const MaxDepth = 2

// maxChild bounds the id of a child, in bytes, which becomes part of the id of a principal.
const maxChild = 100

// name returns the id of the child's principal: below its parent's.
func (c *Child) name(parent string) string {
	id := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, c.ID)
	return parent + "/" + text.Truncate(id, maxChild)
}

// SnapshotFor returns the snapshot that decides about a child of the session, or about the session itself if c is nil.
func (s *Session) SnapshotFor(c *Child) *Snapshot {
	return s.Snapshot().of(c)
}

// of is [Session.SnapshotFor] of one moment.
func (sc *Snapshot) of(c *Child) *Snapshot {
	if c == nil {
		return sc
	}
	id := c.name(sc.Scope.Principal.ID)
	var roles []string
	for _, name := range c.Roles {
		if v, ok := sc.World.Policy.Role(name); ok && !slices.Contains(roles, v.ID) {
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

// child returns the snapshot of a child in a role. Its principal has the principal above as its parent, switches to no role, and has
// those of the active skills that are open to its own role. The gate also decides each call as what is above (Parent).
func (sc *Snapshot) child(id, role string) *Snapshot {
	p := sc.World.Policy
	out := &Snapshot{
		id: sc.id, state: &state{role: role, asked: asked{Only: sc.Scope.Skills}}, World: sc.World, Parent: sc,
		Bounds: sc.Bounds, Fixed: sc.Fixed, Open: sc.Open, Known: sc.Known,
	}
	if role != sc.state.role {
		out.Known = true
		open := p.OpenSkills(role)
		out.Open = slices.DeleteFunc(slices.Clone(sc.Open), func(name string) bool { return !slices.Contains(open, name) })
		out.Bounds = slices.Clone(sc.Bounds)
		for _, b := range p.Bounds(role) {
			if !slices.ContainsFunc(out.Bounds, func(o policy.Bound) bool { return o.Name == b.Name }) {
				out.Bounds = append(out.Bounds, b)
			}
		}
	}
	active := slices.DeleteFunc(slices.Clone(sc.Scope.Skills), func(name string) bool { return !slices.Contains(out.Open, name) })
	above := sc.Scope.Principal
	out.Scope = policy.Scope{Principal: policy.Principal{ID: id, Role: role, Parent: &above}, Skills: active, Stage: sc.Scope.Stage,
		Folder: sc.Scope.Folder, Only: sc.Scope.Only}
	return out
}

// Guards returns what is done to any result of an item, here and above.
func (sc *Snapshot) Guards(it policy.Item) policy.Guard {
	var out policy.Guard
	for ; sc != nil; sc = sc.Parent {
		out = out.And(sc.World.Policy.Guards(sc.Scope, it))
	}
	return out
}

// Sees reports whether an item is visible, here and above. It is the same predicate as that of calls.
func (sc *Snapshot) Sees(it policy.Item) bool {
	for ; sc != nil; sc = sc.Parent {
		if !sc.World.Policy.Visible(sc.Scope, it) {
			return false
		}
	}
	return true
}

// Shows reports whether a session, or a child of it, sees an item.
func (s *Session) Shows(c *Child, it policy.Item) bool { return s.SnapshotFor(c).Sees(it) }

// View returns what the snapshot sees. It is computed once.
func (sc *Snapshot) View() *view.Lists {
	sc.once.Do(func() {
		var above func(policy.Item) bool
		if sc.Parent != nil {
			above = sc.Parent.Sees
		}
		sc.seen = sc.World.Lists(sc.Scope, sc.Open, above)
	})
	return sc.seen
}
