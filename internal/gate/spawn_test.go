package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/gate/control"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
	"mycelium/internal/skill"
)

// leads is three, with a role lead that starts guests.
func leads() plan {
	p := three()
	p.skills = append(p.skills, skill.Skill{Grant: policy.Grant{Name: "leading", AllowedRoles: []string{"lead", "developer"},
		AllowedTools: []string{"mycelium-router__spawn_sub_agent"}}, Description: "Hands work out."})
	p.skills[0].AllowedRoles = append(p.skills[0].AllowedRoles, "lead")
	p.roles = append(p.roles, policy.Role{ID: "lead", MayStart: []string{"guest", "nobody"}})
	return p
}

const spawn = "mycelium-router__spawn_sub_agent"

// TestSpawn: who may start which sub-agent, and what that may do then.
func TestSpawn(t *testing.T) {
	h := build(t, leads())
	for _, c := range []struct{ by, role, want string }{
		{"lead", "guest", ""}, {"lead", "lead", ""},
		{"lead", "developer", "Unknown role: developer. A sub-agent of yours has one of these: lead, guest"},
		{"lead", "nobody", "Unknown role: nobody. A sub-agent of yours has one of these: lead, guest"},
		{"developer", "Developer", ""},
		{"developer", "guest", "Unknown role: guest. A sub-agent of yours has one of these: developer"},
	} {
		_, _, err := h.enter(c.by).Spawn(t.Context(), session.Start{Role: c.role})
		if fmt.Sprint(err) != c.want && (err != nil || c.want != "") {
			t.Errorf("%s starts %s: %v", c.by, c.role, err)
		}
	}
	s := h.enter("lead")
	sub, token, err := s.Spawn(t.Context(), session.Start{Role: "guest", Call: "c-1"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h.Sessions.Authenticate(t.Context(), token); got != sub || err != nil {
		t.Errorf("its token is that of %v, %v", got, err)
	}
	p := sub.Scope().Principal
	if p.ID != s.Principal.ID+"/"+sub.ID || p.Parent == nil || p.Parent.ID != s.Principal.ID || p.Role != "guest" || sub.Depth(nil) != 1 ||
		sub.Depth(&session.Child{Depth: 1}) != 2 || sub.Counted() != s.Counted() || sub.Written != s.Written {
		t.Errorf("it is %+v below %+v", p, p.Parent)
	}
	if got := sub.Scope().Skills; !slices.Equal(got, []string{"reader"}) {
		t.Errorf("its skills: %q", got)
	}
	told := sub.Changed()
	if err := h.Sessions.SetSkills(t.Context(), s, nil, []string{"reader"}, session.ByOperator); err != nil {
		t.Fatal(err)
	}
	<-told
	if got := h.admitted(sub, request("files__read_file", "")); !got.Unknown || len(sub.Scope().Skills) != 0 {
		t.Errorf("with a skill less above it, it has %q, and reads: %+v", sub.Scope().Skills, got)
	}
	if err := h.Sessions.End(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	<-sub.Done()
	if _, err := h.Sessions.Authenticate(t.Context(), token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("its token outlives the session above it: %v", err)
	}
}

// TestSpawnBounds: how deep and how many, and that a restart leaves none.
func TestSpawnBounds(t *testing.T) {
	h := build(t, leads())
	s := h.enter("developer")
	at, token := s, ""
	for range session.MaxDepth {
		var err error
		if at, token, err = at.Spawn(t.Context(), session.Start{Role: "developer"}); err != nil {
			t.Fatal(err)
		}
	}
	var refused session.Refusal
	if _, _, err := at.Spawn(t.Context(), session.Start{Role: "developer"}); !errors.As(err, &refused) {
		t.Errorf("one that is %d deep starts another one: %v", at.Depth(nil), err)
	}
	if _, _, err := s.Spawn(t.Context(), session.Start{Role: "developer", By: &session.Child{ID: "a", Depth: 2}}); err == nil {
		t.Error("a subagent of depth 2 starts a sub-agent")
	}
	for range session.MaxChildren - 1 {
		if _, _, err := s.Spawn(t.Context(), session.Start{Role: "developer"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Spawn(t.Context(), session.Start{Role: "developer"}); !errors.As(err, &refused) {
		t.Errorf("more than %d at once: %v", session.MaxChildren, err)
	}
	h.restart(leads())
	if _, err := h.Sessions.Authenticate(t.Context(), token); !errors.Is(err, session.ErrNoSession) {
		t.Errorf("a token of a sub-agent outlives the daemon: %v", err)
	}
}

// TestSpawnTool: the tool is absent without a grant, says what is wrong, and ends the session of what it started.
func TestSpawnTool(t *testing.T) {
	h := build(t, leads())
	_, hidden := h.Call(t.Context(), h.enter("guest"), request(spawn, `{"role":"guest","task":"x"}`))
	_, absent := h.Call(t.Context(), h.enter("guest"), request("mycelium-router__spawn_sub_agenu", `{"role":"guest","task":"x"}`))
	if hidden == nil || absent == nil || strings.ReplaceAll(hidden.Error(), "agent", "agenu") != absent.Error() {
		t.Errorf("hidden: %v; absent: %v", hidden, absent)
	}
	lead := h.enter("lead")
	if _, text := h.ask(lead, spawn, `{"role":"guest","task":"x"}`); text != "Sub-agents cannot be started here" {
		t.Errorf("without processes: %s", text)
	}
	if out, _ := h.ask(lead, "mycelium-router__get_context", ""); fmt.Sprint(out["subAgentRoles"]) != "[lead guest]" {
		t.Errorf("get_context: %v", out["subAgentRoles"])
	}
	var ran control.Agent
	h.control.Agents = func(_ context.Context, a control.Agent) (control.AgentResult, error) {
		ran = a
		a.Tell("at work")
		return control.AgentResult{Success: a.Task == "good", Result: []byte(`"done"`), Tools: []string{}}, nil
	}
	for args, want := range map[string]string{
		`{"role":"guest","task":" "}`: "Argument task must not be empty", `{"role":"guest"}`: "Argument task is required",
		`{"role":"guest","task":"x","model":"a b"}`: "Argument model must be", `{"role":"admin","task":"x"}`: "Unknown role: admin",
		`{"role":"guest","task":"bad"}`: `"success":false`,
	} {
		if _, text := h.ask(lead, spawn, args); !strings.Contains(text, want) {
			t.Errorf("%s: %s", args, text)
		}
	}
	r := request(spawn, `{"role":"guest","task":"good"}`)
	r.Params = []byte(`{"name":"spawn_sub_agent","_meta":{"progressToken":1,"mycelium/budget":0.25}}`)
	var told []string
	r.Peer = listener(func(method string, params []byte) { told = append(told, method+string(params)) })
	reply, err := h.Call(t.Context(), lead, r)
	if err != nil || !strings.Contains(string(reply.Result), `"session":"`+ran.Session.ID) || ran.Budget != 0.25 || ran.Token == "" {
		t.Errorf("%+v: %s, %v", ran, reply.Result, err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "at work") {
		t.Errorf("the client was told %q", told)
	}
	<-ran.Session.Done()
}

// TestRowOfDenials: the row is counted for each session, and a call that runs ends it. What is hidden is not counted.
func TestRowOfDenials(t *testing.T) {
	p := three()
	p.rules = []policy.Rule{{Name: "no", Action: "deny", Tool: policy.Names{"files__write_file"}, When: `args.path == "x"`}}
	h := build(t, p)
	h.row = func(_ *session.Session, _ string, length int, _ string) (advice, halt string) {
		return fmt.Sprint(length), ""
	}
	s, other := h.enter("developer"), h.enter("developer")
	row := func(s *session.Session, name, args string) string {
		_, err := h.Call(t.Context(), s, request(name, args))
		if denied := (*DeniedError)(nil); errors.As(err, &denied) {
			return denied.Advice
		}
		return fmt.Sprint(err)
	}
	for _, want := range []string{"1", "2"} {
		if got := row(s, "files__write_file", `{"path":"x"}`); got != want {
			t.Errorf("denial %s: %q", want, got)
		}
	}
	if got := row(s, "database__query", ""); got != "" {
		t.Errorf("a hidden tool is counted: %q", got)
	}
	if got := row(other, "files__write_file", `{"path":"x"}`); got != "1" {
		t.Errorf("the other session: %q", got)
	}
	if got := row(s, "files__write_file", `{"path":"y"}`); got != "<nil>" {
		t.Errorf("an allowed call: %q", got)
	}
	if got := row(s, "files__write_file", `{"path":"x"}`); got != "1" {
		t.Errorf("after a call that ran: %q", got)
	}
}
