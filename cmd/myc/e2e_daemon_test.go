package main

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/rawjson"
)

// interruptedAnswer is what a client hears of a call that was on its way when the daemon died.
const interruptedAnswer = `{"code":-32603,"message":"the gateway stopped before the answer; the call may have run: look into the audit"}`

// `myc mcp` outlives its daemon's death: one clear error for the call on its way, then the same session under a new daemon,
// with the role that it had taken, and the tools that this role sees.
func TestStdioClientSurvivesTheDaemon(t *testing.T) {
	t.Parallel()
	node, every := nodeProgram(t), npmPart(t, everything)
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest, developer]}\n"+
			"mcpServers:\n  every: {command: %q, args: [%q]}\n", node, every),
		"skills/slow/SKILL.yaml": "name: slow\ndescription: Takes its time.\nallowedRoles: [developer]\n" +
			"allowedTools: [every__trigger-long-running-operation]\n",
	}))
	p.must("tools")
	w := startWire(t, p.command("mcp", "--role", "guest", "--may", "developer")).hello("2025-11-25")
	w.ask("tools/call", `{"name":"mycelium-router__set_role","arguments":{"role_id":"developer"}}`)
	w.until("notifications/tools/list_changed")
	want := w.names("tools/list", "tools", "name")
	if !slices.Contains(want, "files__write_file") {
		t.Fatalf("a developer is shown %v", want)
	}
	session := sessionOf(w)
	for round := range 2 {
		slow := w.request("tools/call", `{"name":"every__trigger-long-running-operation","arguments":{"duration":3600,"steps":36000},`+
			`"_meta":{"progressToken":1}}`)
		w.until("notifications/progress") // it runs
		before := p.status().Daemon.PID
		if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if got := rawjson.Member(w.await(slow), "error"); string(got) != interruptedAnswer {
			t.Errorf("the call on its way is answered %s", got)
		}
		w.seen = slices.DeleteFunc(w.seen, func(line string) bool { return !is(line, "notifications/tools/list_changed") })
		w.until("notifications/tools/list_changed")
		if got := w.names("tools/list", "tools", "name"); !slices.Equal(got, want) {
			t.Errorf("after the daemon's death the tools are %v, before %v", got, want)
		}
		if got := sessionOf(w); got != session {
			t.Errorf("after the daemon's death the session is %s, before %s", got, session)
		}
		file := fmt.Sprintf("round-%d.txt", round)
		w.ask("tools/call", `{"name":"files__write_file","arguments":{"path":"`+file+`","content":"written"}}`)
		if p.read(file) != "written" {
			t.Errorf("after the daemon's death nothing is written")
		}
		if after := p.status().Daemon.PID; after == before || after == 0 {
			t.Errorf("the daemon was %d and is %d", before, after)
		}
	}
	if err := w.close(); err != nil {
		t.Errorf("myc mcp ends with %v", err)
	}
	p.must("audit", "verify")
	id, _, _ := strings.Cut(session, " ")
	if got := p.must("session", "list"); strings.Contains(got, id) {
		t.Errorf("the session outlives its client: %s", got)
	}
	var records []struct {
		Tool    string `json:"tool"`
		Outcome string `json:"outcome"`
	}
	p.decode(&records, "audit", "query", "--limit", "100")
	lost := 0
	for _, r := range records {
		if r.Tool == "every__trigger-long-running-operation" && r.Outcome == "unfinished" {
			lost++
		}
	}
	if lost != 2 {
		t.Errorf("the record shows %d calls without an end, want 2: %+v", lost, records)
	}
}

// sessionOf is what a client is told of its session: its id, and the role and the skills that it has.
func sessionOf(w *wire) string {
	w.t.Helper()
	got := w.ask("tools/call", `{"name":"mycelium-router__get_context","arguments":{}}`)
	id := rawjson.TextAt(got, "structuredContent", "session")
	role := rawjson.TextAt(got, "structuredContent", "role")
	if id == "" || role != "developer" {
		w.t.Fatalf("get_context: %s", got)
	}
	return id + " " + role + " " + string(rawjson.Path(got, "structuredContent", "activeSkills"))
}

// Two clients under one daemon: a role switch of one is told to that one only, and changes nothing for the other.
func TestARoleSwitchConcernsOneSession(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	a := startWire(t, p.command("mcp", "--role", "guest", "--may", "developer")).hello("2025-06-18")
	b := startWire(t, p.command("mcp", "--role", "guest", "--may", "developer")).hello("2025-06-18")
	a.ask("tools/call", `{"name":"mycelium-router__set_role","arguments":{"role_id":"developer"}}`)
	a.until("notifications/tools/list_changed")
	if got := a.names("tools/list", "tools", "name"); !slices.Contains(got, "files__write_file") {
		t.Errorf("the one that switched sees %v", got)
	}
	if got := b.names("tools/list", "tools", "name"); slices.Contains(got, "files__write_file") {
		t.Errorf("the other one sees %v", got)
	}
	b.refused("tools/call", `{"name":"files__write_file","arguments":{"path":"x","content":"x"}}`)
	if len(b.seen) > 0 {
		t.Errorf("the other one was told %v", b.seen)
	}
	// An operator takes the role away again: enforced at the next call, whether or not the client lists again.
	var list []struct {
		ID   string `json:"id"`
		Role string `json:"role"`
	}
	p.decode(&list, "session", "list")
	for _, s := range list {
		if s.Role == "developer" {
			p.must("session", "set-role", s.ID, "guest")
		}
	}
	if got, want := a.refused("tools/call", `{"name":"files__write_file","arguments":{"path":"x","content":"x"}}`),
		`{"code":-32602,"message":"Unknown tool: files__write_file"}`; got != want {
		t.Errorf("after the operator took the role: %s", got)
	}
	a.until("notifications/tools/list_changed")
}

// ${VAR} of a server's entry expands from what the client has in its environment, where mycelium.yaml names it: the daemon was started
// by somebody else. A client without the variable takes it from nobody.
func TestClientsHandVariablesOver(t *testing.T) {
	t.Parallel()
	node, every := nodeProgram(t), npmPart(t, everything)
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest}\nenv: [GREETING]\nmcpServers:\n"+
			"  every: {command: %q, args: [%q], env: {SAID: \"${GREETING}\", OTHER: \"${UNNAMED:-nothing}\"}}\n", node, every),
		"skills/outside/SKILL.yaml": "name: outside\ndescription: x\nallowedRoles: [guest]\nallowedTools: [every__get-env]\n",
	})
	without := slices.Clone(p.env)
	with := append(slices.Clone(p.env), "GREETING=こんにちは", "UNNAMED=unnamed")
	p.env = with
	p.must("tools") // learns the catalog
	p.env = without
	p.must("serve", "--background", "--addr", "127.0.0.1:0")
	poor := startWire(t, p.command("mcp")).hello("2025-06-18")
	if got := string(poor.ask("tools/call", `{"name":"every__get-env","arguments":{}}`)); !strings.Contains(got, "isError") ||
		!strings.Contains(got, "GREETING") {
		t.Errorf("without the variable: %s", got)
	}
	p.env = with
	rich := startWire(t, p.command("mcp")).hello("2025-06-18")
	p.env = without
	later := startWire(t, p.command("mcp")).hello("2025-06-18")
	for _, w := range []*wire{rich, later} {
		got := string(w.ask("tools/call", `{"name":"every__get-env","arguments":{}}`))
		if !strings.Contains(got, `\"SAID\": \"こんにちは\"`) || !strings.Contains(got, `\"OTHER\": \"nothing\"`) {
			t.Errorf("the server's environment: %s", got)
		}
	}
}
