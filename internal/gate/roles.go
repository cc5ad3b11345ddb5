package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mycelium/internal/credential"
	"mycelium/internal/gate/view"
)

// Actor says on whose behalf a session is changed.
type Actor string

// The actors.
const (
	ByAgent    Actor = "agent"
	ByOperator Actor = "operator"
)

// refusal is an error whose words may reach the agent. Any other error is for the operator only.
type refusal string

func (r refusal) Error() string { return string(r) }

// startWait bounds how long a role switch waits for servers that the new role needs. One that takes longer goes on starting
// and is ready for the first call of a tool of its.
const startWait = 10 * time.Second

// Switch is a change of a session: what it was before and after.
type Switch struct{ Before, After *snapshot }

// SetRole switches the role of a session: validates, starts needed servers, changes what it sees, tells its links. by says who:
// "agent" (only the roles that it may take; any other answers like one that does not exist) or "operator" (any role that exists).
//
// Active afterwards are the start set of the new role, and the skills that were activated by hand before, as far as they are
// open to it. A server that does not start does not fail the switch; the operator's log names it.
func (r *Registry) SetRole(ctx context.Context, s *Session, role string, by Actor) (Switch, error) {
	if err := r.mayTake(s, role, by); err != nil {
		return Switch{}, err
	}
	if err := s.mayChange(r); err != nil {
		return Switch{}, err
	}
	st := s.state.Load()
	next := s.scopeIn(st.with(role, st.asked), r.world.Load())
	r.startServers(ctx, s, next.view().Servers())

	before, after, err := r.alter(ctx, s, func(now *snapshot) (*state, change, error) {
		if err := r.mayTake(s, role, by); err != nil {
			return nil, change{}, err // the policy may have changed while servers started
		}
		st := now.state.with(role, now.state.asked)
		return st, change{Act: "role_switch", By: string(by), From: now.state.role, To: role}, nil
	})
	if err != nil {
		return Switch{}, err
	}
	if before.state.role != after.state.role {
		r.meter.Switched(role)
	}
	return Switch{before, after}, nil
}

// mayTake refuses a role. To an agent, one that it may not take answers exactly like one that does not exist.
func (r *Registry) mayTake(s *Session, role string, by Actor) error {
	p := r.world.Load().Policy
	_, exists := p.Role(role)
	switch {
	case by == ByOperator && !exists:
		return fmt.Errorf("no role %q: no skill and no role file names it (there are: %s)", role, orNone(p.Roles()))
	case by != ByOperator && (!exists || !slices.Contains(s.state.Load().may, role)):
		return refusal("Unknown role: " + credential.Excerpt(role, maxEcho))
	case s.issuer != "" && !slices.Contains(s.state.Load().may, role):
		// It would fall back with the next request, and a role below the token's would be a restriction that does not hold.
		return fmt.Errorf("role %q is none that this session's tokens allow (%s): %s decides that; myc session end ends the session",
			role, orNone(s.state.Load().may), s.issuer)
	}
	return nil
}

// mayChange refuses to change a session that is over.
func (s *Session) mayChange(r *Registry) error {
	if s.over(r.now()) {
		return ErrNoSession
	}
	return nil
}

// startServers starts what a role needs and does not wait for ever.
func (r *Registry) startServers(ctx context.Context, s *Session, servers []string) {
	servers = slices.DeleteFunc(servers, view.IsOwn)
	if len(servers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	if err := r.start(ctx, servers); err != nil {
		r.logger.Warn("a server that a role needs did not start", "session", s.ID, "error", err)
	}
}

// alter changes the state of a session: record first, then database, then memory. What cannot be recorded or kept does not
// change. It returns the scopes before and after.
func (r *Registry) alter(ctx context.Context, s *Session, f func(now *snapshot) (*state, change, error)) (before, after *snapshot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayChange(r); err != nil {
		return nil, nil, err
	}
	before = s.snapshot()
	st, c, err := f(before)
	if err != nil || st == nil {
		return before, before, err
	}
	after = s.scopeIn(st, before.world)
	c.Added, c.Removed = difference(before.scope.Skills, after.scope.Skills)
	if c.From == c.To && len(c.Added)+len(c.Removed) == 0 && st.equal(before.state) {
		if st.issued.After(before.state.issued) { // only which token is the newest
			if err := r.updateRow(context.WithoutCancel(ctx), s.ID, st); err != nil {
				return nil, nil, err
			}
			s.state.Store(st)
		}
		return before, before, nil // nothing to do, nothing to tell
	}
	if err := r.recordChange(ctx, s, after.scope, c); err != nil {
		return nil, nil, fmt.Errorf("the change cannot be recorded: %w", err)
	}
	if s.hash != nil {
		if err := r.updateRow(context.WithoutCancel(ctx), s.ID, st); err != nil {
			c.Failed = "it could not be kept"
			return nil, nil, errors.Join(fmt.Errorf("change session: %w", err), r.recordChange(ctx, s, before.scope, c))
		}
	}
	s.state.Store(st)
	s.scoped.Store(after)
	s.changed.fire()
	return before, after, nil
}

// with is the state with another role and other skills.
func (st *state) with(role string, a asked) *state {
	return &state{role: role, may: st.may, asked: a, issued: st.issued}
}

// equal reports whether two states ask for the same.
func (st *state) equal(o *state) bool {
	return st.role == o.role && slices.Equal(st.may, o.may) && slices.Equal(st.asked.Only, o.asked.Only) &&
		slices.Equal(st.asked.Added, o.asked.Added) && slices.Equal(st.asked.Removed, o.asked.Removed)
}

// SetSkills activates and deactivates skills; the same rules hold: what is not open to the session's role answers an agent like
// what does not exist. Demotions come first (B13). An agent takes no skill of the start set away, takes none back that the
// operator took away, and activates nothing where the mode of promotion leaves that to the operator. Either all of it happens
// or nothing.
func (r *Registry) SetSkills(ctx context.Context, s *Session, add, remove []string, by Actor) error {
	_, err := r.ChangeSkills(ctx, s, by, nil, func(*snapshot) ([]string, []string) { return add, remove })
	return err
}

// ChangeSkills is SetSkills with the change computed from the scope of the moment. confirmed are skills that people let the agent activate.
func (r *Registry) ChangeSkills(
	ctx context.Context, s *Session, by Actor, confirmed []string, want func(*snapshot) (add, remove []string),
) (Switch, error) {
	before, after, err := r.alter(ctx, s, func(now *snapshot) (*state, change, error) {
		add, remove := want(now)
		next := asked{Only: now.state.asked.Only, Added: sortedSet(now.state.asked.Added), Removed: sortedSet(now.state.asked.Removed)}
		for _, name := range remove {
			if err := now.mayRemove(name, by); err != nil {
				return nil, change{}, err
			}
			next.Added = without(next.Added, name)
			if by == ByOperator && slices.Contains(now.fixed, name) {
				next.Removed = sortedSet(append(next.Removed, name))
			}
		}
		for _, name := range add {
			if err := now.mayAdd(name, by, confirmed); err != nil {
				return nil, change{}, err
			}
			next.Removed = without(next.Removed, name)
			if !slices.Contains(now.fixed, name) {
				next.Added = sortedSet(append(next.Added, name))
			}
		}
		role := now.state.role
		return now.state.with(role, next), change{Act: "skills", By: string(by), From: role, To: role}, nil
	})
	return Switch{before, after}, err
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == name })
}

// mayRemove refuses a demotion.
func (sc *snapshot) mayRemove(name string, by Actor) error {
	switch {
	case !slices.Contains(sc.open, name):
		return unknownSkill(sc, name, by)
	case by != ByOperator && slices.Contains(sc.fixed, name):
		return refusal("Skill " + name + " is part of this session's start set: it is not deactivated")
	}
	return nil
}

// mayAdd refuses a promotion. What is already active may always be asked for (B12).
func (sc *snapshot) mayAdd(name string, by Actor, confirmed []string) error {
	switch {
	case !slices.Contains(sc.open, name):
		return unknownSkill(sc, name, by)
	case by == ByOperator || slices.Contains(sc.scope.Skills, name):
		return nil
	case slices.Contains(sc.state.asked.Removed, name):
		return refusal("Skill " + name + " was deactivated by your operator; ask for it: " + sc.askFor(name))
	case sc.world.PromotionMode() == view.PromoteConfirm && slices.Contains(confirmed, name):
		return nil
	case sc.world.PromotionMode() != view.PromoteAuto:
		return refusal("Skill " + name + " is activated by your operator only; ask for it: " + sc.askFor(name))
	}
	return nil
}

// askFor is the command that an operator runs to activate a skill here.
func (sc *snapshot) askFor(name string) string {
	return "myc session skills " + sc.id + " +" + name
}

// unknownSkill is the answer about a skill that is not open to the role.
func unknownSkill(sc *snapshot, name string, by Actor) error {
	if by == ByOperator {
		return fmt.Errorf("no skill %q is open to role %q (open are: %s)", name, sc.state.role, orNone(sc.open))
	}
	return refusal("Unknown skill: " + credential.Excerpt(name, maxEcho))
}

// maxEcho bounds what an answer repeats of what the caller wrote, in bytes.
const maxEcho = 200

// Promote activates the skills that a text asks for by their triggers, where the session's mode leaves that to the policy, and returns
// those that it activated. Where the mode does not, it returns in wanted what an operator may activate.
func (r *Registry) Promote(ctx context.Context, s *Session, text string) (added, wanted []string, err error) {
	sc := s.snapshot()
	if sc.world.Broken != "" {
		return nil, nil, nil
	}
	for _, hit := range sc.world.Skills.Suggest(text, sc.open) {
		switch {
		case slices.Contains(sc.scope.Skills, hit.Skill):
		case sc.mayAdd(hit.Skill, ByAgent, nil) == nil:
			added = append(added, hit.Skill)
		case sc.world.PromotionMode() == view.PromoteConfirm:
			wanted = append(wanted, hit.Skill)
		}
	}
	if len(added) == 0 {
		return nil, wanted, nil
	}
	slices.Sort(added)
	if err := r.SetSkills(ctx, s, added, nil, ByAgent); err != nil {
		return nil, wanted, err
	}
	return added, wanted, nil
}

// AskFor is the command by which an operator activates a skill in a session.
func (s *Session) AskFor(skill string) string { return s.snapshot().askFor(skill) }
