package main

import (
	"strings"
	"testing"

	"mycelium/internal/model/fake"
)

// TestClaudeReadsNoSecretFiles: the real Claude Code, with the rules that init writes, cannot open a file with secrets by its shell or by
// its own tool, and may look at its name.
func TestClaudeReadsNoSecretFiles(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, nil)
	p.must("init")
	p.write(".env.vercel", "TOKEN=hunter2-hunter2\n")
	p.write("terraform.tfvars", "password = \"hunter2-hunter2\"\n")
	bash := func(command string) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{"command": command, "description": "x"}}}}
	}
	script := []fake.Step{bash("cat .env.vercel"), bash("base64 < terraform.tfvars"), bash("ls -l .env.vercel"),
		{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": p.dir + "/.env.vercel"}}}}, {Text: "done"}}
	s := fake.New(script...)
	defer s.Close()
	stdout, stderr, code := p.as(p.agentEnv("claude", s), "claude", "--unsafe-program", "--role", "developer", "-p", "Do it.",
		"--allowedTools", "Bash,Read")
	turns := s.Turns()
	if code != 0 || len(turns) != len(script) {
		t.Fatalf("exit %d, %d turns\n%s%s", code, len(turns), stdout, stderr)
	}
	for i, n := range []int{1, 2, 4} {
		got := results(turns[n])
		if !strings.HasPrefix(got, "[error=true]") || !strings.Contains(got, "files with secrets") || strings.Contains(string(turns[n].Raw), "hunter2-") {
			t.Errorf("refusal %d: the model reads %q", i, got)
		}
	}
	if got := results(turns[3]); !strings.Contains(got, ".env.vercel") || strings.HasPrefix(got, "[error=true]") {
		t.Errorf("ls: the model reads %q", got)
	}
}
