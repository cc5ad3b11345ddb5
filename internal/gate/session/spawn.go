package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/credential"
	"mycelium/internal/gate/view"
)

// MaxChildren bounds the sub-agents of one session that are at work at once (requirements, E14: the agents of a run).
const MaxChildren = 5

// Start is the start of a sub-agent by the agent of a session.
type Start struct {
	Role string
	By   *Child // the subagent that starts it; nil: the agent itself
	Call string // id of the call that does
}

// Spawn mints the session of a sub-agent of this one, with a credential. Its principal is a child of the one that starts it: at every
// moment it has those of the skills active above that are open to its role, sees no item that is hidden above, shares the limits of
// the session above and what that is known to have written, and asks nobody whom that does not ask. It ends with the session above. It is
// not kept in the database: when this process ends, its credential is void. Refusals are of the type Refusal.
func (s *Session) Spawn(ctx context.Context, start Start) (*Session, string, error) {
	r := s.registry
	sc := s.SnapshotFor(start.By)
	role, err := sc.mayStart(start.Role)
	if err != nil {
		return nil, "", err
	}
	if depth := s.Depth(start.By); depth >= MaxDepth {
		return nil, "", Refusal(fmt.Sprintf("Sub-agents start others to a depth of %d, and this one is as deep. Do the work here, or leave it "+
			"to the agent above", MaxDepth))
	}
	token, hash, err := newToken()
	if err != nil {
		return nil, "", err
	}
	id := audit.NewID()
	child := r.newSession(Spec{ID: id, Name: "sub-agent", Principal: sc.Scope.Principal.ID + "/" + id, Role: role,
		Asks: cmp.Or(s.Asks, approval.AskReached)})
	child.hash, child.above, child.by, child.Written = hash, s, start.By, s.Written
	s.mu.Lock() // so that two starts at once are not both the last one
	defer s.mu.Unlock()
	if err := s.mayChange(r); err != nil {
		return nil, "", err
	}
	if n := len(r.live.below(s)); n >= MaxChildren {
		return nil, "", Refusal(fmt.Sprintf("%d sub-agents of this session are at work, and more may not be. Wait until one of them has ended",
			n))
	}
	c := change{Act: "spawned", By: string(ByAgent), To: role, Principal: child.Principal.ID, Name: child.Name, Above: s.ID, Call: start.Call}
	if err := r.recordChange(ctx, child, child.Scope(), c); err != nil {
		return nil, "", fmt.Errorf("start a sub-agent: %w", err)
	}
	r.live.put(child)
	return child, token, nil
}

// Depth is the depth of a subagent of the session, or of its agent if c is nil: 0 for an agent that no other one started.
func (s *Session) Depth(c *Child) int {
	depth := 0
	if c != nil {
		depth = c.Depth
	}
	for ; s.above != nil; s = s.above {
		if depth++; s.by != nil {
			depth += s.by.Depth
		}
	}
	return depth
}

// Above is the session that started this one as that of a sub-agent; nil: none did.
func (s *Session) Above() *Session { return s.above }

// Ancestors are the ids of the sessions above, the nearest first.
func (s *Session) Ancestors() (ids []string) {
	for s = s.above; s != nil; s = s.above {
		ids = append(ids, s.ID)
	}
	return ids
}

// Gives returns the roles of the sub-agents that may be started here, its own first.
func (sc *Snapshot) Gives() []string {
	v, ok := sc.World.Policy.Role(sc.state.role)
	if !ok {
		return nil
	}
	out := []string{v.ID}
	for _, name := range v.MayStart {
		if other, ok := sc.World.Policy.Role(name); ok && !slices.Contains(out, other.ID) {
			out = append(out, other.ID)
		}
	}
	return out
}

// mayStart returns the id of the role of a sub-agent. A role that may not be given answers like one that does not exist.
func (sc *Snapshot) mayStart(role string) (id string, err error) {
	gives := sc.Gives()
	if v, ok := sc.World.Policy.Role(role); ok && slices.Contains(gives, v.ID) {
		return v.ID, nil
	}
	return "", Refusal("Unknown role: " + credential.Excerpt(role, MaxEcho) + ". A sub-agent of yours has one of these: " + OrNone(gives))
}

// scopeBelow is scopeIn for a sub-agent.
func (s *Session) scopeBelow(st *state, w *view.Catalog) *Snapshot {
	above := s.above.Snapshot()
	if above.World != w {
		above = s.above.scopeIn(s.above.state.Load(), w)
	}
	sc := above.of(s.by).child(s.Principal.ID, st.role)
	sc.id, sc.state, sc.above = s.ID, st, above
	_, sc.Known = w.Policy.Role(st.role)
	sc.Open, sc.Fixed = sc.Scope.Skills, sc.Scope.Skills // it activates nothing that is not active above
	sc.Scope.Skills = slices.DeleteFunc(slices.Clone(sc.Open), func(name string) bool { return slices.Contains(st.asked.Removed, name) })
	sc.Scope.Principal.Roles = NonEmpty(st.role)
	return sc
}

// below returns the sub-agents' sessions that a session has started and that are not over.
func (l *loaded) below(s *Session) (out []*Session) {
	for _, one := range l.all() {
		if one.above == s && !one.ended.Load() {
			out = append(out, one)
		}
	}
	return out
}

// endBelow ends the sub-agents of a session that is over.
func (s *Session) endBelow(ctx context.Context) (err error) {
	for _, one := range s.registry.live.below(s) {
		if ended := s.registry.End(ctx, one.ID); !errors.Is(ended, ErrNoSession) {
			err = errors.Join(err, ended)
		}
	}
	return err
}

// tell has the clients of a session, and of all below it, list again.
func (l *loaded) tell(s *Session) {
	s.changed.fire()
	for _, one := range l.below(s) {
		l.tell(one)
	}
}
