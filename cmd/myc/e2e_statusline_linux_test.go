package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/model/fake"
	"mycelium/internal/tmux"
)

// TestStatusLine: the real Claude Code of both versions, at a terminal, shows below its prompt what `myc claude` has its status line say:
// the session, a file that waits, and its own call while a person has not answered. The status line of the project, a command that comes
// with a pull, is not run.
func TestStatusLine(t *testing.T) {
	program, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	for _, door := range agentDoors {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withoutNetwork(t) {
		return
	}
	for _, door := range agentDoors {
		if !door.http {
			t.Run(door.name, func(t *testing.T) {
				t.Parallel()
				showsStatusLine(t, program, door)
			})
		}
	}
}

func showsStatusLine(t *testing.T, program string, door agentDoor) {
	agent, err := door.find("../..", "claude")
	if err != nil {
		t.Fatal(err)
	}
	p := newProject(t, world(map[string]string{
		"mycelium.yaml":           "session: {defaultRole: guest, roles: [guest, developer]}\napproval: {mode: remote, deadline: 200s}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash]\n",
		"rules.yaml":              "version: 1\nrules: []\n",
	}))
	p.write(".claude/settings.json", `{"statusLine": {"type": "command", "command": "touch pulled; echo pulled"}}`)
	s := fake.New(bashStep("make things"), fake.Step{Text: "as you wish"})
	defer s.Close()
	environ := append(p.agentEnv("claude", s), "PATH="+filepath.Dir(agent)+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	p.write("rules.yaml", "version: 1\nrules: [{name: all, action: allow, tool: '*'}]\n")
	// A person has trusted the folder; before that, Claude Code runs no status line.
	seeded := readAll(t, filepath.Join(p.home, ".claude", ".claude.json"))
	p.write("../.claude/.claude.json", strings.Replace(seeded, "{",
		fmt.Sprintf(`{"projects": {%q: {"hasTrustDialogAccepted": true}},`, p.dir), 1))

	server := tmux.Server{Socket: filepath.Join(p.home, "run", "t"), Config: "/dev/null", Pause: time.Millisecond, Env: environ}
	t.Cleanup(func() {
		_ = exec.Command(program, "-S", server.Socket, "kill-server").Run()
		p.eventually("the agent and its gateway are gone", func() bool { // a gateway would start another daemon
			left := p.processes()
			maps.DeleteFunc(left, func(_ int, line string) bool { return strings.Contains(line, " serve ") })
			return len(left) == 0
		})
	})
	pane, err := server.Open(p.ctx, tmux.Window{Session: "w", Name: "agent", Dir: p.dir,
		Command: []string{p.myc, "claude", "--unsafe-program", "--role", "developer"}})
	if err != nil {
		t.Fatal(err)
	}
	shows := func(texts ...string) {
		t.Helper()
		var screen string
		if !poll(p.ctx, time.Minute, func() bool {
			screen, _ = server.Screen(p.ctx, pane.ID)
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
		}) {
			t.Fatalf("%q never stood on the screen:\n%s", texts, screen)
		}
		t.Logf("%s:\n%s", door.name, screen)
	}
	shows("mycelium: waiting for myc trust: rules.yaml (changed) · developer [")
	if err := server.Type(p.ctx, pane.ID, "go"); err != nil {
		t.Fatal(err)
	}
	shows("mycelium: 1 call waits for an answer · waiting for myc trust: rules.yaml (")
	p.must("approvals", "deny", waitingFor(t, p, "make things"))
	shows("as you wish")
	if exists(p, "pulled") {
		t.Error("the status line of the project ran")
	}
}
