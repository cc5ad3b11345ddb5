package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// hanging is a project with a server that never answers a call.
func hanging(t *testing.T) (p *project, hostile string) {
	t.Helper()
	hostile = hostileServer(t)
	p = newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n"+
			"  hang: {command: %q, args: [hang], timeout: 1h, stopTimeout: 300ms}\n", hostile),
		"skills/echo/SKILL.yaml": "name: echo\ndescription: Echoes.\nallowedRoles: [guest]\nallowedTools: [hang__echo]\n",
	})
	p.must("tools", "sync")
	return p, hostile
}

// TestSignalsEndTheDaemon: a daemon that is told to end, also by the end of its terminal, records the outcome of the calls in flight and
// leaves nothing running.
func TestSignalsEndTheDaemon(t *testing.T) {
	t.Parallel()
	// A child of a process that is told of a signal starts with its default action, also where the tests run under nohup(1).
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(told) })
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			p, _ := hanging(t)
			p.serve()
			calls := []*background{}
			s := p.mint("--role", "guest")
			for range 5 {
				calls = append(calls, p.start(s.Token, "call", "hang__echo", "--args", `{"text":"x"}`))
			}
			p.atWork("hang", len(calls))
			pids := p.processes()
			maps.DeleteFunc(pids, func(_ int, line string) bool { return strings.Contains(line, "call hang__echo") }) // the clients
			fds := p.deaths(pids)
			p.kill(p.status().Daemon.PID, sig)
			for _, c := range calls {
				if err := <-c.ended; err == nil {
					t.Errorf("a call is answered: %s", c.out.String())
				}
			}
			p.mustDie(pids, fds)
			log := p.must("audit", "tail", "--lines", "100", "--json")
			if n := strings.Count(log, `"kind":"outcome"`); n != len(calls) {
				t.Errorf("%d calls have an outcome:\n%s", n, log)
			}
			p.must("audit", "verify")
		})
	}
}

// TestStopKillsTheDaemonOnly: myc stop -f kills the process that has the project, and no other one that the file with its number names.
func TestStopKillsTheDaemonOnly(t *testing.T) {
	t.Parallel()
	p, _ := hanging(t)
	p.serve()
	pid := p.status().Daemon.PID
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	info := p.state().DaemonLock() // written in place, because the lock is on it
	right, err := os.ReadFile(info)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(right), fmt.Sprint(pid), fmt.Sprint(other.Process.Pid), 1)
	if err := os.WriteFile(info, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	p.kill(pid, syscall.SIGSTOP)
	if _, said, err := p.run("stop", "-f"); err == nil || !strings.Contains(said, "does not name the process that holds it") {
		t.Errorf("%v: %s", err, said)
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("another process was killed: %v", err)
	}
	if err := os.WriteFile(info, right, 0o600); err != nil {
		t.Fatal(err)
	}
	pids := map[int]string{pid: "the daemon"}
	fds := p.deaths(pids)
	p.must("stop", "-f")
	p.mustDie(pids, fds)
}
