package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mycelium/internal/model/fake"
	"mycelium/internal/model/fake/faketest"
)

// TestLauncherHoldsThePort: `myc claude` answers the events of its agent for as long as the agent lives. When the daemon is killed, nobody
// else can listen at the agent's port, and the files decide; when the launcher is killed, the agent dies with it.
func TestLauncherHoldsThePort(t *testing.T) {
	newest, err := faketest.FindNewest("../..", "claude")
	needed(t, err, "Claude Code, newest")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, governedWorld())
	port := func() string {
		files, _ := filepath.Glob(p.state().Run("*") + "/settings.json")
		if len(files) != 1 {
			t.Fatalf("files of runs: %v", files)
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(regexp.MustCompile(`http://[^"]*/hook/claude/PreToolUse`).FindString(string(text)))
		if err != nil || u.Host == "" {
			t.Fatalf("no URL in %s: %v", text, err)
		}
		return u.Host
	}
	taken := func(addr string) bool {
		l, err := net.Listen("tcp", addr)
		if err == nil {
			_ = l.Close()
		}
		return err != nil
	}
	write := func(name string) fake.Step {
		input := map[string]any{"file_path": filepath.Join(p.dir, name), "content": "x"}
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: input}}}
	}
	reached, gone := make(chan string, 1), make(chan struct{})
	s := fake.New(bashStep("touch denied.txt"),
		fake.Step{Func: func(fake.Request) fake.Step {
			daemon := p.status().Daemon.PID
			if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			p.eventually("the daemon is gone", func() bool { return syscall.Kill(daemon, 0) != nil })
			if !taken(port()) {
				t.Error("the port is free when the daemon is gone")
			}
			return bashStep("touch denied-again.txt")
		}},
		write("own.txt"),
		fake.Step{Func: func(fake.Request) fake.Step {
			reached <- port()
			<-gone
			return fake.Step{Text: "done"}
		}})
	defer s.Close()
	cmd := exec.CommandContext(p.ctx, p.myc, "claude", "--unsafe-program", "--role", "developer", "-p", "--permission-mode", "acceptEdits",
		"--allowedTools", "Bash,Write", "--", "Do it.")
	var out strings.Builder
	cmd.Dir, cmd.Env = p.dir, append(p.agentEnv("claude", s), "PATH="+filepath.Dir(newest)+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var addr string
	select {
	case addr = <-reached:
	case <-p.ctx.Done():
		t.Fatal("the agent does not come so far")
	}
	agent := agentBelow(cmd.Process.Pid)
	if agent == 0 {
		t.Fatal("the launcher has no agent")
	}
	if !taken(addr) {
		t.Error("the port is free while the agent lives")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.eventually("the agent dies with its launcher", func() bool { return syscall.Kill(agent, 0) != nil })
	close(gone)
	_ = cmd.Wait()
	turns := s.Turns()
	for i, want := range map[int]string{1: "no-denied", 2: "no-denied"} {
		if got := results(turns[i]); !strings.Contains(got, want) {
			t.Errorf("turn %d: the model reads %q", i, got)
		}
	}
	if !exists(p, "own.txt") || exists(p, "denied*.txt") {
		t.Errorf("own.txt: %t, denied: %t\n%s", exists(p, "own.txt"), exists(p, "denied*.txt"), out.String())
	}
}

// agentBelow is the Claude Code that a process started, whatever stands between them; 0 if there is none.
func agentBelow(pid int) int {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		children, _ := os.ReadFile(thread)
		for _, field := range strings.Fields(string(children)) {
			child, _ := strconv.Atoi(field)
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", child))
			if strings.HasPrefix(string(comm), "claude") {
				return child
			}
			if found := agentBelow(child); found != 0 {
				return found
			}
		}
	}
	return 0
}
