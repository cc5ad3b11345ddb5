package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mycelium/internal/audit"
)

// cutting is a project with a server that an agent can use, and that takes the last record out of the audit log when it is told to.
func cutting(t *testing.T) *team {
	t.Helper()
	return &team{project: newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n"+
			"  files: {builtin: files, args: [.]}\n"+
			"  cuts: {command: %q, args: [cuts], env: {AUDIT: DIR/../.local/state/mycelium/projects/*/audit}}\n",
			hostileServer(t)),
		"skills/echo/SKILL.yaml": "name: echo\ndescription: Echoes.\nallowedRoles: [guest]\n" +
			"allowedTools: [files__list_directory, \"?cuts__echo\"]\n",
	})}
}

func (p *team) segment() string {
	return filepath.Join(p.state().Folder(), "audit", audit.SegmentName(1))
}

// cutLast takes the last record out of the log.
func (p *team) cutLast() {
	p.t.Helper()
	raw, err := os.ReadFile(p.segment())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.Truncate(p.segment(), int64(bytes.LastIndexByte(bytes.TrimSuffix(raw, []byte("\n")), '\n')+1)); err != nil {
		p.t.Fatal(err)
	}
}

const notRecorded = "This call cannot be recorded, so it does not run."

// wantDamaged wants that a cut is told by every command, and that the log does not verify.
func (p *team) wantDamaged() {
	p.t.Helper()
	if _, stderr, err := p.run("audit", "verify"); err == nil || !strings.Contains(stderr, "its end was cut off") {
		p.t.Errorf("verify: %v, %s", err, stderr)
	}
	if s := p.status(); len(s.Damage) != 1 || !strings.Contains(s.Damage[0], "is damaged: it ends at record") {
		p.t.Errorf("status: %q", s.Damage)
	}
	if out, _, err := p.run("doctor"); err == nil || !strings.Contains(out, "✗ audit: no call runs: the audit log") {
		p.t.Errorf("doctor: %v, %s", err, out)
	}
}

// TestFreshRecordIsCutByAServer: a record that is not synced yet cannot be taken out without a word: not by a server in the middle of its
// call, whoever writes the log, and not between two writers.
func TestFreshRecordIsCutByAServer(t *testing.T) {
	t.Parallel()
	call := func(w *wire, text string) string {
		return string(w.ask("tools/call", `{"name":"cuts__echo","arguments":{"text":"`+text+`"}}`))
	}
	for name, c := range map[string]struct {
		args []string
		cut  func(p *team, w *wire)
	}{
		"daemon": {nil, func(_ *team, w *wire) { call(w, "cut") }},
		"alone":  {[]string{"--alone"}, func(_ *team, w *wire) { call(w, "cut") }},
		"daemon that is killed": {nil, func(p *team, w *wire) {
			pid := p.status().Daemon.PID
			call(w, "x")
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				p.t.Fatal(err)
			}
			p.cutLast()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := cutting(t)
			p.must("tools", "sync")
			w := startWire(t, p.command(append([]string{"mcp", "--role", "guest"}, c.args...)...)).hello("2025-11-25")
			if got := call(w, "hello"); !strings.Contains(got, "hello") {
				t.Fatal(got)
			}
			c.cut(p, w)
			if name == "daemon that is killed" { // the next client starts another one
				if out, stderr, err := p.run("call", "cuts__echo", "--role", "guest"); err == nil || !strings.Contains(stderr, "is damaged") {
					t.Errorf("the next call: %s, %s, %v", out, stderr, err)
				}
				w.close()
			} else if got := call(w, "after"); !strings.Contains(got, notRecorded) {
				t.Errorf("the next call: %s", got)
			}
			p.wantDamaged()
			p.must("audit", "begin-again", "--because", "a server cut the log")
			if name == "daemon that is killed" {
				w = startWire(t, p.command("mcp", "--role", "guest")).hello("2025-11-25")
			}
			if got := call(w, "again"); !strings.Contains(got, "again") {
				t.Errorf("after begin-again: %s", got)
			}
			if out := p.must("audit", "verify"); !strings.Contains(out, "because: a server cut the log") {
				t.Errorf("verify: %s", out)
			}
			if out := p.must("audit", "query", "--tool", "cuts__echo", "--json"); !strings.Contains(out, `"text": "again"`) {
				t.Errorf("query: %s", out)
			}
		})
	}
	t.Run("hooks without a daemon", func(t *testing.T) {
		t.Parallel()
		w := newFailWorld(t)
		p := &team{project: &project{t: t, ctx: t.Context(), home: w.vars["home"], dir: w.dir}}
		saysYes(t, "claude", w.hookOf("claude", "", false))
		p.cutLast()
		for _, small := range []bool{false, true} {
			saysNo(t, "claude", w.hookOf("claude", "", small), "recorded")
		}
		if o := w.run("", "audit", "verify"); o.code == 0 {
			t.Errorf("verify: %+v", o)
		}
		if o := w.run("", "audit", "begin-again", "--because", "a test"); o.code != 0 {
			t.Errorf("begin again: %+v", o)
		}
		saysYes(t, "claude", w.hookOf("claude", "", true))
	})
}

// TestNotReady: while decisions cannot be recorded, or the project folder is not where it was, /readyz is 503, and status, doctor and the
// daemon's log say why; without a call in between.
func TestNotReady(t *testing.T) {
	t.Parallel()
	p := &team{project: newProject(t, world(nil))}
	p.url = p.serve()
	base := strings.TrimSuffix(p.url, "/mcp")
	w := startWire(t, p.command("mcp", "--role", "guest")).hello("2025-11-25")
	list := func() string {
		return string(w.ask("tools/call", `{"name":"files__list_directory","arguments":{"path":"."}}`))
	}
	if got := list(); !strings.Contains(got, "notes.md") {
		t.Fatal(got)
	}
	ready := func(want string) {
		t.Helper()
		p.eventually("/readyz says "+want, func() bool {
			status, body, _ := p.fetch(http.MethodGet, base+"/readyz", "", strings.TrimPrefix(base, "http://"))
			return strings.TrimSpace(body) == want && (status == http.StatusOK) == (want == "ready")
		})
	}
	pid, log, dir := p.status().Daemon.PID, filepath.Dir(p.segment()), p.dir
	states := func() string {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(p.state().Folder()), "*", "audit"))
		return strings.Join(found, " ")
	}
	had := states()
	limit := func(bytes uint64) {
		t.Helper()
		if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil); err != nil {
			t.Fatal(err)
		}
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	ready("ready")

	limit(1000)
	ready("not ready: audit")
	if s := p.status(); len(s.Damage) != 1 || !strings.Contains(s.Damage[0], "may not grow") {
		t.Errorf("status: %q", s.Damage)
	}
	if out, _, err := p.run("doctor"); err == nil || !strings.Contains(out, "✗ daemon: no call runs: the audit log") {
		t.Errorf("doctor: %v, %s", err, out)
	}
	if got := list(); !strings.Contains(got, notRecorded) {
		t.Errorf("a call: %s", got)
	}
	limit(unix.RLIM_INFINITY)
	ready("ready")

	move(log, log+".away")
	ready("not ready: audit")
	if got := list(); !strings.Contains(got, notRecorded) {
		t.Errorf("a call: %s", got)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("a new log was begun")
	}
	move(log+".away", log)
	ready("ready")

	move(dir, dir+".away")
	if got := list(); !strings.Contains(got, "the project folder was renamed or removed") {
		t.Errorf("a call: %s", got)
	}
	ready("not ready: project")
	told := func(what string) {
		t.Helper()
		p.eventually("the daemon's log says "+what, func() bool { return strings.Contains(p.logs(), what) })
	}
	told("no call runs: the project folder was renamed or removed")
	if err := os.Mkdir(dir, 0o700); err != nil { // and now another folder has its name
		t.Fatal(err)
	}
	if got := list(); !strings.Contains(got, "another folder has the name of the project folder") {
		t.Errorf("a call: %s", got)
	}
	if s := p.status(); len(s.Damage) != 1 || !strings.Contains(s.Damage[0], "another folder") {
		t.Errorf("status: %q", s.Damage)
	}
	if now := states(); now != had {
		t.Errorf("logs: %s, before: %s", now, had)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	move(dir+".away", dir)
	ready("ready")
	if got := list(); !strings.Contains(got, "notes.md") {
		t.Errorf("it is back: %s", got)
	}
	if left, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == "audit" }) {
		t.Errorf("in the project: %v, %v", left, err)
	}
	p.must("audit", "verify")
	for _, what := range []string{"the audit log cannot be written", "may not grow", "is damaged", "can be written again",
		"the project folder is back"} {
		told(what)
	}
}
