package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// task returns the event before a subagent is started.
func task(id, kind, prompt string) harness.Event {
	return harness.Event{Kind: harness.PreTool, Tool: "agent__Task", ToolUse: id,
		Input: jsontext.Value(fmt.Sprintf(`{"prompt":%q,"subagent_type":%q}`, prompt, kind))}
}

// by turns an event into one of a subagent.
func by(e harness.Event, id, kind string) harness.Event {
	e.AgentID, e.AgentType = id, kind
	return e
}

// families is a world like coder in which subagents may be started.
func families() plan {
	p := coder()
	p.skills[0].AllowedTools = append(p.skills[0].AllowedTools, "agent__Task")
	p.rules = append(p.rules, policy.Rule{Name: "edits", Action: "allow", Tool: policy.Names{"agent__Edit", "agent__Task"}})
	return p
}

// editing returns the event before a file is edited, which a guest may not do.
func editing(id string) harness.Event {
	return harness.Event{Kind: harness.PreTool, Tool: "agent__Edit", ToolUse: id,
		Input: jsontext.Value(`{"file_path":"a.go","old_string":"a","new_string":"b"}`)}
}

// notes writes Claude Code's note about a subagent, and returns the path of the run's transcript.
func (h *house) notes(agent, meta, transcript string) string {
	h.t.Helper()
	dir := filepath.Join(h.dir, "projects", "r1", "subagents")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	for suffix, text := range map[string]string{".meta.json": meta, ".jsonl": transcript} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, "agent-"+agent+suffix), []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	return filepath.Join(h.dir, "projects", "r1.jsonl")
}

func TestChildren(t *testing.T) {
	h := build(t, families())
	may := func(e harness.Event, want harness.Verdict, why string) {
		t.Helper()
		if a := h.send(e); a.Verdict != want {
			t.Errorf("%s: %+v, want %q", why, a, want)
		}
	}
	may(editing("e0"), harness.Allow, "the agent itself edits")
	may(by(editing("e1"), "a0", "general-purpose"), harness.Allow, "a child without a role edits")
	// Two subagents are started together and begin in reverse order. The notes tell them apart.
	may(task("t1", "general-purpose", "as guest role, look around"), harness.Allow, "a task")
	may(task("t2", "general-purpose", "do it"), harness.Allow, "another")
	path := h.notes("a1", `{"agentType":"general-purpose","toolUseId":"t2"}`, "")
	h.notes("a2", `{"agentType":"general-purpose","toolUseId":"t1"}`, "")
	free, bound := by(editing("e2"), "a1", "general-purpose"), by(editing("e3"), "a2", "general-purpose")
	free.Transcript, bound.Transcript = path, path
	may(free, harness.Allow, "the second child edits")
	may(bound, harness.Deny, "the first child edits")
	may(harness.Event{Kind: harness.SubagentStop, AgentID: "a2"}, harness.Pass, "it stops")
	may(bound, harness.Deny, "it edits when it is woken again")
	// Without notes, the roles of every call that may have started a child restrict it.
	may(by(editing("e4"), "a3", "general-purpose"), harness.Deny, "a child of which nothing is noted edits")
	may(by(editing("e5"), "a4", "Explore"), harness.Allow, "one of another kind edits")
	may(by(editing("e6"), "a5", "guest"), harness.Deny, "one that is called like a role edits")
	// After a restart, its own transcript has its prompt.
	late := by(editing("e7"), "a6", "general-purpose")
	late.Transcript = h.notes("a6", `{"toolUseId":"unknown"}`,
		`{"type":"user","message":{"role":"user","content":"Work with the guest role."}}`+"\n")
	may(late, harness.Deny, "one from before the restart edits")
	// The children of a restricted child are restricted.
	nested := by(task("t3", "general-purpose", "role: developer"), "a1", "general-purpose")
	nested.Transcript = path
	may(nested, harness.Allow, "the free child starts one")
	grand := by(editing("e8"), "a7", "general-purpose")
	grand.Transcript = h.notes("a7", `{"toolUseId":"t3"}`, "")
	may(grand, harness.Allow, "the free child's child edits")

	// At the second depth it ends: the child's child starts no other, and neither does one whose start nobody saw.
	deeper := by(task("t4", "general-purpose", "go on"), "a7", "general-purpose")
	deeper.Transcript = grand.Transcript
	may(deeper, harness.Deny, "the child's child starts one")
	may(by(task("t5", "other", "go on"), "a8", "unseen"), harness.Deny, "one whose start nobody saw starts another")

	got := h.said()
	for _, want := range []string{"local decision agent__Edit allow by edits", "local/a0 decision agent__Edit allow by edits",
		"local/a2 decision agent__Edit deny"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log does not say %q:\n%s", want, got)
		}
	}
	if a := h.send(harness.Event{Kind: harness.SubagentStart, AgentID: "a2", AgentType: "general-purpose",
		Transcript: path}); !strings.Contains(a.Context, "role guest") {
		t.Errorf("the child is told %+v", a)
	}
}

// TestLawHookChildren: for any prompt and any note, a child may do only what its parent may do.
func TestLawHookChildren(t *testing.T) {
	h := build(t, families())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		word := rapid.SampledFrom([]string{"role: guest", "as developer role", "role: admin", "", "ロール：guest", "role:",
			"with the developer role"})
		kind := rapid.SampledFrom([]string{"general-purpose", "guest", "developer", "", "../x"})
		run := fmt.Sprint("run", n)
		send := func(e harness.Event) harness.Verdict {
			e.Session = run
			return h.send(e).Verdict
		}
		for i := range rapid.IntRange(0, 3).Draw(rt, "tasks") {
			send(task(fmt.Sprint("t", i), kind.Draw(rt, "kind"), word.Draw(rt, "word")))
		}
		rank := map[harness.Verdict]int{harness.Deny: 0, harness.Ask: 1, harness.Allow: 2}
		for _, e := range []harness.Event{editing("e"), read("r", "x"),
			{Kind: harness.PreTool, Tool: "shop__buy", ToolUse: "s", Input: jsontext.Value(`{}`)}, bash("b", "git push")} {
			e.Interactive = true
			if child := by(e, rapid.SampledFrom([]string{"a", "b/../c", "\x00"}).Draw(rt, "id"),
				kind.Draw(rt, "kind")); rank[send(child)] > rank[send(e)] {
				rt.Fatalf("%+v may do more than its parent", child)
			}
		}
		send(harness.Event{Kind: harness.SessionEnd})
	})
}

// TestOwnGateway: the hook allows a call of our own gateway. The gateway decides it for the child that makes it. From then on the two
// share one session.
func TestOwnGateway(t *testing.T) {
	h := build(t, families())
	client, err := h.gate.Sessions.Open(t.Context(), session.Spec{Principal: "local", Role: "developer", Roles: []string{"guest"}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool, toolUse string) error {
		it, _ := policy.ParseTool(tool)
		_, err := h.gate.Call(t.Context(), client,
			gate.Request{Item: it, Asked: tool, Method: "tools/call", Args: []byte(`{}`), Params: []byte(`{}`), Surface: "mcp-stdio",
				ToolUse: toolUse})
		return err
	}
	ours := func(id, tool string) harness.Event {
		return harness.Event{Kind: harness.PreTool, Tool: tool, Native: "mcp__mycelium__" + tool, Ours: true, ToolUse: id,
			Input: jsontext.Value(`{}`)}
	}
	if a := h.send(ours("m0", "shop__buy")); a.Verdict != harness.Deny || a.Reason != "Unknown tool: shop__buy" {
		t.Errorf("a tool that the session does not show: %+v", a)
	}
	guest := by(ours("m1", "files__write_file"), "a1", "guest")
	if a := h.send(guest); a.Verdict != harness.Deny || a.Reason != "Unknown tool: files__write_file" {
		t.Errorf("a tool that the child does not see: %+v", a)
	}
	before := len(h.records())
	if a := h.send(by(ours("m2", "files__read_file"), "a1", "guest")); a.Verdict != harness.Allow {
		t.Errorf("a tool that it sees: %+v", a)
	}
	if n := len(h.records()); n != before {
		t.Errorf("the hook recorded what the gateway decides: %d", n-before)
	}
	if err := call("files__read_file", "m2"); err != nil {
		t.Error(err)
	}
	if got := h.said(); !strings.HasSuffix(got, "local/a1 decision files__read_file allow\nlocal/a1 outcome files__read_file ok") {
		t.Errorf("the log says\n%s", got)
	}
	// They share a session now: a change of role over MCP also applies to the agent's own tools.
	if got := h.Sessions(); len(got) != 1 || got[0].Role != "developer" {
		t.Errorf("sessions: %+v", got)
	}
	if _, err := h.gate.Sessions.SetRole(t.Context(), client, "guest", session.ByAgent); err != nil {
		t.Fatal(err)
	}
	if a := h.send(editing("e1")); a.Verdict != harness.Deny {
		t.Errorf("an edit after set_role to guest: %+v", a)
	}
	infos, err := h.gate.Sessions.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].ID != client.ID {
		t.Errorf("the gate has %+v, %v", infos, err)
	}
	h.send(harness.Event{Kind: harness.PostTool, Tool: "files__read_file", ToolUse: "m2"})
	h.send(harness.Event{Kind: harness.SessionEnd})
	if isDone(client) {
		t.Error("the end of the run ended the client's session")
	}
}

// TestShareIsNoAuthority: the id of a call joins a run only to a session of the same principal that is not wider.
func TestShareIsNoAuthority(t *testing.T) {
	for name, spec := range map[string]session.Spec{
		"another principal": {Principal: "other", Role: "developer"},
		"a wider session":   {Principal: "local", Role: "admin"},
		"a wider choice":    {Principal: "local", Role: "guest", Roles: []string{"admin"}},
	} {
		p := families()
		p.skills = append(p.skills, grant("admins", []string{"admin"}, "shop__buy", "files__read_file"))
		h := build(t, p)
		client, err := h.gate.Sessions.Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		e := harness.Event{Kind: harness.PreTool, Tool: "files__read_file", Ours: true, ToolUse: "m1", Input: jsontext.Value(`{}`)}
		if a := h.send(e); a.Verdict != harness.Allow {
			t.Fatalf("%s: %+v", name, a)
		}
		it := policy.Item{Server: "files", Name: "read_file"}
		_, err = h.gate.Call(t.Context(), client,
			gate.Request{Item: it, Asked: "files__read_file", Method: "tools/call", Params: []byte(`{}`), ToolUse: "m1"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		h.mu.Lock()
		if !slices.ContainsFunc(mapValues(h.runs), func(r *run) bool { return r.own && r.session != client }) {
			t.Errorf("%s: the run took over that session", name)
		}
		h.mu.Unlock()
	}
}

func mapValues[K comparable, V any](m map[K]V) []V {
	var out []V
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
