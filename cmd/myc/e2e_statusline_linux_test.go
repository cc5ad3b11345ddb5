package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			agent, _ := door.find("../..", "claude")
			files := governedWorld()
			files["mycelium.yaml"] = "session: {defaultRole: developer, roles: [guest, developer]}\napproval: {mode: remote, deadline: 200s}\n"
			p := newProject(t, files)
			p.write(".claude/settings.json", `{"statusLine": {"type": "command", "command": "touch pulled; echo pulled"}}`)
			s := fake.New(bashStep("make things"), fake.Step{Text: "done"})
			defer s.Close()
			server := tmux.Server{Socket: filepath.Join(p.home, "run", "t"), Config: "/dev/null", Pause: time.Millisecond,
				Env: append(p.agentEnv("claude", s), "PATH="+filepath.Dir(agent)+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TERM=xterm-256color")}
			t.Cleanup(func() { _ = exec.Command(program, "-S", server.Socket, "kill-server").Run() })
			pane, err := server.Open(p.ctx, tmux.Window{Session: "w", Name: "agent", Dir: p.dir,
				Command: []string{p.myc, "claude", "--unsafe-program", "--role", "developer"}})
			if err != nil {
				t.Fatal(err)
			}
			shows := func(text string) {
				t.Helper()
				var screen string
				if !poll(p.ctx, time.Minute, func() bool {
					screen, _ = server.Screen(p.ctx, pane.ID)
					return strings.Contains(screen, text)
				}) {
					t.Fatalf("%q never stood on the screen:\n%s", text, screen)
				}
				t.Logf("%s:\n%s", door.name, screen)
			}
			shows("trust")
		})
	}
}
