package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// calls are the records of calls, oldest first.
func (h *house) calls() []audit.Record {
	h.t.Helper()
	var out []audit.Record
	for line, err := range audit.Read(h.t.Context(), h.logs, audit.Position{}, false) {
		if err != nil {
			h.t.Fatal(err)
		}
		if line.Kind == audit.Decided || line.Kind == audit.Outcome {
			out = append(out, line.Record)
		}
	}
	return out
}

// admitted is what the gate makes of a request, as far as one decision can be compared with another.
func (h *house) admitted(s *session.Session, r Request) policy.Decision {
	h.t.Helper()
	a, err := h.Admit(h.t.Context(), s, r)
	var denied *DeniedError
	switch {
	case errors.As(err, &denied):
		return denied.Decision
	case err != nil:
		h.t.Fatal(err)
	}
	a.Done(h.t.Context(), Reply{Result: []byte(`{}`)}, nil)
	return policy.Decision{Effect: policy.Allow}
}

func TestChild(t *testing.T) {
	h := build(t, three())
	s := h.enter("developer")
	read, write := request("files__read_file", `{"path":"a"}`), request("files__write_file", `{"path":"a"}`)
	for _, c := range []struct {
		child       *session.Child
		read, write policy.Effect
		role, id    string
	}{
		{nil, policy.Allow, policy.Allow, "developer", s.Principal.ID},
		{&session.Child{ID: "a1"}, policy.Allow, policy.Allow, "developer", s.Principal.ID + "/a1"},
		{&session.Child{ID: "a2", Roles: []string{"guest"}}, policy.Allow, policy.Deny, "guest", s.Principal.ID + "/a2"},
		{&session.Child{ID: "a3", Roles: []string{"no such role"}}, policy.Allow, policy.Allow, "developer", s.Principal.ID + "/a3"},
		{&session.Child{ID: "a4", Roles: []string{"admin"}}, policy.Allow, policy.Allow, "admin", s.Principal.ID + "/a4"},
		{&session.Child{ID: "a5", Roles: []string{"admin", "guest"}}, policy.Allow, policy.Deny, "admin", s.Principal.ID + "/a5"},
		{&session.Child{ID: "x\x1b[31m\n" + strings.Repeat("y", 200)}, policy.Allow, policy.Allow, "developer",
			s.Principal.ID + "/x?[31m?" + strings.Repeat("y", 90) + "…"},
	} {
		read, write := read, write
		read.Child, write.Child = c.child, c.child
		if got := h.admitted(s, read); got.Effect != c.read {
			t.Errorf("%+v reads: %+v", c.child, got)
		}
		if got := h.admitted(s, write); got.Effect != c.write || got.Unknown != (c.write == policy.Deny) {
			t.Errorf("%+v writes: %+v", c.child, got)
		}
		if got := s.Shows(c.child, write.Item); got != (c.write == policy.Allow) {
			t.Errorf("%+v sees write_file: %t", c.child, got)
		}
		r := h.calls()
		last := r[len(r)-1]
		if last.Principal != c.id || last.Role != c.role || c.child != nil && last.Parent == "" {
			t.Errorf("%+v is recorded as %s of %s, role %s", c.child, last.Principal, last.Parent, last.Role)
		}
		// What its parent does not see with its own active skills, no role of a child brings.
		drop := request("database__query", "")
		drop.Child = c.child
		if got := h.admitted(s, drop); !got.Unknown {
			t.Errorf("%+v queries: %+v", c.child, got)
		}
	}
}

func TestChildChangesNothing(t *testing.T) {
	h := build(t, three())
	s := h.enter("developer", "guest")
	child := &session.Child{ID: "a"}
	r := request("mycelium-router__set_active_skills", `{"remove":["editor"]}`)
	r.Child = child
	reply, err := h.Call(t.Context(), s, r)
	if err != nil || !strings.Contains(string(reply.Result), "A subagent does not change") {
		t.Errorf("set_active_skills: %s, %v", reply.Result, err)
	}
	r = request("mycelium-router__set_role", `{"role_id":"guest"}`)
	r.Child = child
	if got := h.admitted(s, r); !got.Unknown {
		t.Errorf("set_role: %+v", got)
	}
	if got := s.Scope(); got.Principal.Role != "developer" || len(got.Skills) != 2 {
		t.Errorf("the session is now %+v", got)
	}
}

// TestLawChildNeverExceeds: whatever the rules, the skills and the roles are, a child may do nothing that its session may not do at
// that moment, and the more roles it was given the less.
func TestLawChildNeverExceeds(t *testing.T) {
	tools := []string{"files__read_file", "files__write_file", "shop__buy"}
	roles := []string{"r1", "r2", "r3"}
	h := build(t, three())
	rapid.Check(t, func(rt *rapid.T) {
		some := func(label string, of []string) []string {
			return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, len(of), rapid.ID[string]).Draw(rt, label)
		}
		p := plan{tools: tools}
		for _, r := range roles {
			role := policy.Role{ID: r, Deny: some("deny "+r, tools), MayStart: roles}
			if len(role.Deny) > 1 {
				role.Deny = role.Deny[:1]
			}
			if rapid.Bool().Draw(rt, "toolIds") {
				role.ToolIDs = some("toolIds "+r, tools)
			}
			p.roles = append(p.roles, role)
		}
		for i := range 3 {
			p.skills = append(p.skills,
				skill.Skill{Grant: policy.Grant{Name: fmt.Sprint("s", i), AllowedRoles: append(some("roles", roles), "r0"),
					AllowedTools: some("tools", tools)}, Description: "d"})
		}
		for i := range rapid.IntRange(0, 3).Draw(rt, "rules") {
			p.rules = append(p.rules, policy.Rule{
				Name: fmt.Sprint("rule", i), Action: rapid.SampledFrom([]string{"deny", "ask", "allow"}).Draw(rt, "action"),
				Tool: policy.Names(some("tool", tools)), Role: policy.Names(some("role", roles)), When: `args.path == "x1"`,
			})
		}
		h.Swap(p.world(t, h.dir))
		role := rapid.SampledFrom(roles).Draw(rt, "session's role")
		s := h.enter(role)
		if open := h.World().Policy.OpenSkills(role); len(open) > 0 {
			if err := h.Sessions.SetSkills(t.Context(), s, nil, []string{rapid.SampledFrom(open).Draw(rt, "off")},
				session.ByOperator); err != nil {
				rt.Fatal(err)
			}
		}
		given := some("child's roles", append(slices.Clone(roles), "none"))
		sub, _, err := s.Spawn(t.Context(), session.Start{Role: rapid.SampledFrom(roles).Draw(rt, "sub-agent's role")})
		if err != nil {
			rt.Fatal(err)
		}
		for _, tool := range tools {
			r := request(tool, `{"path":"`+rapid.SampledFrom([]string{"x1", "y1"}).Draw(rt, "path")+`"}`)
			rank := func(c *session.Child) int {
				r.Child = c
				d := h.admitted(s, r)
				return int(d.Effect)*2 + map[bool]int{false: 1, true: 0}[d.Unknown]
			}
			above := rank(nil)
			d := h.admitted(sub, r)
			if got := int(d.Effect)*2 + map[bool]int{false: 1, true: 0}[d.Unknown]; got > above ||
				slices.Contains(sub.Snapshot().View().Tools(), tool) != (got > 0) {
				rt.Fatalf("%s: a sub-agent is decided as %d, what is above it as %d, and it sees %q", tool, got, above,
					sub.Snapshot().View().Tools())
			}
			for n := range len(given) + 1 {
				child := &session.Child{ID: "c", Roles: given[:n]}
				got := rank(child)
				if got > above {
					rt.Fatalf("%s: a child with roles %v may do more (%d) than what is above it (%d)", tool, child.Roles, got, above)
				}
				if seen := s.Shows(child, r.Item); seen != (got > 0) {
					rt.Fatalf("%s is seen: %t, and decided as %d", tool, seen, got)
				}
				above = got
			}
		}
	})
}

func TestExpectedCalls(t *testing.T) {
	h := build(t, three())
	hook, err := h.Sessions.Open(t.Context(), session.Spec{Principal: "local", Role: "developer"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := h.Sessions.Open(t.Context(), session.Spec{Principal: "local", Role: "developer"})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := h.Sessions.Open(t.Context(), session.Spec{Principal: "other", Role: "developer"})
	if err != nil {
		t.Fatal(err)
	}
	var came []*session.Session
	expected := Expected{
		Child: &session.Child{ID: "a1", Roles: []string{"guest"}}, Thinking: &audit.Thinking{Thinking: "because"},
		Came: func(s *session.Session) { came = append(came, s) },
	}
	if !h.Expect(hook, "toolu_1", expected) || h.Expect(client, "toolu_1", Expected{}) {
		t.Error("a session cannot announce a call, or can take over what another one announced")
	}
	r := request("files__write_file", `{"path":"a"}`)
	r.ToolUse = "toolu_1"
	if got := h.admitted(stranger, r); got.Effect != policy.Allow {
		t.Errorf("a call of another principal is joined: %+v", got)
	}
	if got := h.admitted(client, r); !got.Unknown {
		t.Errorf("the child's call is decided as its parent's: %+v", got)
	}
	all := h.calls()
	if last := all[len(all)-1]; last.Principal != "local/a1" || last.Session != client.ID || last.Thinking == nil || !last.Thinking.Claimed {
		t.Errorf("recorded: %+v", last)
	}
	if len(came) != 1 || came[0] != client {
		t.Errorf("the hook was told of %v", came)
	}
	h.Forget(client, "toolu_1") // it is not the one that announced it
	if got := h.admitted(client, r); !got.Unknown {
		t.Errorf("after a stranger's Forget: %+v", got)
	}
	h.Forget(hook, "toolu_1")
	if got := h.admitted(client, r); got.Effect != policy.Allow {
		t.Errorf("after Forget: %+v", got)
	}
	for i := range maxExpected {
		if !h.Expect(hook, fmt.Sprint(i), Expected{}) {
			t.Fatalf("call %d cannot be announced", i)
		}
	}
	if h.Expect(hook, "one more", Expected{}) || !h.Expect(hook, "7", Expected{}) || !h.Expect(client, "one more", Expected{}) {
		t.Error("the bound is not that of one session")
	}
	for i := range maxExpected {
		h.Forget(hook, fmt.Sprint(i))
	}
	h.Forget(client, "one more")
	if len(h.arrivals.calls)+len(h.arrivals.count) != 0 {
		t.Errorf("left: %d calls, %d sessions", len(h.arrivals.calls), len(h.arrivals.count))
	}
}

func TestEnded(t *testing.T) {
	h := build(t, three())
	s := h.enter("developer")
	a, err := h.Admit(t.Context(), s, request("files__read_file", `{"path":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	a.Ended(t.Context(), Ending{Failed: "exit code 1", Took: 1500e6, Thinking: &audit.Thinking{Thinking: "late"}})
	all := h.calls()
	last := all[len(all)-1]
	if last.Outcome != "error" || last.Error != "exit code 1" || last.Duration.Milliseconds() != 1500 || last.Thinking == nil ||
		!last.Thinking.Claimed {
		t.Errorf("recorded: %+v", last)
	}
}
