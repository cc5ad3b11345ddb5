package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
)

// TestPlainAgentShell: a Claude Code that myc claude did not start runs in the sandbox what a rule wants there, by another command in its
// place; but not where its person has rules, which it would then not look at. The files decide for the first version, a daemon for the
// other.
func TestPlainAgentShell(t *testing.T) {
	for _, door := range agentDoors[:2] {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, shellWorld())
	p.write("../.ssh/x", "a key")
	p.write("tricks.sh", "cat "+p.home+"/.ssh/x\n")
	p.must("hook", "install", "claude", "--unsafe-program")
	for i, door := range agentDoors[:2] {
		if i == 1 {
			p.must("serve", "--background", "--addr", "127.0.0.1:0")
		}
		t.Run(door.name, func(t *testing.T) { agentPlain(t, p, door) })
	}
}

// plainRun runs Claude Code itself, with the hook that is installed, and returns what the model was told after each step.
func (p *project) plainRun(t *testing.T, door agentDoor, options []string, steps ...fake.Step) (told []string) {
	t.Helper()
	return p.agentRun(t, door, steps, func(environ []string, program string) (stdout, stderr string, code int) {
		var o, e bytes.Buffer
		cmd := exec.CommandContext(p.ctx, program, append(append([]string{"-p", "--output-format", "json"}, options...), "--", "Do it.")...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, environ, &o, &e
		_ = cmd.Run() // its exit code is told
		return o.String(), e.String(), cmd.ProcessState.ExitCode()
	})
}

// agentPlain does some work with one version.
func agentPlain(t *testing.T, p *project, door agentDoor) {
	p.write("bg.txt", "")
	told := p.plainRun(t, door, nil,
		bashStep("mkdir -p sub && cd sub && echo 'it'\"'s\" $MYCELIUM_SANDBOX | tee /tmp/task"),
		bashStep("pwd; cat /tmp/task; cd /tmp"),
		bashStep("pwd; sh ../tricks.sh"),
		bashStep("cd .. && exit 3"),
		bashStep("env"),
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{
			"command": "sleep 0.1; echo $MYCELIUM_SANDBOX > ../bg.txt", "description": "x", "run_in_background": true}}}},
		fake.Step{Func: func(fake.Request) fake.Step {
			p.eventually("the background command has run", func() bool { return p.read("bg.txt") == "project\n" })
			return bashStep("env")
		}},
	)
	for i, want := range []string{
		"it's project", p.dir + "/sub\nit's project", "No such file", "Exit code 3", "CLAUDECODE=1", "background", "CLAUDECODE=1",
	} {
		if !strings.Contains(told[i], want) {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	if !strings.Contains(told[2], p.dir+"/sub\n") { // /tmp of the sandbox is no folder of the machine's
		t.Errorf("after cd /tmp the model reads %q", told[2])
	}
	if strings.Contains(told[4], "MYCELIUM_SANDBOX") {
		t.Error("what needs no sandbox runs in one")
	}
	// A rule of the person's own stands: the command is asked about, and nobody is there to answer.
	if got := p.plainRun(t, door, []string{"--disallowedTools=Bash(touch:*)"}, bashStep("touch denied.txt")); exists(p, "denied.txt") {
		t.Errorf("a command that its person denies has run; the model reads %q", got)
	}
}
