package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

func TestCallPassesParamsAndResultThrough(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	result := []byte("{ \"content\":[ ],\"x-unknown\" : 1.0e2, \"_meta\":{\"a\":\"\\u00e9\"} }")
	h.back.answer = func(_ context.Context, scope policy.Scope, _, _ string, _ []byte) ([]byte, []byte, error) {
		if scope.Principal.Role != "guest" || scope.Principal.ID != s.ID {
			t.Errorf("the server was given the scope %+v", scope)
		}
		return result, nil, nil
	}
	r := request("files__read_file", `{"path":"a.txt"}`)
	r.Params = []byte("{ \"name\":\"read_file\" , \"arguments\":{\"path\":\"a.txt\"},\"_meta\":{\"progressToken\":7}}")
	told := 0
	r.Peer = listener(func(string, []byte) { told++ })
	reply, err := h.Call(t.Context(), s, r)
	if err != nil || !bytes.Equal(reply.Result, result) || reply.Error != nil {
		t.Fatalf("got %s %s, %v", reply.Result, reply.Error, err)
	}
	if want := "files tools/call " + string(r.Params); !slices.Equal(h.back.seen(), []string{want}) {
		t.Errorf("the server saw %q, want %q", h.back.seen(), want)
	}
	if told != 1 {
		t.Errorf("told %d times of progress", told)
	}
	d, o := h.last(audit.Decided), h.last(audit.Outcome)
	if d["id"] != o["id"] || d["id"] == "" || d["effect"] != "allow" || d["tool"] != "files__read_file" || d["surface"] != "test" ||
		d["role"] != "guest" {
		t.Errorf("records %v and %v", d, o)
	}
	if args, _ := json.Marshal(d["args"]); string(args) != `{"path":"a.txt"}` {
		t.Errorf("arguments recorded as %s", args)
	}
	if o["outcome"] != "ok" || o["durationMs"] == nil {
		t.Errorf("outcome recorded as %v", o)
	}
	facts, _ := json.Marshal(d["facts"])
	if !strings.Contains(string(facts), h.dir+"/a.txt") {
		t.Errorf("facts recorded as %s", facts)
	}
}

func TestOutcomes(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	for _, c := range []struct {
		name             string
		result, rpcErr   string
		err              error
		outcome, mention string
	}{
		{"fine", `{"content":[],"isError":false}`, "", nil, "ok", ""},
		{"tool error", `{"content":[],"isError":true}`, "", nil, "error", "reported"},
		{"protocol error", "", `{"code":-32602,"message":"no such path"}`, nil, "error", "no such path"},
		{"transport", "", "", errors.New("the server is gone"), "error", "gone"},
		{"neither", "", "", nil, "error", "neither"},
	} {
		h.back.answer = func(context.Context, policy.Scope, string, string, []byte) (res, rpcErr []byte, err error) {
			if c.result != "" {
				res = []byte(c.result)
			}
			if c.rpcErr != "" {
				rpcErr = []byte(c.rpcErr)
			}
			return res, rpcErr, c.err
		}
		reply, err := h.Call(t.Context(), s, request("files__read_file", `{}`))
		if string(reply.Result) != c.result || string(reply.Error) != c.rpcErr {
			t.Errorf("%s: answered %s %s", c.name, reply.Result, reply.Error)
		}
		if c.err != nil && !errors.Is(err, c.err) {
			t.Errorf("%s: error %v", c.name, err)
		}
		o := h.last(audit.Outcome)
		text, _ := o["error"].(string)
		if o["outcome"] != c.outcome || !strings.Contains(text, c.mention) {
			t.Errorf("%s: recorded as %v", c.name, o)
		}
	}
}

func TestPanicOfAServerIsAFailedCall(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) { panic("boom") }
	if _, err := h.Call(t.Context(), s, request("files__read_file", `{}`)); err == nil || strings.Contains(err.Error(), "boom") {
		t.Errorf("error %v", err)
	}
	if o := h.last(audit.Outcome); o["outcome"] != "error" {
		t.Errorf("recorded as %v", o)
	}
}

// TestHiddenIsAbsent: T7. What is hidden, what does not exist and what can not exist are refused with the same words, and
// only the log tells them apart.
func TestHiddenIsAbsent(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	refused := func(asked string, r Request) DeniedError {
		t.Helper()
		r.Asked = asked
		_, err := h.Call(t.Context(), s, r)
		return *denied(t, err)
	}
	hidden := refused("X", request("files__write_file", `{"path":"a"}`))
	for _, name := range []string{
		"files__no_such_tool", "nowhere__tool", "files__read_file_and_delete", "files__read_file__evil", "files__read\u200b_file",
		"files__read_file\x00",
		"", "nonsense", "agent__Bash", "mycelium-router__no_such", "mycelium-router__set_role", "FILES__read_file", "execution__run_command",
	} {
		if got := refused("X", request(name, `{"path":"a"}`)); !reflect.DeepEqual(got, hidden) {
			t.Errorf("%q is refused with %+v, a hidden tool with %+v", name, got, hidden)
		}
		if d := h.last(audit.Decided); d["unknown"] != true || d["effect"] != "deny" {
			t.Errorf("%q: recorded as %v", name, d)
		}
	}
	if !reflect.DeepEqual(hidden.Decision, policy.Decision{Unknown: true, Reason: "Unknown tool: X"}) {
		t.Errorf("a hidden tool is refused with %+v", hidden)
	}
	// Bad arguments make no difference either.
	for _, name := range []string{"files__write_file", "files__no_such_tool"} {
		if got := refused("X", request(name, `{"path":1,"path":2}`)); !reflect.DeepEqual(got, hidden) {
			t.Errorf("%q with bad arguments is refused with %+v", name, got)
		}
	}
	if calls := h.back.seen(); len(calls) > 0 {
		t.Errorf("reached servers: %q", calls)
	}
}

// TestDenialsAreRecorded: AT1.6, with the arguments of the call.
func TestDenialsAreRecorded(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	dangerous := []string{"database__delete_database", "execution__run_command", "files__delete_file", "system__shutdown",
		"admin__create_user",
		"mycelium-memory__save_memory", "mycelium-memory__recall_memory", "mycelium-memory__list_memories",
	}
	for _, name := range dangerous {
		_, err := h.Call(t.Context(), s, request(name, `{"target":"production","password":"hunter2"}`))
		if d := denied(t, err); d.Asked != name {
			t.Errorf("%s: asked %q", name, d.Asked)
		}
		d := h.last(audit.Decided)
		args, _ := d["args"].(map[string]any)
		if d["tool"] != name || args["target"] != "production" || d["session"] != s.ID {
			t.Errorf("%s: recorded as %v", name, d)
		}
		if args["password"] == "hunter2" {
			t.Errorf("%s: the password is in the log", name)
		}
	}
	if n := len(h.records(audit.Decided)); n != len(dangerous) {
		t.Errorf("%d records of %d denials", n, len(dangerous))
	}
}

func TestRulesDecideVisibleTools(t *testing.T) {
	p := three()
	p.rules = []policy.Rule{
		onPath("no-secrets", "deny", "**/*.secret", "Secrets are not edited."),
		onPath("ask-docs", "ask", "**/docs/**", "Docs are reviewed."),
	}
	h := build(t, p)
	if err := os.Symlink("a.secret", h.dir+"/innocent"); err != nil {
		t.Fatal(err)
	}
	s := h.enter("developer")
	for path, want := range map[string]string{"a.txt": "", "a.secret": "no-secrets", "innocent": "no-secrets", "x/../b.secret": "no-secrets",
		"docs/a.md": "ask-docs"} {
		_, err := h.Call(t.Context(), s, request("files__write_file", `{"path":"`+path+`"}`))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		d := denied(t, err)
		if d.Decision.Rule != want || d.Decision.Unknown {
			t.Errorf("%s: %+v", path, d.Decision)
		}
		if want == "ask-docs" && (!strings.Contains(d.Error(), "no daemon runs that could ask a person") || d.Decision.Effect != policy.Ask) {
			t.Errorf("%s: %+v", path, d.Decision)
		}
	}
	if n := len(h.back.seen()); n != 1 {
		t.Errorf("%d calls ran: %q", n, h.back.seen())
	}
}

// onPath is a rule over the path of files__write_file.
func onPath(name, action, glob, reason string) policy.Rule {
	return policy.Rule{
		Name: name, Action: action, Tool: policy.Names{"files__write_file"}, Reason: reason,
		Match: map[string]policy.Values{"path": {{Glob: &glob}}},
	}
}

func TestMalformedArguments(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	for _, args := range []string{`{"path":"a","path":"b"}`, `[]`, `"x"`, `{`, `{"path":}`, `{} {}`, "{\"path\":\"\xff\"}"} {
		_, err := h.Call(t.Context(), s, request("files__read_file", args))
		if d := denied(t, err); d.Decision.Unknown || !strings.Contains(d.Error(), "arguments") {
			t.Errorf("%s: %+v", args, d.Decision)
		}
		if d := h.last(audit.Decided); d["effect"] != "deny" || d["rule"] != "arguments" {
			t.Errorf("%s: recorded as %v", args, d)
		}
	}
	if n := len(h.back.seen()); n != 0 {
		t.Errorf("%d calls ran", n)
	}
}

// TestWhatCannotBeRecordedDoesNotRun: decision 12.
func TestWhatCannotBeRecordedDoesNotRun(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	if err := h.log.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := h.Call(t.Context(), s, request("files__read_file", `{}`))
	if d := denied(t, err); d.Decision.Unknown || !strings.Contains(d.Error(), "recorded") {
		t.Errorf("%+v", d.Decision)
	}
	_, err = h.Call(t.Context(), s, request("files__write_file", `{}`))
	if d := denied(t, err); !d.Decision.Unknown {
		t.Errorf("a hidden tool: %+v", d.Decision)
	}
	if n := len(h.back.seen()); n != 0 {
		t.Errorf("%d calls ran", n)
	}
	if _, _, err := h.Sessions.Mint(t.Context(), session.Spec{Role: "guest"}); err == nil {
		t.Error("a session was minted without a record")
	}
	if _, err := h.Sessions.Open(t.Context(), session.Spec{Role: "guest"}); err == nil {
		t.Error("a session was opened without a record")
	}
}

// TestOutcomeThatCannotBeWritten: the caller gets the result, but no other call runs until the log has the outcome.
func TestOutcomeThatCannotBeWritten(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	broken := h.log
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		return []byte(`{"content":[]}`), nil, broken.Close()
	}
	reply, err := h.Call(t.Context(), s, request("files__read_file", `{"path":"first"}`))
	if err != nil || string(reply.Result) != `{"content":[]}` {
		t.Fatalf("the result was lost: %s, %v", reply.Result, err)
	}
	h.back.answer = nil
	_, err = h.Call(t.Context(), s, request("files__read_file", `{"path":"second"}`))
	denied(t, err)
	if n := len(h.back.seen()); n != 1 {
		t.Fatalf("%d calls ran", n)
	}
	// The log works again.
	if h.Gate.log, err = audit.Open(h.logs); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Gate.log.Close() })
	if _, err := h.Call(t.Context(), s, request("files__read_file", `{"path":"third"}`)); err != nil {
		t.Fatal(err)
	}
	first := ""
	for _, m := range h.records(audit.Decided) {
		if args, _ := m["args"].(map[string]any); args["path"] == "first" {
			first, _ = m["id"].(string)
		}
	}
	ended := slices.ContainsFunc(h.records(audit.Outcome), func(m map[string]any) bool { return m["id"] == first })
	if first == "" || !ended {
		t.Errorf("the first call %q has no outcome in %v", first, h.records(audit.Outcome))
	}
}

func TestThinkingIsUsedOnce(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	thought := func() any {
		m, _ := h.last(audit.Decided)["thinking"].(map[string]any)
		if m == nil {
			return nil
		}
		if m["claimed"] != true {
			t.Errorf("not marked as claimed: %v", m)
		}
		return m["thinking"]
	}
	call := func(name string, r Request) {
		t.Helper()
		r.Item, _ = policy.ParseTool(name)
		if _, err := h.Call(t.Context(), s, r); err != nil && !errors.As(err, new(*DeniedError)) {
			t.Fatal(err)
		}
	}
	set := func(text string) {
		t.Helper()
		if _, failed := h.ask(s, "mycelium-router__set_thinking", `{"thinking":"`+text+
			`","type":"reasoning","thinkingTokens":12}`); failed != "" {
			t.Fatal(failed)
		}
	}
	set("first")
	call("files__read_file", Request{})
	if got := thought(); got != "first" {
		t.Errorf("recorded %v", got)
	}
	call("files__read_file", Request{})
	if got := thought(); got != nil {
		t.Errorf("used twice: %v", got)
	}
	set("of a denied one")
	call("files__write_file", Request{})
	if got := thought(); got != "of a denied one" {
		t.Errorf("recorded %v", got)
	}
	set("older")
	call("files__read_file", Request{Thinking: &audit.Thinking{Thinking: "own"}})
	if got := thought(); got != "own" {
		t.Errorf("recorded %v", got)
	}
	call("files__read_file", Request{})
	if got := thought(); got != nil {
		t.Errorf("the older one came late: %v", got)
	}
	if _, failed := h.ask(s, "mycelium-router__set_thinking", `{"thinking":"with figures","cacheMetrics":{"cacheReadTokens":5,`+
		`"cacheCreationTokens":7}}`); failed != "" {
		t.Fatal(failed)
	}
	call("files__read_file", Request{})
	m, _ := h.last(audit.Decided)["thinking"].(map[string]any)
	if cache, _ := m["cacheMetrics"].(map[string]any); fmt.Sprint(cache) != "map[cacheCreationTokens:7 cacheReadTokens:5]" {
		t.Errorf("recorded %v", m)
	}
	for _, bad := range []string{`{}`, `{"thinking":"x","cacheMetrics":3}`, `{"thinking":"x","cacheMetrics":{"other":1}}`,
		`{"thinking":"x","cacheMetrics":{"cacheReadTokens":-1}}`, `{"thinking":""}`, `{"thinking":"x","type":"vision"}`,
		`{"thinking":"x","thinkingTokens":-1}`, `{"thinking":"x","session":"other"}`} {
		if _, failed := h.ask(s, "mycelium-router__set_thinking", bad); failed == "" {
			t.Errorf("%s was taken", bad)
		}
	}
}

// TestCallsAndChangesAtOnce is for the race detector: no call sees half a change.
func TestCallsAndChangesAtOnce(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest", "developer", "admin")
	var group sync.WaitGroup
	ctx := t.Context()
	for range 4 {
		group.Go(func() {
			for range 25 {
				scope := s.Scope()
				if scope.Principal.Role == "guest" && slices.Contains(scope.Skills, "editor") {
					t.Errorf("half a change: %+v", scope)
				}
				if _, err := h.Call(ctx, s, request("files__write_file", `{"path":"a"}`)); err != nil && !errors.As(err, new(*DeniedError)) {
					t.Error(err)
				}
				s.List(policy.Tool)
				h.Instructions(s)
			}
		})
	}
	group.Go(func() {
		for _, role := range slices.Repeat([]string{"developer", "admin", "guest"}, 8) {
			if _, err := h.Sessions.SetRole(ctx, s, role, session.ByAgent); err != nil {
				t.Error(err)
			}
		}
	})
	group.Go(func() {
		w := h.World()
		for range 20 {
			h.Swap(w)
		}
	})
	group.Wait()
	if got := s.Scope().Principal.Role; got != "guest" {
		t.Errorf("role %q at the end", got)
	}
}

// TestAdmit: an agent's own tools are decided and recorded here, and run by the agent. Through Call they do not exist.
func TestAdmit(t *testing.T) {
	p := three()
	p.skills[0].AllowedTools = append(p.skills[0].AllowedTools, "agent__Read")
	p.rules = []policy.Rule{{Name: "reads", Action: "allow", Tool: policy.Names{"agent__Read"}}}
	h := build(t, p)
	s := h.enter("guest")
	r := request("agent__Read", `{"file_path":"a.txt"}`)
	if _, err := h.Call(t.Context(), s, r); !denied(t, err).Decision.Unknown {
		t.Errorf("%v", err)
	}
	a, err := h.Admit(t.Context(), s, r)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(h.records(audit.Outcome)); n != 0 {
		t.Errorf("%d outcomes before it ran", n)
	}
	a.Done(t.Context(), Reply{Result: []byte(`{}`)}, nil)
	if d, o := h.last(audit.Decided), h.last(audit.Outcome); d["tool"] != "agent__Read" || d["effect"] != "allow" || o["id"] != d["id"] ||
		o["outcome"] != "ok" {
		t.Errorf("recorded %v and %v", d, o)
	}
	if _, err := h.Admit(t.Context(), s, request("agent__Write", `{"file_path":"a.txt"}`)); !denied(t, err).Decision.Unknown {
		t.Errorf("%v", err)
	}
}

// withheld is how a backend refuses an item in quarantine.
type withheld struct{}

func (withheld) Error() string { return "it is in quarantine: its definition changed" }
func (withheld) Absent() bool  { return true }

// TestQuarantinedIsAbsent: a call that was admitted before the policy knew of a quarantine is refused exactly like an unknown tool.
func TestQuarantinedIsAbsent(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	refused := func(r Request) DeniedError {
		t.Helper()
		r.Asked = "X"
		_, err := h.Call(t.Context(), s, r)
		return *denied(t, err)
	}
	unknown := refused(request("nowhere__tool", `{}`))
	h.back.answer = func(context.Context, policy.Scope, string, string, []byte) ([]byte, []byte, error) {
		return nil, nil, fmt.Errorf("server %q: %w", "files", withheld{})
	}
	if got := refused(request("files__read_file", `{"path":"a"}`)); !reflect.DeepEqual(got, unknown) {
		t.Errorf("refused with %+v, an unknown tool with %+v", got, unknown)
	}
	if d := h.last(audit.Outcome); d["outcome"] != "denied" || d["unknown"] != true || d["error"] != "its definition is in quarantine" {
		t.Errorf("recorded as %v", d)
	}
}

func TestTooManyPaths(t *testing.T) {
	h := build(t, three())
	s := h.enter("guest")
	_, err := h.Call(t.Context(), s, request("files__read_file", `{"paths":["a"`+strings.Repeat(`,"a"`, 1000)+`]}`))
	if d := denied(t, err); !strings.Contains(d.Error(), "1000 paths") {
		t.Errorf("%+v", d.Decision)
	}
	if len(h.back.seen()) > 0 {
		t.Error("it ran")
	}
}
