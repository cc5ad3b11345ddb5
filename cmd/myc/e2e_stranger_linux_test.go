package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mycelium/internal/hook/web"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// denying is a policy that allows every command but one.
const denying = "version: 1\nrules:\n  - {name: no, action: deny, tool: Bash, args: {command: [\"cat .env\"]}, reason: a secret}\n" +
	"  - {name: pwned, action: allow, tool: \"Bash|files__read_file\"}\n"

// readEnv is the event before the command that is denied.
const readEnv = `{"session_id":"s","cwd":"DIR","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cat .env"},` +
	`"tool_use_id":"t"}`

// fakeDaemon answers at the daemon's socket, and allows everything in the form of this version and of older ones. asked counts.
func (w failWorld) fakeDaemon(t *testing.T) (asked *atomic.Int64) {
	t.Helper()
	lock, err := os.ReadFile(w.state().DaemonLock())
	if err != nil {
		t.Fatal(err)
	}
	socket := rawjson.TextAt(lock, "socket")
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // a daemon takes its place
	t.Cleanup(func() { _ = l.Close() })
	allow := rawjson.Quote(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`)
	reply := `{"stdout":` + string(allow) + `,"stderr":"","exit":0}`
	answer := []byte(`{"lock":` + string(rawjson.Quote(w.state().DaemonLock())) + `,"pid":1,"nonce":"n","proof":"` + strings.Repeat("0", 64) +
		`","result":` + reply + `,"answer":{"result":` + reply + `}}`)
	asked = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for lines := rpc.NewLines(c, 1<<20); ; {
					line, err := lines.Next()
					if err != nil {
						return
					}
					if m, bad := rpc.Parse(append([]byte(nil), line...)); bad == nil && m.IsRequest() {
						asked.Add(1)
						_, _ = c.Write(append(rpc.Message{ID: m.ID, Result: answer}.Append(nil), '\n'))
					}
				}
			}()
		}
	}()
	return asked
}

// log returns the audit log as it is written.
func (w failWorld) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.state().Folder(), "audit", "00000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFakeDaemon: a process without the key that answers at the daemon's socket, and allows everything, is obeyed by nobody: neither by
// the hook as a program or over HTTP, nor by myc mcp, nor by commands. People are told who it is, and it is recorded once.
func TestFakeDaemon(t *testing.T) {
	t.Parallel()
	w := newFailWorld(t, "rules.yaml", denying, ".env", "TOKEN=1")
	w.start()
	token, _ := w.mint("--role", "developer")
	event := strings.ReplaceAll(readEnv, "DIR", w.dir)
	saysNo(t, "claude", w.hookOf("claude", event, true), "a secret")
	w.kill()
	asked := w.fakeDaemon(t)
	before := asked.Load()
	fooled := func(what string, no bool) {
		t.Helper()
		if now := asked.Load(); now == before || no {
			t.Errorf("%s: asked it %d times, obeyed %t", what, now-before, no)
		} else {
			before = now
		}
	}
	for _, small := range []bool{true, false} {
		o := w.hookOf("claude", event, small)
		saysNo(t, "claude", o, "a secret")
		fooled("the hook", !strings.Contains(o.errout, "something else answers at the daemon's socket"))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL(w.listen(t, token), "claude", "PreToolUse", time.Minute, ""),
		strings.NewReader(event))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	fooled("over HTTP", answer.StatusCode == http.StatusOK && !strings.Contains(string(text), `"deny"`))

	for _, command := range []string{"status", "doctor", "stop"} {
		o := w.run("", command)
		said := o.out + o.errout
		fooled(command, !strings.Contains(said, "something else answers") || !strings.Contains(said, "pid") ||
			(o.code == 0) != (command == "status"))
	}
	if n := strings.Count(w.log(t), "something else answers"); n != 1 {
		t.Errorf("it is on record %d times", n)
	}
	if o := w.run("", "audit", "tail"); !strings.Contains(o.out, "something else answers") {
		t.Errorf("audit tail: %s", o.out)
	}
	// A client starts the daemon, which takes its place.
	talk := w.lineTalk(false, "--role", "developer")
	fooled("myc mcp", false)
	if said := talk.say(failCall); !strings.Contains(said, "created pwned.txt") {
		t.Errorf("myc mcp: %s", said)
	}
	saysNo(t, "claude", w.hookOf("claude", event, true), "a secret")
	if now := asked.Load(); now != before {
		t.Errorf("asked it %d times beside the daemon", now-before)
	}
}

// TestDifferingEnvironment: what an agent starts finds state and daemon whatever its environment says. An environment that differs is
// recorded, once for each session and content, by the daemon and without one, and told by status and doctor.
func TestDifferingEnvironment(t *testing.T) {
	t.Parallel()
	w := newFailWorld(t, "rules.yaml", denying)
	w.start()
	event := strings.ReplaceAll(readEnv, "DIR", w.dir)
	hostile := []string{"HOME=/hostile", "XDG_STATE_HOME=/hostile/state", "XDG_RUNTIME_DIR=/hostile/run", "TMPDIR=/hostile/tmp",
		"MYCELIUM_CONFIG_PATH=/hostile/secret"}
	count := func(session string) int {
		t.Helper()
		n := 0
		for line := range strings.Lines(w.log(t)) {
			if strings.Contains(line, `"kind":"guard"`) && strings.Contains(line, "(session "+session+")") {
				n++
				for _, want := range []string{"HOME=/hostile", "XDG_RUNTIME_DIR=/hostile/run", "TMPDIR=", "MYCELIUM_CONFIG_PATH"} {
					if !strings.Contains(line, want) {
						t.Errorf("the record does not name %s: %s", want, line)
					}
				}
				if strings.Contains(line, "secret") {
					t.Errorf("the record has a value that says no place: %s", line)
				}
			}
		}
		return n
	}
	saysNo(t, "claude", w.hookOf("claude", event, true), "a secret")
	if n := count("s"); n != 0 {
		t.Errorf("the person's own environment is on record %d times", n)
	}
	for range 2 {
		saysNo(t, "claude", w.hookOf("claude", event, true, hostile...), "a secret")
		saysNo(t, "claude", w.hookOf("claude", event, false, hostile...), "a secret")
	}
	if n := count("s"); n != 1 {
		t.Errorf("on record %d times", n)
	}
	for _, command := range []string{"status", "doctor"} {
		if o := w.run("", command); !strings.Contains(o.out, "HOME=/hostile") {
			t.Errorf("%s does not say it: %+v", command, o)
		}
	}
	talk := w.command("mcp", "--role", "developer")
	talk.Env = append(talk.Env, hostile...)
	if o := w.runCommand(talk, nil, badInit+"\n"); !strings.Contains(o.out, "serverInfo") {
		t.Errorf("myc mcp: %+v", o)
	}
	if n := strings.Count(w.log(t), "the environment of myc mcp"); n != 1 {
		t.Errorf("of myc mcp: on record %d times", n)
	}
	w.kill()
	alone := strings.ReplaceAll(event, `"s"`, `"alone"`)
	for range 2 {
		saysNo(t, "claude", w.hookOf("claude", alone, true, hostile...), "a secret")
	}
	if n := count("alone"); n != 1 {
		t.Errorf("without a daemon: on record %d times", n)
	}
}
