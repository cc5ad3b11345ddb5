package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// installed copies a package of npm and what it needs into a folder, as npm install does: nothing outside of the project is in the sandbox.
func installed(t *testing.T, from, to, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(to, name)); err == nil {
		return
	}
	if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(filepath.Join(to, name), func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "package.json" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var about struct{ Dependencies map[string]string }
		_ = json.Unmarshal(data, &about) // some are parts of a package, and not its description
		for needs := range about.Dependencies {
			if _, err := os.Stat(filepath.Join(from, needs)); err == nil { // others lie inside of the package
				installed(t, from, to, needs)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// parentOf is the parent of a process, in the numbers of the machine.
func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	parent, err := strconv.Atoi(strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[1])
	if err != nil {
		t.Fatal(err)
	}
	return parent
}

// npm's server for files works in the sandbox. After kill -9 of what runs it, of the keeper and of the daemon none of its processes is
// left, and the next call starts it again.
func TestServerInTheSandbox(t *testing.T) {
	t.Parallel()
	node := nodeProgram(t)
	part := npmPart(t, filesystem)
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n"+
			"  fs: {command: %q, args: [node_modules/%s, .], sandbox: standard, stopTimeout: 1s}\n", node, filesystem),
		"skills/look/SKILL.yaml": "name: look\ndescription: Looks.\nallowedRoles: [guest]\nallowedTools: [fs__read_text_file, fs__write_file]\n",
		"read.txt":               "読める",
	})
	installed(t, strings.TrimSuffix(part, "/"+filesystem), filepath.Join(p.dir, "node_modules"), filepath.Dir(filepath.Dir(filesystem)))
	p.must("trust", "--yes")
	p.must("tools")
	for _, victim := range []string{"the program that runs it", "the keeper", "the daemon"} {
		w := startWire(t, p.command("mcp", "--role", "guest")).hello("2025-11-25")
		file := func(name string) string { return filepath.Join(p.dir, name) }
		got := w.ask("tools/call", fmt.Sprintf(`{"name":"fs__read_text_file","arguments":{"path":%q}}`, file("read.txt")))
		if !bytes.Contains(got, []byte("読める")) {
			t.Errorf("it reads %s", got)
		}
		got = w.ask("tools/call", fmt.Sprintf(`{"name":"fs__write_file","arguments":{"path":%q,"content":"x"}}`, file("new.txt")))
		if !bytes.Contains(got, []byte("read-only")) {
			t.Errorf("it writes: %s", got)
		}
		server := p.processOf(filesystem + " .")
		first := parentOf(t, server)
		wrapper := parentOf(t, first)
		keeper := parentOf(t, wrapper)
		family := map[int]string{server: "the server", first: "the first process of the sandbox", wrapper: "what runs it"}
		fds := p.deaths(family)
		if len(fds) != len(family) {
			t.Fatalf("%d of %d processes are there", len(fds), len(family))
		}
		pids := map[string]int{"the program that runs it": wrapper, "the keeper": keeper, "the daemon": p.status().Daemon.PID}
		p.kill(pids[victim], syscall.SIGKILL)
		p.mustDie(family, fds)
	}
	if left, err := os.ReadDir(p.state().Sandbox("scratch")); err != nil || len(left) > 0 {
		t.Errorf("private copies are left: %v %v", left, err)
	}
}

// A script of a skill tells its client of its progress, and an answer to a question about it holds for the content that was shown.
func TestScriptOfASkill(t *testing.T) {
	t.Parallel()
	p := newProject(t, map[string]string{
		"mycelium.yaml":       "session: {defaultRole: guest, roles: [guest]}\n",
		"skills/t/SKILL.yaml": "name: t\ndescription: Has scripts.\nallowedRoles: [guest]\nallowedTools: [mycelium-skills__run_script]\n",
		"skills/t/道具/slow.sh": "echo 始め; echo end\n",
		"skills/t/asked.sh":   "echo shown\n",
		"rules.yaml": "rules:\n  - {name: r, action: ask, tool: mycelium-skills__run_script,\n" +
			"     match: {path: {glob: \"**/asked.sh\"}}}\n",
	})
	w := startWire(t, p.command("mcp", "--role", "guest")).hello("2025-11-25")
	const name = `"name":"mycelium-skills__run_script"`
	id := w.request("tools/call", `{"_meta":{"progressToken":"p"},`+name+`,"arguments":{"skill":"t","path":"道具/slow.sh"}}`)
	if got := w.until("notifications/progress"); !bytes.Contains(got, []byte("始め")) {
		t.Errorf("progress %s", got)
	}
	if got := w.await(id); !bytes.Contains(got, []byte(`"exitCode":0`)) {
		t.Errorf("answer %s", got)
	}

	id = w.request("tools/call", `{`+name+`,"arguments":{"skill":"t","path":"asked.sh"}}`)
	first := p.asked("")
	p.write("skills/t/asked.sh", "echo changed\n")
	p.must("trust", "--yes")
	p.must("approvals", "approve", first, "--sure")
	second := p.asked(first)
	p.must("approvals", "approve", second, "--sure")
	if got := w.await(id); !bytes.Contains(got, []byte("changed")) {
		t.Errorf("answer %s", got)
	}
}

// asked waits for a question that is not an earlier one, and returns its id.
func (p *project) asked(earlier string) (id string) {
	p.t.Helper()
	p.eventually("there is a question", func() bool {
		var list []struct {
			ID string `json:"id"`
		}
		p.decode(&list, "approvals", "list")
		for _, r := range list {
			if r.ID != earlier {
				id = r.ID
			}
		}
		return id != ""
	})
	return id
}
