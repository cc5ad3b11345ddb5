package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/tmux"
)

// A person looks at a session on the whole screen, chooses a feature, sees what it does at another size, and leaves.
func TestSwarmWatch(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("tmux")
	needed(t, err, "tmux")
	p := swarmWorld(t)
	p.write("plan.md", "# Plan\n1. 日付を読む\n2. Print dates\n   depends on: feature-1\n")
	p.must("swarm", "init", "plan.md")
	server := tmux.Server{Socket: filepath.Join(p.home, "run", "t"), Config: "/dev/null",
		Env: append(p.env, "LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1")}
	t.Cleanup(func() { _ = exec.Command(program, "-S", server.Socket, "kill-server").Run() })
	pane, err := server.Open(p.ctx, tmux.Window{Session: "w", Name: "watch", Dir: p.dir,
		Command: []string{p.myc, "-C", p.dir, "swarm", "watch"}})
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(program, append([]string{"-S", server.Socket}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	shows := func(texts ...string) {
		t.Helper()
		screen := ""
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
	}
	shows("nobody drives it", "▸ ○ feature-1  日付を読む", "└─ ○ feature-2  Print dates", "after feature-1", "0 of 2 landed")
	run("send-keys", "-t", pane.ID, "Down")
	run("resize-window", "-t", pane.ID, "-x", "200", "-y", "50")
	shows("▸ └─ ○ feature-2", "│ WORKERS  0 at work")
	p.must("swarm", "pause") // by somebody else
	shows("paused", "p go on")
	run("send-keys", "-t", pane.ID, "p")
	shows("in progress", "resumed by a person")
	run("send-keys", "-t", pane.ID, "q")
	if !poll(p.ctx, patience, func() bool { return exec.Command(program, "-S", server.Socket, "has-session").Run() != nil }) {
		t.Error("q does not leave")
	}
}
