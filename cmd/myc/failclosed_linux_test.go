package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mycelium/internal/atomicfile"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	loaded "mycelium/internal/node/project"
	"mycelium/internal/policy"
)

// The fail-closed matrix of docs/proofs/fail-closed.md: ten faults at six doors. Every cell ends in an explicit denial in the caller's own
// format, and in a record if it can be written.

// failFiles are the files of a project in which every door allows a write.
var failFiles = []string{
	"mycelium.yaml", "session: {defaultRole: developer, roles: [developer]}\napproval: {deadline: 300ms}\nmcpServers: {files: " +
		"{builtin: files}}\n",
	"skills/editor/SKILL.yaml", "name: editor\ndescription: Writes.\nallowedRoles: [developer]\n" +
		"allowedTools: [files__write_file, files__read_file, files__search_files, agent__Write, agent__Edit, agent__Bash]\n",
	"rules.yaml", "version: 1\nrules:\n  - {name: pwned, action: allow, tool: \"Write|Edit|files__write_file\", match: {path: [{glob: " +
		"\"**\"}]}}\n",
}

// agentWrites are the events before a write, with DIR for the project.
var agentWrites = map[string][2]string{
	"claude": {"PreToolUse",
		`{"session_id":"s","cwd":"DIR","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"DIR/pwned.txt",` +
			`"content":"x"},"tool_use_id":"t"}`},
	"codex": {"PreToolUse",
		`{"session_id":"s","turn_id":"t","cwd":"DIR","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** ` +
			`Begin Patch\n` +
			`*** Add File: pwned.txt\n+x\n*** End Patch"},"tool_use_id":"t"}`},
	"gemini": {"BeforeTool",
		`{"session_id":"s","cwd":"DIR","hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"file_path":"DIR/pwned.txt",` +
			`"content":"x"}}`},
	"crush": {"PreToolUse",
		`{"event":"PreToolUse","session_id":"s","cwd":"DIR","tool_name":"write","tool_input":{"file_path":"DIR/pwned.txt","content":"x"}}`},
}

// failWorld is a project whose daemon may be ended, stopped or starved.
type failWorld struct {
	*badWorld
	limit string // of the hooks: long, unless a cell is about it
}

func newFailWorld(t *testing.T, over ...string) failWorld {
	t.Helper()
	w := failWorld{newBadWorld(t, append(append([]string{}, failFiles...), over...)...), "60s"}
	t.Cleanup(func() { w.run("", "stop", "-f") })
	return w
}

// start starts the daemon in the background and notes its address and process.
func (w failWorld) start() {
	w.t.Helper()
	if o := w.run("", "serve", "--background", "--addr", "127.0.0.1:0"); o.code != 0 {
		w.t.Fatalf("serve: %+v", o)
	}
	o := w.run("", "status", "--json")
	w.addr = jsonField(w.t, o.out, "addr")
	if _, err := fmt.Sscan(jsonField(w.t, o.out, "pid"), &w.pid); err != nil {
		w.t.Fatal(err)
	}
}

// hookOf runs an agent's hook on an event; "" stands for a write. small: the program of its own.
func (w failWorld) hookOf(agent, in string, small bool, env ...string) badOutput {
	w.t.Helper()
	if in == "" {
		in = strings.ReplaceAll(agentWrites[agent][1], "DIR", w.dir)
	}
	args := []string{agent, "-C", w.dir, "--event", agentWrites[agent][0], "--limit", w.limit}
	if !small {
		return w.runEnv(env, in, append([]string{"hook"}, args...)...)
	}
	cmd := w.command(args...)
	args = append(args, "--state", string(w.state().Root))
	cmd.Path, cmd.Args = filepath.Join(filepath.Dir(cmd.Path), hook.Small), append([]string{hook.Small}, args...)
	return w.runCommand(cmd, env, in)
}

// saysNo wants a denial in the agent's own words.
func saysNo(t *testing.T, agent string, o badOutput, why string) {
	t.Helper()
	no := map[string]string{"claude": `"permissionDecision":"deny"`, "codex": `"permissionDecision":"deny"`, "gemini": `"decision":"deny"`,
		"crush": `"decision":"deny"`}[agent]
	if o.code != 0 || !strings.Contains(o.out, no) || !strings.Contains(o.out, why) {
		t.Errorf("%s: %+v, want %s and %q", agent, o, no, why)
	}
}

// saysYes wants that the agent goes on.
func saysYes(t *testing.T, agent string, o badOutput) {
	t.Helper()
	yes := map[string]bool{"claude": strings.Contains(o.out, `"permissionDecision":"allow"`), "codex": o.out == "",
		"gemini": strings.Contains(o.out, `"decision":"allow"`),
		"crush":  strings.Contains(o.out, `"decision":"allow"`)}[agent]
	if o.code != 0 || !yes {
		t.Errorf("%s: %+v, want that it goes on", agent, o)
	}
}

// hooks runs a cell of every agent.
func (w failWorld) hooks(t *testing.T, in, why string, env ...string) {
	t.Helper()
	for _, agent := range harness.Names() {
		t.Run(agent, func(t *testing.T) { saysNo(t, agent, w.hookOf(agent, in, false, env...), why) })
		t.Run(agent+" by its own program", func(t *testing.T) { saysNo(t, agent, w.hookOf(agent, in, true, env...), why) })
	}
}

const failCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files__write_file","arguments":{"path":"pwned.txt",` +
	`"content":"x"}}}`

// mcp runs a cell of both MCP doors with a call.
func (w failWorld) mcp(t *testing.T, call, why string) {
	t.Helper()
	for name, talk := range w.talks() {
		t.Run(name, func(t *testing.T) { refusesCall(t, talk.say(call), why) })
	}
}

func (w failWorld) talks() map[string]badTalk {
	w.t.Helper()
	token, _ := w.mint("--role", "developer")
	return map[string]badTalk{"mcp stdio": w.lineTalk(false, "--role", "developer"), "mcp http": w.httpTalk(token, false)}
}

func refusesCall(t *testing.T, answer, why string) {
	t.Helper()
	if !strings.Contains(answer, `"error"`) && !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, why) {
		t.Errorf("%s, want an error that says %q", answer, why)
	}
}

// nothing wants that no write ran, and with a text a denial on record that says it.
func (w failWorld) nothing(recorded string) {
	w.t.Helper()
	if _, err := os.Lstat(filepath.Join(w.dir, "pwned.txt")); !os.IsNotExist(err) {
		w.t.Errorf("it ran: %v", err)
	}
	if recorded == "" {
		return
	}
	if o := w.run("", "audit", "query", "--limit", "100", "--json"); o.code != 0 || !strings.Contains(o.out, recorded) {
		w.t.Errorf("%q is not on record: %+v", recorded, o)
	}
	if o := w.run("", "audit", "verify"); o.code != 0 {
		w.t.Errorf("the log: %+v", o)
	}
}

// TestFailClosed is the matrix, 60 cells (those of the hooks twice: `myc hook` and the small program) and one row without a fault that
// shows that the doors are open.
func TestFailClosed(t *testing.T) {
	for name, cells := range map[string]func(*testing.T){
		"no fault": failNothing, "panic": failPanic, "timeout": failTimeout, "malformed input": failMalformed, "oversized input": failOversized,
		"missing policy": failMissing, "policy that does not compile": failBroken, "daemon gone": failDaemon, "disk full": failDisk,
		"approver unreachable": failApprover, "model unreachable": failModel,
	} {
		t.Run(name, func(t *testing.T) {
			if name != "panic" { // that one sets variables of this process
				t.Parallel()
			}
			cells(t)
		})
	}
}

func failNothing(t *testing.T) {
	w := newFailWorld(t)
	w.start()
	for _, agent := range harness.Names() {
		saysYes(t, agent, w.hookOf(agent, "", false))
		saysYes(t, agent, w.hookOf(agent, "", true))
	}
	for name, talk := range w.talks() {
		if answer := talk.say(failCall); strings.Contains(answer, "error") {
			t.Errorf("%s: %s", name, answer)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "pwned.txt")); err != nil {
		t.Error(err)
	}
}

func failPanic(t *testing.T) {
	w := newFailWorld(t)
	w.exe = testBinary(t) // which has the bug
	w.hooks(t, "", "a bug on the way", faultVar+"=panic")
	w.nothing("a bug on the way")
	t.Run("mcp", failPanicMCP)
}

// failPanicMCP: the built-in server panics at work on a call, in a daemon in this process, since no input makes it.
func failPanicMCP(t *testing.T) {
	w := newFailWorld(t)
	for _, kv := range w.env {
		if name, value, ok := strings.Cut(kv, "="); ok && (name == "HOME" || strings.HasPrefix(name, "XDG_")) {
			t.Setenv(name, value)
		}
	}
	n, err := node.Open(t.Context(), node.Options{Loader: &loaded.Loader{Err: io.Discard, Environ: w.env, Dir: w.dir,
		Readable: func(policy.Scope, string) bool { panic("a bug on the way") }}})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		n.Close()
	}()
	w.addr = n.Addr()
	w.mcp(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files__search_files","arguments":{"path":".","pattern":"*",`+
		`"text":"o"}}}`, "internal fault")
}

func failTimeout(t *testing.T) {
	w := newFailWorld(t, "server.sh", failSlowServer, "mycelium.yaml", failFiles[1]+"",
		"skills/slow/SKILL.yaml", "name: slow\ndescription: Waits.\nallowedRoles: [developer]\nallowedTools: [slow__wait]\n")
	w.write("mycelium.yaml", strings.ReplaceAll(failFiles[1], "{files: {builtin: files}}", "{files: {builtin: files}, slow: {command: sh, "+
		"args: [server.sh], timeout: 500ms}}"))
	if o := w.run("", "trust", "--yes"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if o := w.run("", "tools", "sync"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	w.start()
	w.mcp(t, strings.ReplaceAll(failCall, "files__write_file", "slow__wait"), "")
	w.pause(t)
	w.limit = "4s"
	w.hooks(t, "", "")
	if err := syscall.Kill(w.pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	w.nothing(`"decidedBy": "fault"`)
}

// pause stops the daemon while it does not write to the log: who stops with the lock of the log keeps everybody from recording anything.
func (w failWorld) pause(t *testing.T) {
	t.Helper()
	log, err := atomicfile.OpenMutex(w.state().AuditLock())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Lock(t.Context(), badPatience); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(w.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if !poll(t.Context(), badPatience, func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.pid))
		return strings.Contains(string(stat), ") T ")
	}) {
		t.Fatal("the daemon does not stop")
	}
	if err := log.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// failSlowServer is an MCP server that shows a tool and never answers a call of it.
const failSlowServer = `while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"tools/call"'*) ;;
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
	`"serverInfo":{"name":"slow","version":"1"}}}' ;;
  *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"wait","description":"Waits.",` +
	`"inputSchema":{"type":"object"}}]}}' ;;
  *) [ -n "$id" ] && echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}' ;;
  esac
done
`

func failMalformed(t *testing.T) {
	w := newFailWorld(t)
	w.start()
	w.hooks(t, `{"tool_name":"Write","tool_name":"Read"`, "cannot be read")
	w.mcp(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files__write_file","name":"files__read_file","arguments":{}}}`,
		"")
	w.nothing("cannot be read")
}

func failOversized(t *testing.T) {
	w := newFailWorld(t)
	w.start()
	w.hooks(t, `{"tool_input":{"content":"`+strings.Repeat("x", harness.MaxInput)+`"}}`, "longer than")
	w.mcp(t, strings.Replace(failCall, `"x"`, `"`+strings.Repeat("x", 5<<20)+`"`, 1), "")
	w.nothing("longer than")
}

func failMissing(t *testing.T) {
	w := newFailWorld(t)
	if o := w.run("", "trust", "--revoke"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	w.hooks(t, "", "") // the files are there, and nobody has accepted them
	for _, name := range []string{"mycelium.yaml", "rules.yaml", "skills"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.hooks(t, "", "Unknown tool")
	w.write("mycelium.yaml", "session: {defaultRole: developer}\n")
	w.write("roles/developer.yaml", "description: Has nothing.\n")
	if o := w.run("", "trust", "--yes"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	w.start()
	w.mcp(t, failCall, "Unknown tool")
	w.nothing("agent__Write")
}

func failBroken(t *testing.T) {
	w := newFailWorld(t)
	w.write("rules.yaml", "version: 1\nrules:\n  - {name: pwned, action: allow, tool: [, match: {}}\n")
	t.Run("no daemon", func(t *testing.T) { w.hooks(t, "", "") })
	w.start()
	w.hooks(t, "", "")
	w.mcp(t, failCall, "")
	w.nothing("agent__Write")
}

func failDaemon(t *testing.T) {
	w := newFailWorld(t, "rules.yaml", "version: 1\nrules:\n  - {name: asks, action: ask, tool: \"Write|Edit|files__write_file\", reason: "+
		"a person decides}\n")
	w.start()
	token, _ := w.mint("--role", "developer")
	h := w.httpTalk(token, false)
	l := w.lineTalk(false, "--role", "developer")
	if err := syscall.Kill(w.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.hooks(t, "", "a person decides")
	t.Run("mcp http", func(t *testing.T) { // nobody is there to refuse: the connection is all that can
		if _, err := io.WriteString(h.conn, "POST /mcp HTTP/1.1\r\n\r\n"); err == nil {
			if _, err := h.in.ReadByte(); err == nil {
				t.Error("somebody answered")
			}
		}
	})
	t.Run("mcp stdio", func(t *testing.T) { refusesCall(t, l.say(failCall), "") }) // its daemon comes back, and asks nobody
	w.nothing("a person decides")
}

func failDisk(t *testing.T) {
	w := newFailWorld(t)
	w.start()
	talks := w.talks()
	for _, agent := range harness.Names() { // their sessions are open before it
		saysYes(t, agent, w.hookOf(agent, "", false))
		saysYes(t, agent, w.hookOf(agent, "", true))
	}
	segments, err := filepath.Glob(filepath.Join(w.state().Folder(), "audit", "*.jsonl"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	st, err := os.Stat(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	if err := unix.Prlimit(w.pid, unix.RLIMIT_FSIZE, nil, &old); err != nil {
		t.Fatal(err)
	}
	full := unix.Rlimit{Cur: uint64(st.Size()), Max: old.Max}
	if err := unix.Prlimit(w.pid, unix.RLIMIT_FSIZE, &full, nil); err != nil {
		t.Fatal(err)
	}
	w.hooks(t, "", "recorded")
	for name, talk := range talks {
		t.Run(name, func(t *testing.T) { refusesCall(t, talk.say(failCall), "cannot be recorded") })
	}
	if err := unix.Prlimit(w.pid, unix.RLIMIT_FSIZE, &old, nil); err != nil {
		t.Fatal(err)
	}
	w.nothing("")
}

// failAsking is a rule that asks about every write.
const failAsking = "version: 1\nrules:\n  - {name: asks, action: ask, tool: \"Write|Edit|files__write_file\", reason: a person decides}\n"

func failApprover(t *testing.T) {
	w := newFailWorld(t, "rules.yaml", failAsking)
	w.start()
	w.hooks(t, "", "")
	w.mcp(t, failCall, "")
	w.nothing("a person decides")
}

func failModel(t *testing.T) {
	w := newFailWorld(t, "rules.yaml", failAsking)
	w.write("mycelium.yaml", strings.Replace(failFiles[1], "approval: {deadline: 300ms}",
		"approval: {deadline: 1s, judge: {enabled: true, baseURL: \"http://127.0.0.1:9\", key: \"${NOBODYS_KEY}\"}}", 1))
	if o := w.run("", "trust", "--yes"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	w.env = append(w.env, "NOBODYS_KEY=sk-dummy")
	w.start()
	w.hooks(t, "", "")
	w.mcp(t, failCall, "")
	w.nothing("a person decides")
}

// TestHookFindsTheNextDaemon: a question outlives the daemon that asked it. The hook that waits finds the next one, and runs on its answer.
func TestHookFindsTheNextDaemon(t *testing.T) {
	t.Parallel()
	w := newFailWorld(t, "rules.yaml", failAsking)
	w.write("mycelium.yaml", strings.Replace(failFiles[1], "deadline: 300ms", "deadline: 90s, mode: remote", 1))
	if o := w.run("", "trust", "--yes"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	w.start()
	answer := make(chan badOutput, 1)
	before := *w.badWorld // as it is now: the next daemon has another address
	go func() {
		in := strings.ReplaceAll(agentWrites["claude"][1], "DIR", w.dir)
		answer <- before.run(in, "hook", "claude", "-C", w.dir, "--event", "PreToolUse", "--limit", "100s")
	}()
	waiting := func() (id string) {
		if !poll(t.Context(), badPatience, func() bool {
			o := w.run("", "approvals", "list", "--json")
			if strings.Contains(o.out, `"id": "`) && strings.Contains(o.out, `"pending"`) {
				id = jsonField(t, o.out, "id")
			}
			return id != ""
		}) {
			t.Fatal("nothing waits")
		}
		return id
	}
	waiting()
	if err := syscall.Kill(w.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.start()
	if o := w.run("", "approvals", "approve", waiting(), "--sure"); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	saysYes(t, "claude", <-answer)
}
