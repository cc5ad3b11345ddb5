package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/model/fake"
)

// TestAgentWall: the real Claude Code works behind the wall that `myc init --sandbox yes` sets up. A morning's commands run without a
// question; the push is the only one, runs outside once it is allowed, and runs no hook that the agent could have written.
func TestAgentWall(t *testing.T) {
	door := agentDoors[0]
	_, err := door.find("../..", "claude")
	needed(t, err, "Claude Code, "+door.name)
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, nil)
	p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n[core]\n\thooksPath = .husky\n")
	p.write("../.ssh/x", "a key")
	p.write(".env", "TOKEN=MARKER-1\n")
	p.write(".gitignore", ".env\n")
	p.write("go.mod", "module example.com/task\n\ngo 1.24\n")
	p.write("main.go", "package main\n\nfunc main() { println(41) }\n")
	if out, stderr, err := p.run("init", "--sandbox", "yes"); err != nil {
		t.Fatalf("init: %v\n%s%s", err, out, stderr)
	}
	p.git("init", "-q", "-b", "main")
	p.git("add", ".")
	p.git("commit", "-qm", "begin")
	bare := filepath.Join(p.home, "bare.git")
	p.git("init", "-q", "--bare", bare)
	p.git("remote", "add", "origin", bare)
	proof := filepath.Join(p.home, "proof")
	p.write(".husky/pre-push", "#!/bin/sh\ntouch "+proof+"\n")
	if err := os.Chmod(filepath.Join(p.dir, ".husky", "pre-push"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	p.git("push", "-q", "origin", "main")
	if err := os.Remove(proof); err != nil {
		t.Fatalf("a person's push runs no hook: %v", err)
	}
	p.warmGo()
	p.must("approvals", "mode", "remote")
	var asked []approval.Request
	serve := fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{
		"command": "/usr/bin/python3 -m http.server 8123", "description": "x", "run_in_background": true}}}}
	browsed := ""
	browse := func(next fake.Step) fake.Step { // the person looks at what the agent serves, and then the agent goes on
		return fake.Step{Func: func(fake.Request) fake.Step {
			p.eventually("the server is reached", func() bool {
				answer, err := http.Get("http://127.0.0.1:8123/out.txt")
				if err != nil {
					return false
				}
				defer answer.Body.Close()
				data, err := io.ReadAll(answer.Body)
				browsed = string(data)
				return err == nil
			})
			return next
		}}
	}
	told := p.shellRun(t, door,
		bashStep("git status --short && ls"),
		bashStep("go build ./..."),
		bashStep(`python3 -c 'print(6 * 7)' | tee out.txt; for i in 1 2; do eval "echo $i"; done`),
		bashStep("python3 -c \"import os; print(open('.e' + 'nv').read()); print(open(os.path.expanduser('~/.s' + 'sh/x')).read())\""),
		bashStep("git add out.txt && git commit -qm 'What came out' && git log --oneline | head -3"),
		serve,
		browse(bashStep("curl -s http://127.0.0.1:8123/out.txt")),
		bashStep(`/usr/bin/python3 -c 'import urllib.request as r; print(r.urlopen("http://localhost:8123/out.txt").read().decode())'`),
		bashStep("git fetch -q origin && git rev-parse origin/main"),
		bashStep("go build ./... && git push -q origin main"),
		fake.Step{Func: func(fake.Request) fake.Step {
			go func() {
				r := p.next("")
				asked = append(asked, r)
				if _, stderr, err := p.run("approvals", "approve", r.ID, "--sure"); err != nil {
					t.Errorf("approve: %v\n%s", err, stderr)
					_, _, _ = p.run("approvals", "deny", r.ID) // so that the agent does not wait for its whole time
				}
			}()
			return bashStep("git push -q origin main 2>&1 | tail -3")
		}},
	)
	for i, want := range []string{"", "", "42\n1\n2", "No such file", "What came out", "", "42\n", "42\n", p.git("rev-parse", "HEAD~1"), "Make them two calls", ""} {
		if !strings.Contains(told[i], strings.TrimSpace(want)) {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	if browsed != "42\n" {
		t.Errorf("the person's browser reads %q", browsed)
	}
	if all := strings.Join(told, "\n"); strings.Contains(all, "a key") || strings.Contains(all, "MARKER-1") {
		t.Errorf("the model has read a secret: %s", all)
	}
	if len(asked) != 1 || asked[0].Outside == "" || !asked[0].Sandbox.None() || !strings.Contains(asked[0].Reason, "your keys") {
		t.Errorf("the questions are %+v", asked)
	}
	if got, want := p.git("--git-dir", bare, "rev-parse", "main"), p.git("rev-parse", "HEAD"); got != want {
		t.Errorf("origin has %s, want %s", got, want)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("the hook of the agent ran outside")
	}
	if !slices.ContainsFunc(p.records(), func(r audit.Record) bool { return r.Sandbox == "project" }) {
		t.Error("the log has no command in the sandbox")
	}
	if !slices.ContainsFunc(p.records(), func(r audit.Record) bool { return strings.Contains(r.Outside, "needs keys") }) {
		t.Error("the log does not say that the push ran outside")
	}
	if got := p.must("audit", "query", "--tool", "agent__Bash"); !strings.Contains(got, "outside") {
		t.Errorf("the table does not say which command ran outside:\n%s", got)
	}
}
