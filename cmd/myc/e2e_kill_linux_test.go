package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/rawjson"
)

// deaths opens processes, so that the end of each can be waited for whatever happens to its pid.
func (p *project) deaths(pids map[int]string) map[int]int {
	p.t.Helper()
	fds := map[int]int{}
	for pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it ended by itself
		}
		fds[pid] = fd
		p.t.Cleanup(func() { _ = unix.Close(fd) })
	}
	return fds
}

// mustDie waits for the end of processes.
func (p *project) mustDie(pids map[int]string, fds map[int]int) {
	p.t.Helper()
	for pid, fd := range fds {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, 30_000)
		for err == unix.EINTR {
			n, err = unix.Poll(poll, 30_000)
		}
		if n != 1 {
			p.t.Errorf("process %d is left (%v): %s", pid, err, pids[pid])
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
	}
}

// processOf is the process whose command line ends with words.
func (p *project) processOf(words string) int {
	p.t.Helper()
	found := 0
	p.eventually("there is a process "+words, func() bool {
		for pid, line := range p.processes() {
			if strings.HasSuffix(line, words) {
				found = pid
			}
		}
		return found != 0
	})
	return found
}

// kill sends a signal. After SIGSTOP it waits until each thread has stopped: until then, another one may still answer.
func (p *project) kill(pid int, sig syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		p.t.Fatal(err)
	}
	if sig == syscall.SIGSTOP {
		p.eventually("the process has stopped", func() bool { return halted(pid) })
	}
}

// halted reports whether each thread of a process is stopped.
func halted(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return err == nil && len(threads) > 0 && !slices.ContainsFunc(threads, func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && !bytes.HasPrefix(b[bytes.LastIndexByte(b, ')')+1:], []byte(" T"))
	})
}

// atWork waits until a server has so many calls at work.
func (p *project) atWork(server string, n int) {
	p.t.Helper()
	p.eventually(fmt.Sprintf("%d calls of %s are at work", n, server), func() bool {
		for _, b := range p.status().Backends {
			if b.Name == server {
				return b.State == "ready" && b.Active == n
			}
		}
		return false
	})
}

// behindNpx is a project with npm's reference server, started as its readers are told to: npx starts a shell, which starts node.
func behindNpx(t *testing.T) *project {
	t.Helper()
	nodeProgram(t)
	part := filepath.Join(filepath.Dir(npmPart(t, everything)), "..", "..", "..", "..")
	return newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest, developer], defaultSkills: [looking]}\nmcpServers:\n"+
			"  every: {command: npx, args: [--offline, --no-install, mcp-server-everything], cwd: %q, timeout: 1h, stopTimeout: 1s, env: "+
			"{npm_config_update_notifier: \"false\"}}\n", filepath.Clean(part)),
		"skills/looking/SKILL.yaml": "name: looking\ndescription: Looks.\nallowedRoles: [guest, developer]\nallowedTools: [files__read_file]\n",
		"skills/slow/SKILL.yaml": "name: slow\ndescription: Takes its time.\nallowedRoles: [developer]\n" +
			"allowedTools: [every__trigger-long-running-operation, every__echo]\n",
	})
}

// kill -9 of the daemon leaves nothing running, not even what npx started; its HTTP client hears of it once; and its token lists and calls
// under the next daemon, with the role that the session had taken and the skills that were active.
func TestKilledDaemonOverHTTP(t *testing.T) {
	t.Parallel()
	p := behindNpx(t)
	p.must("tools")
	c := &chaos{project: p, url: p.serve()}
	minted := p.mint("--role", "guest", "--may", "developer")
	c.token = minted.Token
	k := c.caller("killed")
	defer k.http.CloseIdleConnections()
	ask := func(method, params, name string) []byte {
		t.Helper()
		line, _, err := k.post(p.ctx, method, params, name)
		if err != nil || rawjson.Member(line, "result") == nil {
			t.Fatalf("%s: %v: %s", method, err, line)
		}
		return rawjson.Member(line, "result")
	}
	ask("tools/call", `{"name":"mycelium-router__set_role","arguments":{"role_id":"developer"}}`, "mycelium-router__set_role")
	skills := p.command()
	skills.Args = []string{p.myc, "session", "skills", minted.ID, "+slow"} // in the project's folder
	if out, err := skills.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := ask("tools/list", `{}`, "")
	if !bytes.Contains(want, []byte("every__echo")) {
		t.Fatalf("the list is %s", want)
	}
	type outcome struct {
		line []byte
		err  error
	}
	flight := make(chan outcome, 1)
	go func() {
		other := c.caller("in flight")
		defer other.http.CloseIdleConnections()
		line, _, err := other.post(p.ctx, "tools/call",
			`{"name":"every__trigger-long-running-operation","arguments":{"duration":3600,"steps":2}}`, "every__trigger-long-running-operation")
		flight <- outcome{line, err}
	}()
	p.atWork("every", 1)
	family := p.processes()
	if n := len(slices.DeleteFunc(slices.Collect(maps.Values(family)),
		func(line string) bool { return !strings.Contains(line, "mcp-server-everything") })); n < 2 {
		t.Fatalf("npx started no grandchild: %v", family)
	}
	fds := p.deaths(family)
	p.kill(p.status().Daemon.PID, syscall.SIGKILL)
	if o := <-flight; o.err == nil {
		t.Errorf("the call on its way is answered %s", o.line)
	}
	p.mustDie(family, fds)

	begin := time.Now()
	k.http.CloseIdleConnections()
	c.url = p.serve()
	started := time.Since(begin)
	if got := ask("tools/list", `{}`, ""); !bytes.Equal(got, want) {
		t.Errorf("after the daemon's death the list is\n%s\nbefore\n%s", got, want)
	}
	ask("tools/call", `{"name":"files__read_file","arguments":{"path":"mycelium.yaml"}}`, "files__read_file")
	t.Logf("the daemon was up after %v, listed and called after %v", started, time.Since(begin))
	if got := string(ask("tools/call", `{"name":"every__echo","arguments":{"message":"again"}}`, "every__echo")); !strings.Contains(got,
		"again") {
		t.Errorf("after the daemon's death: %s", got)
	}
	show := p.must("session", "show", minted.ID)
	if !strings.Contains(show, "developer") || !strings.Contains(show, "slow") {
		t.Errorf("the session is %s", show)
	}
	var records []struct {
		Tool string `json:"tool"`
	}
	p.decode(&records, "audit", "query", "--outcome", "unfinished")
	if len(records) != 1 || records[0].Tool != "every__trigger-long-running-operation" {
		t.Errorf("unfinished are %+v", records)
	}
	p.must("audit", "verify")
}

// Whoever kills the keeper ends the servers, and nothing else: a call on its way fails with one clear error, the next one is served through
// a new keeper. A server that is told to end, or is stopped, concerns its own calls only.
func TestKilledKeeperAndServers(t *testing.T) {
	t.Parallel()
	hostile := hostileServer(t)
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n"+
			"  hang: {command: %q, args: [hang], timeout: 1h, stopTimeout: 300ms}\n"+
			"  good: {command: %q, args: [healthy], timeout: 4s, stopTimeout: 300ms}\n", hostile, hostile),
		"skills/echo/SKILL.yaml": "name: echo\ndescription: Echoes.\nallowedRoles: [guest]\nallowedTools: [hang__echo, good__echo]\n",
	})
	p.must("tools")
	w := startWire(t, p.command("mcp", "--role", "guest")).hello("2025-11-25")
	daemon := p.status().Daemon.PID
	good := func() {
		t.Helper()
		got := w.ask("tools/call", `{"name":"good__echo","arguments":{"text":"served"}}`)
		if !bytes.Contains(got, []byte("served")) || bytes.Contains(got, []byte("isError")) {
			t.Errorf("the healthy server: %s", got)
		}
	}
	failed := func(id, want string) {
		t.Helper()
		if line := w.await(id); !bytes.Contains(line, []byte(want)) {
			t.Errorf("the call on its way is answered %s, want %s", line, want)
		}
	}
	taken := func(n int) { // before that a call may be sent again
		t.Helper()
		p.eventually("the server has the call", func() bool { return strings.Count(p.serverLog("hang"), "took a call") == n })
	}
	good()
	slow := w.request("tools/call", `{"name":"hang__echo","arguments":{"text":"x"}}`)
	taken(1)
	family := p.processes()
	maps.DeleteFunc(family, func(_ int, line string) bool { return !strings.Contains(line, hostile) })
	fds := p.deaths(family)
	p.kill(p.processOf(" keeper"), syscall.SIGKILL)
	failed(slow, "the keeper of the server processes ended")
	p.mustDie(family, fds)
	good()

	slow = w.request("tools/call", `{"name":"hang__echo","arguments":{"text":"x"}}`)
	taken(2)
	p.kill(p.processOf(hostile+" hang"), syscall.SIGTERM)
	failed(slow, "it ended (signal: terminated)")
	good()

	stopped := p.processOf(hostile + " healthy")
	p.kill(stopped, syscall.SIGSTOP)
	failed(w.request("tools/call", `{"name":"good__echo","arguments":{"text":"x"}}`), "it did not answer tools/call within 4s")
	p.eventually("the stopped server is ended", func() bool { return p.processes()[stopped] == "" })
	good()
	if now := p.status().Daemon.PID; now != daemon {
		t.Errorf("the daemon was %d and is %d", daemon, now)
	}
	if _, err := os.Stat(p.state().ServerLogs()); err != nil {
		t.Error(err)
	}
}
