package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mycelium/internal/tmux"
)

// A person follows the log at a terminal: no line is wider than it, at two sizes; two agents in one folder and a
// subagent can be told apart; what comes later is shown without a daemon; Ctrl-C ends it cleanly.
func TestAuditTailAtATerminal(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	p := newProject(t, map[string]string{"rules.yaml": watchRules, "skills/writer/SKILL.yaml": watchSkill,
		"mycelium.yaml": "session: {defaultRole: writer}\n"})
	p.write("follow.sh", "trap : INT\n"+p.myc+" audit tail -f\necho ended with $?\nexec /bin/cat\n")
	event := func(session, subagent, path string) {
		t.Helper()
		cmd := p.command("hook", "claude", "--event", "PreToolUse")
		cmd.Stdin = strings.NewReader(`{"session_id":"` + session + `","hook_event_name":"PreToolUse","tool_name":"Read",` +
			`"tool_use_id":"` + path + `","cwd":"` + p.dir + `",` + subagent + `"tool_input":{"file_path":"` + path + `"}}`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	event("one", "", "設計書とても長い名前のファイル.md")
	event("two", "", "b.md")

	if err := os.MkdirAll(filepath.Join(p.home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := tmux.Server{Socket: filepath.Join(p.home, "run", "t"), Config: "/dev/null",
		Env: append(p.env, "LC_ALL=C.UTF-8", "TERM=xterm-256color")}
	t.Cleanup(func() { _ = exec.Command(program, "-S", server.Socket, "kill-server").Run() })
	pane, err := server.Open(p.ctx, tmux.Window{Session: "w", Name: "tail", Dir: p.dir,
		Command: []string{"/bin/sh", filepath.Join(p.dir, "follow.sh")}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(program, append([]string{"-S", server.Socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		return string(out)
	}
	begin := regexp.MustCompile(`^(TIME|\d\d:\d\d:\d\d|\^C|ended)`)
	shows := func(texts ...string) {
		t.Helper()
		var screen string
		p.eventually(strings.Join(texts, ", ")+" on the screen", func() bool {
			screen, _ = server.Screen(p.ctx, pane.ID)
			for _, text := range texts {
				if !strings.Contains(screen, text) {
					return false
				}
			}
			return true
		})
		for line := range strings.Lines(screen) { // what the terminal had to wrap goes on in a line that begins otherwise
			if line = strings.TrimSpace(line); line != "" && !begin.MatchString(line) {
				t.Errorf("a line was wrapped: %s\n%s", line, screen)
			}
		}
	}
	shows("TIME", "SESSION", "AGENT", "EFFECT", "claude")
	event("one", `"agent_id":"explore-1","agent_type":"Explore",`, "c.md")
	shows("SUBAGENT", "explore-1")
	ask("resize-window", "-t", pane.ID, "-x", "200", "-y", "50")
	event("two", "", "d.md")
	shows("KIND", "decision", "ROLE")
	ask("send-keys", "-t", pane.ID, "C-c")
	shows("ended with 0")

	var calls []struct {
		Session string `json:"session"`
		Agent   string `json:"agent"`
	}
	p.decode(&calls, "audit", "query")
	sessions := map[string]bool{}
	for _, c := range calls {
		sessions[c.Session] = true
		if c.Agent != "claude" {
			t.Errorf("the agent of a call is %q", c.Agent)
		}
	}
	if len(calls) != 4 || len(sessions) != 2 {
		t.Errorf("%d calls in %d sessions, want 4 in 2", len(calls), len(sessions))
	}
	if out := p.must("audit", "query"); strings.Contains(out, "\x1b") || !strings.Contains(out, "設計書とても長い名前のファイル.md") {
		t.Errorf("on a pipe the table is not plain and whole: %q", out)
	}
}

// TestAuditTailFollowsInJSON: a program that follows the log reads one value a line, also of records that come later.
func TestAuditTailFollowsInJSON(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{"rules.yaml": watchRules, "skills/writer/SKILL.yaml": watchSkill,
		"mycelium.yaml": "session: {defaultRole: writer}\n"})
	event := func(path string) {
		t.Helper()
		cmd := p.command("hook", "claude", "--event", "PreToolUse")
		cmd.Stdin = strings.NewReader(`{"session_id":"one","hook_event_name":"PreToolUse","tool_name":"Read","tool_use_id":"` + path +
			`","cwd":"` + p.dir + `","tool_input":{"file_path":"` + path + `"}}`)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	event("a.md")
	tail := p.command("audit", "tail", "-f", "--json", "-n", "100")
	out, err := tail.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tail.Process.Kill() })
	lines := bufio.NewScanner(out)
	next := func(path string) {
		t.Helper()
		for lines.Scan() {
			var record map[string]any
			if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
				t.Fatalf("%v: %s", err, lines.Bytes())
			}
			if strings.Contains(lines.Text(), path) {
				return
			}
		}
		t.Fatalf("no record of %s: %v", path, lines.Err())
	}
	next("a.md")
	event("b.md")
	next("b.md")
	if err := tail.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until the program ends
	}
	if err := tail.Wait(); err != nil {
		t.Errorf("tail -f ends with %v", err)
	}
}
