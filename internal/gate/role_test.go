package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mycelium/internal/audit"
	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/gate/view"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// TestRolesAreFixed (AT1.5): where identities give roles, set_role is neither listed nor different from a tool that does not exist, and
// tells of no other role; when the mode ends, it is back. The operator may still switch.
func TestRolesAreFixed(t *testing.T) {
	p := three()
	h := build(t, p)
	s := h.enter("guest", "admin")
	it := policy.Item{Server: policy.RouterServer, Name: "set_role"}
	listed := func() bool {
		return slices.ContainsFunc(s.List(policy.Tool), func(l view.Listed) bool { return l.Item == it })
	}
	changed := s.Changed()
	w := p.world(t, h.dir)
	w.FixedRoles = true
	h.Swap(w)
	if listed() || !closed(changed) {
		t.Error("set_role is listed, or nobody was told that it is gone")
	}
	_, there := h.Call(t.Context(), s, request(it.String(), `{"role_id":"admin"}`))
	_, absent := h.Call(t.Context(), s, request(policy.RouterServer+"__set_rule", `{"role_id":"admin"}`))
	if there == nil || absent == nil || there.Error() != strings.ReplaceAll(absent.Error(), "set_rule", "set_role") {
		t.Errorf("set_role: %v; an absent tool: %v", there, absent)
	}
	if _, err := h.switchRole(t.Context(), s, "admin", session.ByAgent); err == nil || err.Error() != "Unknown role: admin" {
		t.Errorf("an agent switches: %v", err)
	}
	if list, failed := h.ask(s, policy.RouterServer+"__list_roles", `{}`); failed != "" || strings.Contains(fmt.Sprint(list), "admin") {
		t.Errorf("list_roles: %v %s", list, failed)
	}
	if _, err := h.switchRole(t.Context(), s, "developer", session.ByOperator); err != nil {
		t.Error(err)
	}
	h.Swap(p.world(t, h.dir))
	if !listed() {
		t.Error("set_role is not back")
	}
}

// TestSwitchRoles: AT1.8, A14, A15.
func TestSwitchRoles(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	s := h.enter("guest", "developer", "admin")
	other := h.enter("guest")
	guest := []string{"files__list_directory", "files__read_file"}
	developer := []string{"files__list_directory", "files__read_file", "files__write_file"}
	admin := []string{
		"database__delete_database", "database__query", "files__delete_file", "files__list_directory", "files__read_file",
		"files__write_file",
	}
	want := map[string][]string{"guest": guest, "developer": developer, "admin": admin}
	now := guest
	for _, role := range []string{"developer", "admin", "guest", "admin", "developer", "guest"} {
		changed, others := s.Changed(), other.Changed()
		m, err := h.switchRole(ctx, s, role, session.ByAgent)
		if err != nil {
			t.Fatal(err)
		}
		if !closed(changed) {
			t.Errorf("%s: its links were not told", role)
		}
		if closed(others) {
			t.Errorf("%s: another session was told", role)
		}
		added, removed := session.Difference(now, want[role])
		if diff := cmp.Diff([][]string{want[role], added, removed}, [][]string{h.sees(s), nonNil(m.Added), nonNil(m.Removed)}); diff != "" {
			t.Errorf("%s: %s", role, diff)
		}
		if m.Role != role || m.Metadata.ToolCount != len(s.List(policy.Tool)) || m.Metadata.ServerCount != len(m.AvailableServers) ||
			m.Metadata.GeneratedAt.IsZero() {
			t.Errorf("%s: manifest %+v", role, m.Metadata)
		}
		now = want[role]
	}
	if diff := cmp.Diff(guest, h.sees(s)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(guest, h.sees(other)); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(h.back.started, "database") || slices.Contains(h.back.started, policy.RouterServer) {
		t.Errorf("started %v", h.back.started)
	}
	if d := h.last(audit.Session); d["note"] != "role developer → guest (agent); deescalate editor" {
		t.Errorf("recorded %v", d)
	}
	changed := s.Changed()
	if m, err := h.switchRole(ctx, s, "guest", session.ByAgent); err != nil || len(m.Added)+len(m.Removed) > 0 || closed(changed) {
		t.Errorf("a switch to the present role: %+v, %v", m, err)
	}
}

func nonNil(s []string) []string {
	if len(s) == 0 {
		return nil
	}
	return s
}

func TestServerThatDoesNotStart(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest", "admin")
	h.back.start = func(context.Context, []string) error { return errors.New("database: no such program") }
	if m, err := h.switchRole(t.Context(), s, "admin", session.ByAgent); err != nil || m.Role != "admin" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestRolesOfOthers(t *testing.T) {
	h := build(t, three())
	ctx := t.Context()
	s := h.enter("guest", "developer")
	_, hidden := h.switchRole(ctx, s, "admin", session.ByAgent)
	_, absent := h.switchRole(ctx, s, "nobody", session.ByAgent)
	if hidden == nil || strings.ReplaceAll(hidden.Error(), "admin", "nobody") != absent.Error() {
		t.Errorf("%v and %v differ", hidden, absent)
	}
	if _, err := h.switchRole(ctx, s, "admin", session.ByOperator); err != nil {
		t.Errorf("the operator may: %v", err)
	}
	if _, err := h.switchRole(ctx, s, "nobody", session.ByOperator); err == nil {
		t.Error("the operator may not invent a role")
	}
	// The operator's switch gives no right to come back.
	if _, err := h.switchRole(ctx, s, "guest", session.ByAgent); err != nil {
		t.Error(err)
	}
	if _, err := h.switchRole(ctx, s, "admin", session.ByAgent); err == nil {
		t.Error("the agent took the operator's role again")
	}
}

func TestSkillsByHand(t *testing.T) {
	p := three()
	p.start = []string{"reader"}
	h := build(t, p)
	ctx := t.Context()
	s := h.enter("developer", "guest", "admin")
	reading := []string{"files__list_directory", "files__read_file"}
	if diff := cmp.Diff(reading, h.sees(s)); diff != "" {
		t.Fatal(diff)
	}
	change := func(by session.Actor, add, remove []string) string {
		t.Helper()
		if err := h.Sessions.SetSkills(ctx, s, add, remove, by); err != nil {
			return err.Error()
		}
		return ""
	}
	active := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(append([]string{}, want...), s.Scope().Skills); diff != "" {
			t.Error(diff)
		}
	}
	if got := change(session.ByAgent, []string{"editor"}, nil); got != "" {
		t.Error(got)
	}
	active("editor", "reader")
	if e := s.History(); len(e) < 2 || e[len(e)-1].Type != "escalate" || e[len(e)-1].Skill != "editor" {
		t.Errorf("history %+v", e)
	}
	if note := h.last(audit.Session)["note"]; note != "skills changed (agent); escalate editor" {
		t.Errorf("recorded %v", note)
	}
	// What is not open to the role is as if it were not there.
	if a, b := change(session.ByAgent, []string{"keeper"}, nil),
		change(session.ByAgent, []string{"nosuch"}, nil); a != "Unknown skill: keeper" || b != "Unknown skill: nosuch" {
		t.Errorf("%q, %q", a, b)
	}
	if a, b := change(session.ByAgent, nil, []string{"keeper"}),
		change(session.ByAgent, nil, []string{"nosuch"}); a != "Unknown skill: keeper" || b != "Unknown skill: nosuch" {
		t.Errorf("%q, %q", a, b)
	}
	// All or nothing.
	if got := change(session.ByAgent, []string{"nosuch"}, []string{"editor"}); got == "" {
		t.Error("half a change")
	}
	active("editor", "reader")
	// The skills that the configuration names are protected, from the operator too (B13).
	if got := change(session.ByAgent, nil, []string{"reader"}); !strings.Contains(got, "start set") {
		t.Errorf("%q", got)
	}
	// Skills by hand stay over a switch where they are open.
	if _, err := h.switchRole(ctx, s, "guest", session.ByAgent); err != nil {
		t.Fatal(err)
	}
	active("reader")
	if _, err := h.switchRole(ctx, s, "admin", session.ByAgent); err != nil {
		t.Fatal(err)
	}
	active("editor", "reader")
	if got := change(session.ByOperator, nil, []string{"reader", "editor"}); !strings.Contains(got, "protected") {
		t.Errorf("%q", got)
	}
	active("editor", "reader")
	if got := change(session.ByOperator, nil, []string{"editor"}); got != "" {
		t.Error(got)
	}
	active("reader")
	// Without that list every skill is active at the start, and the operator may take one away for good.
	h = build(t, three())
	s = h.enter("developer", "admin")
	if got := change(session.ByOperator, nil, []string{"editor"}); got != "" {
		t.Error(got)
	}
	if got := change(session.ByAgent, []string{"editor"}, nil); !strings.Contains(got, "operator") {
		t.Errorf("the agent took back what the operator took away: %q", got)
	}
}

func TestPromotionByTheOperatorOnly(t *testing.T) {
	for _, mode := range []string{"confirm", "manual", "nonsense"} {
		p := three()
		p.start, p.promote = []string{"reader"}, mode
		h := build(t, p)
		s := h.enter("developer")
		_, failed := h.ask(s, "mycelium-router__set_active_skills", `{"skills":["editor"]}`)
		if !strings.Contains(failed, "myc session skills") {
			t.Errorf("%s: %q", mode, failed)
		}
		if _, failed := h.ask(s, "mycelium-router__set_active_skills", `{"add":["keeper"]}`); failed != "Unknown skill: keeper" {
			t.Errorf("%s: %q", mode, failed)
		}
		if err := h.Sessions.SetSkills(t.Context(), s, []string{"editor"}, nil, session.ByOperator); err != nil {
			t.Error(err)
		}
		if got := s.Scope().Skills; !slices.Equal(got, []string{"editor", "reader"}) {
			t.Errorf("%s: active %v", mode, got)
		}
		// What is active may be asked for again.
		if _, failed := h.ask(s, "mycelium-router__set_active_skills", `{"skills":["editor"]}`); failed != "" {
			t.Errorf("%s: %q", mode, failed)
		}
	}
}

func TestPolicyChanges(t *testing.T) {
	p := three()
	h := build(t, p)
	s, other := h.enter("developer"), h.enter("guest")
	s.List(policy.Tool)
	other.List(policy.Tool)
	full := h.sees(s)

	changed, others := s.Changed(), other.Changed()
	h.Swap(h.World())
	if closed(changed) || closed(others) {
		t.Error("told of a world that is the same")
	}
	// The editor skill goes: only the developer notices.
	less := p
	less.skills = slices.DeleteFunc(slices.Clone(p.skills), func(k skill.Skill) bool { return k.Name == "editor" })
	h.Swap(less.world(t, h.dir))
	if !closed(changed) || closed(others) {
		t.Errorf("told: %v, %v", closed(changed), closed(others))
	}
	if got := h.sees(s); slices.Contains(got, "files__write_file") {
		t.Errorf("sees %v", got)
	}
	if note := h.last(audit.Session)["note"]; note != "the policy changed (policy); deescalate editor" {
		t.Errorf("recorded %v", note)
	}
	// It comes back, and with it what it granted.
	changed = s.Changed()
	h.Swap(p.world(t, h.dir))
	if diff := cmp.Diff(full, h.sees(s)); diff != "" || !closed(changed) {
		t.Errorf("told %v, %s", closed(changed), diff)
	}
	// The role itself goes: control tools only, until it is there again.
	none := p
	none.roles = []policy.Role{{ID: "guest"}}
	none.skills = []skill.Skill{{Grant: policy.Grant{Name: "reader", AllowedRoles: []string{"guest"},
		AllowedTools: []string{"files__read_file"}}, Description: "Reads."}}
	h.Swap(none.world(t, h.dir))
	if got := h.sees(s); len(got) > 0 {
		t.Errorf("sees %v", got)
	}
	if _, err := h.Call(t.Context(), s, request("files__read_file", `{}`)); !denied(t, err).Decision.Unknown {
		t.Error("a call of it is not unknown")
	}
	if answer, _ := h.ask(s, "mycelium-router__get_context", `{}`); !strings.Contains(fmt.Sprint(answer["notice"]), "role") {
		t.Errorf("context %v", answer)
	}
	h.Swap(p.world(t, h.dir))
	if diff := cmp.Diff(full, h.sees(s)); diff != "" {
		t.Error(diff)
	}
	// A definition that changed is told, too.
	other.List(policy.Tool)
	others = other.Changed()
	w := p.world(t, h.dir)
	for i, d := range w.Definitions {
		if d.Item.String() == "files__read_file" {
			w.Definitions[i].Raw = []byte(`{"name":"read_file","description":"Other words."}`)
		}
	}
	h.Swap(w)
	if !closed(others) {
		t.Error("not told of another description")
	}
	h.Swap(view.World{})
	if diff := cmp.Diff(full, h.sees(s)); diff != "" {
		t.Error("a world without a policy was taken: ", diff)
	}
}

// TestListDuringASwap: of the clients of one session, the one that lists while the world is replaced sees the new world already. The others
// are told all the same.
func TestListDuringASwap(t *testing.T) {
	p := three()
	var during func() // is called when the change of the session is recorded: the new world is there, and nobody was told
	h := buildWith(t, p, nil, func() time.Time {
		if f := during; f != nil {
			during = nil
			f()
		}
		return time.Now()
	})
	s := h.enter("developer")
	s.List(policy.Tool)
	changed := s.Changed()
	less := p
	less.skills = slices.DeleteFunc(slices.Clone(p.skills), func(k skill.Skill) bool { return k.Name == "editor" })
	listed := false
	during = func() {
		listed = !slices.Contains(h.sees(s), "files__write_file")
	}
	h.Swap(less.world(t, h.dir))
	if !listed {
		t.Fatal("the list was not made between the new world and its notice")
	}
	if !closed(changed) {
		t.Error("the other clients of the session are not told")
	}
}

// TestSessionLaws: whatever is done to a session, it sees no more than its role in the policy allows, list and call agree, and
// a restart changes nothing.
func TestSessionLaws(t *testing.T) {
	p := three()
	p.start = []string{"reader"}
	h := build(t, p)
	ctx := t.Context()
	roles := []string{"guest", "developer", "admin", "nobody", ""}
	skills := []string{"reader", "editor", "keeper", "nosuch"}
	rapid.Check(t, func(t *rapid.T) {
		s, token, err := h.Sessions.Mint(ctx, session.Spec{Role: "guest", Roles: []string{"developer"}})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			by := rapid.SampledFrom([]session.Actor{session.ByAgent, session.ByAgent, session.ByOperator}).Draw(t, "by")
			before := s.Scope()
			var err error
			if rapid.Bool().Draw(t, "switch") {
				_, err = h.switchRole(ctx, s, rapid.SampledFrom(roles).Draw(t, "role"), by)
			} else {
				some := rapid.SliceOfN(rapid.SampledFrom(skills), 0, 2)
				err = h.Sessions.SetSkills(ctx, s, some.Draw(t, "add"), some.Draw(t, "remove"), by)
			}
			if err != nil && cmp.Diff(before, s.Scope()) != "" {
				t.Fatalf("a refused change changed: %v", err)
			}
			scope := s.Scope()
			pol := h.World().Policy
			if by == session.ByAgent && scope.Principal.Role != before.Principal.Role && !slices.Contains([]string{"guest", "developer"},
				scope.Principal.Role) {
				t.Fatalf("an agent became %q", scope.Principal.Role)
			}
			open := pol.OpenSkills(scope.Principal.Role)
			for _, k := range scope.Skills {
				if !slices.Contains(open, k) {
					t.Fatalf("%s is active for %s", k, scope.Principal.Role)
				}
			}
			listed := map[policy.Item]bool{}
			for _, l := range s.List(policy.Tool) {
				listed[l.Item] = true
			}
			for _, d := range h.World().Definitions {
				_, err := h.Call(ctx, s, Request{Item: d.Item, Asked: "x", Args: []byte(`{"unlikely":1}`)})
				var refused *DeniedError
				if unknown := errors.As(err, &refused) && refused.Decision.Unknown; unknown == listed[d.Item] {
					t.Fatalf("%s: listed %v, call says %v", d.Item, listed[d.Item], err)
				}
			}
		}
		want := s.Scope()
		next := session.New(session.Options{ // as a restart makes it
			Log: h.log, DB: h.db, World: h.World(), Own: control.Definitions(), Dir: h.dir, Logger: h.logger, Now: time.Now,
			Limits: h.limits,
			Start:  h.back.Start, Forget: func(context.Context, string) {},
		})
		defer next.Close()
		again, err := next.Authenticate(ctx, token)
		if err != nil || cmp.Diff(want, again.Scope()) != "" {
			t.Fatalf("after a restart %+v, before %+v (%v)", again, want, err)
		}
		if err := h.Sessions.End(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
	})
}

// switchRole switches a role and returns what the caller is told.
func (h *house) switchRole(ctx context.Context, s *session.Session, role string, by session.Actor) (control.Manifest, error) {
	sw, err := h.Sessions.SetRole(ctx, s, role, by)
	if err != nil {
		return control.Manifest{}, err
	}
	return control.ManifestOf(sw, time.Now()), nil
}
