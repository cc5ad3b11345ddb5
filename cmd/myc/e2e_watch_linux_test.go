package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/approval/terminal"
	"mycelium/internal/tmux"
)

const watchRules = `version: 1
rules:
  - name: ask-writes
    action: ask
    tool: files__write_file
    reason: Writing asks.
`

const watchSkill = `name: writer
description: Writes files.
allowedRoles: [writer]
allowedTools: [files__write_file]
`

// A person at a terminal sees what waits, with Japanese in it and what would hide made visible, at the sizes that terminals have, and
// answers by keys; the daemon dies meanwhile, and the list comes back.
func TestApprovalsWatch(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	p := newProject(t, map[string]string{"rules.yaml": watchRules, "skills/writer/SKILL.yaml": watchSkill,
		"mycelium.yaml": "session: {defaultRole: writer}\napproval: {deadline: 200s}\n"})
	p.must("serve", "--background", "--addr", "127.0.0.1:0")

	server := tmux.Server{Socket: filepath.Join(p.home, "run", "t"), Config: "/dev/null",
		Env: append(p.env, "LC_ALL=C.UTF-8", "TERM=xterm-256color")}
	t.Cleanup(func() { _ = exec.Command(program, "-S", server.Socket, "kill-server").Run() })
	pane, err := server.Open(p.ctx, tmux.Window{Session: "w", Name: "watch", Dir: p.dir,
		Command: []string{p.myc, "-C", p.dir, "approvals", "watch"}})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(texts ...string) string {
		t.Helper()
		var screen string
		ok := poll(p.ctx, patience, func() bool {
			screen, _ = server.Screen(p.ctx, pane.ID)
			for _, text := range texts {
				if !strings.Contains(screen, text) {
					return false
				}
			}
			return true
		})
		if !ok {
			t.Fatalf("%q never stood on the screen:\n%s", texts, screen)
		}
		return screen
	}
	keys := func(text string) {
		t.Helper()
		if out, err := exec.Command(program, "-S", server.Socket, "send-keys", "-t", pane.ID, text).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	write := func(path, content string) chan error {
		done := make(chan error, 1)
		cmd := p.command("call", "--ask", "wait", "files__write_file", "--role", "writer", "--args",
			`{"path":"`+path+`","content":"`+content+`"}`)
		go func() { done <- cmd.Run() }()
		return done
	}
	ends := func(done chan error, wantErr bool) {
		t.Helper()
		select {
		case err := <-done:
			if (err != nil) != wantErr {
				t.Fatalf("the call ended with %v", err)
			}
		case <-time.After(patience):
			t.Fatal("the call still waits")
		}
	}

	shows("nothing waits", "0 waiting")
	first := write("設計書.md", `こんにちは、世界\u001b[2Jと\u202e逆`)
	screen := shows("1 waiting", "設計書.md", "asked because: Writing asks. (ask-writes)", "a allow")
	for _, want := range []string{"▸ high", `"こんにちは、世界\u001b[2Jと\u202e逆"`, "FILE_WRITE", "q quit"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
	t.Logf("80×24:\n%s", screen)
	keys("a")
	ends(first, false)
	shows("✓ allowed by", "nothing waits")
	if got := p.read("設計書.md"); !strings.HasPrefix(got, "こんにちは") {
		t.Errorf("the file holds %q", got)
	}

	if out, err := exec.Command(program, "-S", server.Socket, "resize-window", "-t", pane.ID, "-x", "200", "-y",
		"50").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	second, third := write("b.md", "x"), write("c.md", "y")
	screen = shows("2 waiting", "b.md", "c.md")
	t.Logf("200×50:\n%s", screen)
	p.must("approvals", "deny", waitingFor(t, p, "b.md"), "--reason", "not today") // somebody else is first
	ends(second, true)
	shows("1 waiting", "✗ denied by")
	keys("d")
	ends(third, true)
	shows("0 waiting")
	if p.read("b.md")+p.read("c.md") != "" {
		t.Error("a denied call ran")
	}

	p.must("stop", "-f") // the list attaches again, and starts a daemon
	fourth := write("d.md", "z")
	shows("1 waiting", "d.md")
	keys("a")
	ends(fourth, false)
	keys("q")
	if !poll(p.ctx, patience, func() bool { panes, err := server.Panes(p.ctx); return err != nil || len(panes) == 0 }) {
		t.Error("q did not leave the list")
	}
}

// waitingFor is the id of the request whose arguments hold a text.
func waitingFor(t *testing.T, p *project, text string) string {
	t.Helper()
	var list []approval.Request
	p.decode(&list, "approvals", "list")
	for _, r := range list {
		if strings.Contains(terminal.Gist(r), text) {
			return r.ID
		}
	}
	t.Fatalf("nothing that waits has %s", text)
	return ""
}
