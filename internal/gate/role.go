package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
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

// Manifest is the answer to a role switch (A14).
type Manifest struct {
	Role              string         `json:"role"`
	SystemInstruction string         `json:"systemInstruction"`
	AvailableTools    []ManifestTool `json:"availableTools"`
	AvailableServers  []string       `json:"availableServers"`
	Skills            []string       `json:"activeSkills"`
	Added             []string       `json:"added"`
	Removed           []string       `json:"removed"`
	Metadata          ManifestMeta   `json:"metadata"`
}

// ManifestTool is one tool of a manifest.
type ManifestTool struct {
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description,omitempty"`
}

// ManifestMeta counts.
type ManifestMeta struct {
	GeneratedAt time.Time `json:"generatedAt"`
	ToolCount   int       `json:"toolCount"`
	ServerCount int       `json:"serverCount"`
}

// SetRole switches the role of a session: validates, starts needed servers, changes what it sees, tells its links. by says who:
// "agent" (only the roles that it may take; any other answers like one that does not exist) or "operator" (any role that exists).
//
// Active afterwards are the start set of the new role, and the skills that were activated by hand before, as far as they are
// open to it. A server that does not start does not fail the switch; the operator's log names it.
func (g *Gate) SetRole(ctx context.Context, s *Session, role string, by Actor) (Manifest, error) {
	if err := g.mayTake(s, role, by); err != nil {
		return Manifest{}, err
	}
	if err := s.mayChange(g); err != nil {
		return Manifest{}, err
	}
	st := s.state.Load()
	next := s.scopeIn(st.with(role, st.asked), g.world.Load())
	g.startServers(ctx, s, next.view().Servers())

	before, after, err := g.alter(ctx, s, func(now *scoped) (*state, change, error) {
		if err := g.mayTake(s, role, by); err != nil {
			return nil, change{}, err // the policy may have changed while servers started
		}
		st := now.state.with(role, now.state.asked)
		return st, change{Act: "role_switch", By: string(by), From: now.state.role, To: role}, nil
	})
	if err != nil {
		return Manifest{}, err
	}
	if before.state.role != after.state.role {
		g.meter.Switched(role)
	}
	return g.manifest(before, after), nil
}

// mayTake refuses a role. To an agent, one that it may not take answers exactly like one that does not exist.
func (g *Gate) mayTake(s *Session, role string, by Actor) error {
	p := g.world.Load().Policy
	_, exists := p.Role(role)
	switch {
	case by == ByOperator && !exists:
		return fmt.Errorf("no role %q: no skill and no role file names it (there are: %s)", role, orNone(p.Roles()))
	case by != ByOperator && (!exists || !slices.Contains(s.state.Load().may, role)):
		return refusal("Unknown role: " + masked(role, maxEcho))
	case s.issuer != "" && !slices.Contains(s.state.Load().may, role):
		// It would fall back with the next request, and a role below the token's would be a restriction that does not hold.
		return fmt.Errorf("role %q is none that this session's tokens allow (%s): %s decides that; myc session end ends the session",
			role, orNone(s.state.Load().may), s.issuer)
	}
	return nil
}

// mayChange refuses to change a session that is over.
func (s *Session) mayChange(g *Gate) error {
	if s.over(g.now()) {
		return ErrNoSession
	}
	return nil
}

// startServers starts what a role needs and does not wait for ever.
func (g *Gate) startServers(ctx context.Context, s *Session, servers []string) {
	servers = slices.DeleteFunc(servers, view.IsOwn)
	if len(servers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	if err := g.backends.Start(ctx, servers); err != nil {
		g.logger.Warn("a server that a role needs did not start", "session", s.ID, "error", err)
	}
}

// alter changes the state of a session: record first, then database, then memory. What cannot be recorded or kept does not
// change. It returns the scopes before and after.
func (g *Gate) alter(ctx context.Context, s *Session, f func(now *scoped) (*state, change, error)) (before, after *scoped, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mayChange(g); err != nil {
		return nil, nil, err
	}
	before = s.now()
	st, c, err := f(before)
	if err != nil || st == nil {
		return before, before, err
	}
	after = s.scopeIn(st, before.world)
	c.Added, c.Removed = difference(before.scope.Skills, after.scope.Skills)
	if c.From == c.To && len(c.Added)+len(c.Removed) == 0 && st.equal(before.state) {
		if st.issued.After(before.state.issued) { // only which token is the newest
			if err := g.updateRow(context.WithoutCancel(ctx), s.ID, st); err != nil {
				return nil, nil, err
			}
			s.state.Store(st)
		}
		return before, before, nil // nothing to do, nothing to tell
	}
	if err := g.recordChange(ctx, s, after.scope, c); err != nil {
		return nil, nil, fmt.Errorf("the change cannot be recorded: %w", err)
	}
	if s.hash != nil {
		if err := g.updateRow(context.WithoutCancel(ctx), s.ID, st); err != nil {
			c.Failed = "it could not be kept"
			return nil, nil, errors.Join(fmt.Errorf("change session: %w", err), g.recordChange(ctx, s, before.scope, c))
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
func (g *Gate) SetSkills(ctx context.Context, s *Session, add, remove []string, by Actor) error {
	_, _, err := g.setSkills(ctx, s, by, nil, func(*scoped) ([]string, []string) { return add, remove })
	return err
}

// setSkills is SetSkills with the change computed from the scope of the moment. confirmed are skills that people let the agent activate.
func (g *Gate) setSkills(ctx context.Context, s *Session, by Actor, confirmed []string, want func(*scoped) (add, remove []string)) (before, after *scoped, err error) {
	return g.alter(ctx, s, func(now *scoped) (*state, change, error) {
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
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == name })
}

// mayRemove refuses a demotion.
func (sc *scoped) mayRemove(name string, by Actor) error {
	switch {
	case !slices.Contains(sc.open, name):
		return unknownSkill(sc, name, by)
	case by != ByOperator && slices.Contains(sc.fixed, name):
		return refusal("Skill " + name + " is part of this session's start set: it is not deactivated")
	}
	return nil
}

// mayAdd refuses a promotion. What is already active may always be asked for (B12).
func (sc *scoped) mayAdd(name string, by Actor, confirmed []string) error {
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
func (sc *scoped) askFor(name string) string {
	return "myc session skills " + sc.id + " +" + name
}

// unknownSkill is the answer about a skill that is not open to the role.
func unknownSkill(sc *scoped, name string, by Actor) error {
	if by == ByOperator {
		return fmt.Errorf("no skill %q is open to role %q (open are: %s)", name, sc.state.role, orNone(sc.open))
	}
	return refusal("Unknown skill: " + masked(name, maxEcho))
}

// maxEcho bounds what an answer repeats of what the caller wrote, in bytes.
const maxEcho = 200

// manifest describes what a session sees after a switch.
func (g *Gate) manifest(before, after *scoped) Manifest {
	then, now := before.view(), after.view()
	m := Manifest{
		Role: after.scope.Principal.Role, SystemInstruction: after.teaching(maxInstructions),
		AvailableTools: []ManifestTool{}, AvailableServers: now.Servers(), Skills: append([]string{}, after.scope.Skills...),
	}
	for _, l := range now.Items[policy.Tool] {
		m.AvailableTools = append(m.AvailableTools, ManifestTool{
			Name: l.Item.String(), Source: l.Item.Server, Description: rawjson.TextAt(l.Raw, "description"),
		})
	}
	m.Added, m.Removed = difference(then.Tools(), now.Tools())
	m.Added, m.Removed = append([]string{}, m.Added...), append([]string{}, m.Removed...)
	m.Metadata = ManifestMeta{GeneratedAt: g.now(), ToolCount: len(m.AvailableTools), ServerCount: len(m.AvailableServers)}
	return m
}
