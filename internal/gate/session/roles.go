package session

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
	ByPrompt   Actor = "prompt" // what a person says to an agent: it may change what the agent may
	ByOperator Actor = "operator"
)

// Refusal is an error that says to the agent what its session may not do. It is a denial. The words of any other error of this package are
// for the operator only.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// startWait bounds how long a role switch waits for servers that the new role needs. A server that takes longer goes on starting, and
// is ready for the first call of one of its tools.
const startWait = 10 * time.Second

// Switch is a change of a session: its snapshots before and after.
type Switch struct{ Before, After *Snapshot }

// SetRole switches the role of a session. It starts the servers that the role needs, and tells the clients of the session. An agent
// may take only the roles that the session may take; any other role answers like one that does not exist. An operator may take any
// role that exists.
//
// Afterwards the start set of the new role is active, and the skills that were activated by hand before, if they are open to the role.
// A server that does not start does not fail the switch; the operator's log names it.
func (r *Registry) SetRole(ctx context.Context, s *Session, role string, by Actor) (Switch, error) {
	if err := r.MayTake(s, role, by); err != nil {
		return Switch{}, err
	}
	if err := s.mayChange(r); err != nil {
		return Switch{}, err
	}
	st := s.state.Load()
	next := s.scopeIn(st.with(role, st.asked), r.world.Load())
	r.startServers(ctx, s, next.View().Servers())

	before, after, err := r.alter(ctx, s, func(now *Snapshot) (*state, change, error) {
		if err := r.MayTake(s, role, by); err != nil {
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

// MayTake refuses a role. To an agent, a role that it may not take answers exactly like one that does not exist.
func (r *Registry) MayTake(s *Session, role string, by Actor) error {
	w := r.world.Load()
	p := w.Policy
	_, exists := p.Role(role)
	switch {
	case by == ByOperator && !exists:
		return fmt.Errorf("no role %q: no skill and no role file names it (there are: %s)", role, OrNone(p.Roles()))
	case by != ByOperator && (!exists || w.FixedRoles || !slices.Contains(s.state.Load().may, role)):
		return Refusal("Unknown role: " + credential.Excerpt(role, MaxEcho))
	case s.issuer != "" && !slices.Contains(s.state.Load().may, role):
		// It would fall back with the next request, and a role below the token's would be a restriction that does not hold.
		return fmt.Errorf("role %q is not among those that this session's tokens allow (%s): %s decides that; myc session end ends the session",
			role, OrNone(s.state.Load().may), s.issuer)
	}
	return nil
}

// mayChange refuses to change a session that is over.
func (s *Session) mayChange(r *Registry) error {
	if s.Over(r.now()) {
		return ErrNoSession
	}
	return nil
}

// startServers starts what a role needs, and waits at most startWait.
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

// alter changes the state of a session: first in the log, then in the database, then in memory. A change that cannot be recorded or
// kept does not happen. It returns the snapshots before and after.
func (r *Registry) alter(
	ctx context.Context, s *Session, f func(now *Snapshot) (*state, change, error),
) (before, after *Snapshot, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayChange(r); err != nil {
		return nil, nil, err
	}
	before = s.Snapshot()
	st, c, err := f(before)
	if err != nil || st == nil {
		return before, before, err
	}
	after = s.scopeIn(st, before.World)
	c.Added, c.Removed = Difference(before.Scope.Skills, after.Scope.Skills)
	if c.From == c.To && len(c.Added)+len(c.Removed) == 0 && st.equal(before.state) {
		if st.issued.After(before.state.issued) { // only which token is the newest
			if err := r.updateRow(context.WithoutCancel(ctx), s.ID, st); err != nil {
				return nil, nil, err
			}
			s.state.Store(st)
		}
		return before, before, nil // nothing to do, nothing to tell
	}
	if err := r.recordChange(ctx, s, after.Scope, c); err != nil {
		return nil, nil, fmt.Errorf("the change cannot be recorded: %w", err)
	}
	if s.kept() {
		if err := r.updateRow(context.WithoutCancel(ctx), s.ID, st); err != nil {
			c.Failed = "it could not be kept"
			return nil, nil, errors.Join(fmt.Errorf("change session: %w", err), r.recordChange(ctx, s, before.Scope, c))
		}
	}
	s.state.Store(st)
	s.last.Store(after)
	r.live.tell(s)
	return before, after, nil
}

// with returns the state with another role and other skills.
func (st *state) with(role string, a asked) *state {
	return &state{role: role, may: st.may, asked: a, issued: st.issued}
}

// equal reports whether two states ask for the same.
func (st *state) equal(o *state) bool {
	return st.role == o.role && slices.Equal(st.may, o.may) && slices.Equal(st.asked.Only, o.asked.Only) &&
		slices.Equal(st.asked.Added, o.asked.Added) && slices.Equal(st.asked.Removed, o.asked.Removed)
}

// SetSkills activates and deactivates skills, demotions first (B13). A skill that is not open to the role of the session answers an
// agent like one that does not exist. An agent cannot deactivate a skill of the start set, cannot activate one that the operator took
// away, and activates none if the mode of promotion leaves that to the operator. Nobody deactivates a skill of session.defaultSkills.
// Either the whole change happens or nothing changes.
func (r *Registry) SetSkills(ctx context.Context, s *Session, add, remove []string, by Actor) error {
	_, err := r.ChangeSkills(ctx, s, by, nil, func(*Snapshot) ([]string, []string) { return add, remove })
	return err
}

// ChangeSkills is SetSkills with the change computed from the snapshot of the moment. confirmed are skills that a person lets the
// agent activate.
func (r *Registry) ChangeSkills(
	ctx context.Context, s *Session, by Actor, confirmed []string, want func(*Snapshot) (add, remove []string),
) (Switch, error) {
	return r.changeSkills(ctx, s, by, "", confirmed, want)
}

// changeSkills is ChangeSkills with the reason for the log.
func (r *Registry) changeSkills(
	ctx context.Context, s *Session, by Actor, because string, confirmed []string, want func(*Snapshot) (add, remove []string),
) (Switch, error) {
	before, after, err := r.alter(ctx, s, func(now *Snapshot) (*state, change, error) {
		add, remove := want(now)
		next := asked{Only: now.state.asked.Only, Added: SortedSet(now.state.asked.Added), Removed: SortedSet(now.state.asked.Removed)}
		for _, name := range remove {
			if err := now.mayRemove(name, by); err != nil {
				return nil, change{}, err
			}
			next.Added = without(next.Added, name)
			if by == ByOperator && slices.Contains(now.Fixed, name) {
				next.Removed = SortedSet(append(next.Removed, name))
			}
		}
		for _, name := range add {
			if err := now.mayAdd(name, by, confirmed); err != nil {
				return nil, change{}, err
			}
			next.Removed = without(next.Removed, name)
			if !slices.Contains(now.Fixed, name) {
				next.Added = SortedSet(append(next.Added, name))
			}
		}
		role := now.state.role
		return now.state.with(role, next), change{Act: "skills", By: string(by), From: role, To: role, Because: because}, nil
	})
	return Switch{before, after}, err
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == name })
}

// mayRemove refuses a demotion.
func (sc *Snapshot) mayRemove(name string, by Actor) error {
	switch {
	case !slices.Contains(sc.Open, name):
		return UnknownSkill(sc, name, by)
	case by == ByOperator && slices.Contains(sc.World.Policy.Defaults(), name):
		return Refusal("Skill " + name + " is protected, because session.defaultSkills names it: it is never deactivated; take it out there")
	case by != ByOperator && slices.Contains(sc.Fixed, name):
		return Refusal("Skill " + name + " is part of this session's start set: it is not deactivated")
	}
	return nil
}

// mayAdd refuses a promotion. A skill that is already active may always be asked for (B12).
func (sc *Snapshot) mayAdd(name string, by Actor, confirmed []string) error {
	switch {
	case !slices.Contains(sc.Open, name):
		return UnknownSkill(sc, name, by)
	case by == ByOperator || slices.Contains(sc.Scope.Skills, name):
		return nil
	case slices.Contains(sc.state.asked.Removed, name):
		return Refusal("Skill " + name + " was deactivated by your operator; ask for it: " + sc.AskFor(name))
	case sc.Promotion() == view.PromoteConfirm && slices.Contains(confirmed, name):
		return nil
	case sc.Promotion() != view.PromoteAuto:
		return Refusal("Skill " + name + " is activated by your operator only; ask for it: " + sc.AskFor(name))
	}
	return nil
}

// AskFor returns the command that an operator runs to activate a skill here.
func (sc *Snapshot) AskFor(name string) string {
	return "myc session skills " + sc.id + " +" + name
}

// SkillError tells an operator that a skill cannot be active in a session.
type SkillError struct {
	Skill string
	To    string   // whom it is not open to, in words
	Open  []string // the skills that are
}

func (e *SkillError) Error() string {
	return fmt.Sprintf("no skill %q is open to %s (open are: %s)", e.Skill, e.To, OrNone(e.Open))
}

// UnknownSkill is the answer about a skill that is not open to the role.
func UnknownSkill(sc *Snapshot, name string, by Actor) error {
	if by == ByOperator {
		return &SkillError{Skill: name, To: fmt.Sprintf("role %q", sc.state.role), Open: sc.Open}
	}
	return Refusal("Unknown skill: " + credential.Excerpt(name, MaxEcho))
}

// MaxEcho bounds what an answer repeats of what the caller wrote, in bytes.
const MaxEcho = 200

// AskFor returns the command by which an operator activates a skill in the session.
func (s *Session) AskFor(skill string) string { return s.Snapshot().AskFor(skill) }
