package main

import (
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/model/fake"
)

// TestClaudeReadsNoSecretFiles: the real Claude Code, with the rules that init writes, cannot open a file with secrets by its shell, also under
// a name that the shell sets itself, or by its own tool, and may look at its name. A compiler does not write its settings.
func TestClaudeReadsNoSecretFiles(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, nil)
	p.must("init", "--sandbox", "no")
	p.write(".env.vercel", "TOKEN=hunter2-hunter2\n")
	p.write("terraform.tfvars", "password = \"hunter2-hunter2\"\n")
	key := filepath.Join(p.home, ".ssh", "id_ed25519")
	p.write("../.ssh/id_ed25519", "-----BEGIN OPENSSH PRIVATE KEY-----\nhunter2-hunter2\n-----END OPENSSH PRIVATE KEY-----\n")
	p.write("y.c", "int y;\n")
	bash := func(command string) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{"command": command, "description": "x"}}}}
	}
	script := []fake.Step{bash("cat .env.vercel"), bash("base64 < terraform.tfvars"), bash("ls -l .env.vercel"),
		{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": p.dir + "/.env.vercel"}}}},
		bash("COLUMNS=" + key + "; cat $COLUMNS"), bash("COLUMNS=~/.ssh/id_ed25519; cat $COLUMNS"),
		bash("gcc -c y.c -MD -MF .claude/settings.local.json"), {Text: "done"}}
	s := fake.New(script...)
	defer s.Close()
	stdout, stderr, code := p.as(p.agentEnv("claude", s), "claude", "--unsafe-program", "--role", "developer", "-p", "Do it.",
		"--allowedTools", "Bash,Read")
	turns := s.Turns()
	if code != 0 || len(turns) != len(script) {
		t.Fatalf("exit %d, %d turns\n%s%s", code, len(turns), stdout, stderr)
	}
	for n, why := range map[int]string{1: "files with secrets", 2: "files with secrets", 4: "files with secrets", 5: "base:ssh",
		6: "base:ssh", 7: "base:claude-settings"} {
		got := results(turns[n])
		if !strings.HasPrefix(got, "[error=true]") || !strings.Contains(got, why) || strings.Contains(string(turns[n].Raw), "hunter2-") {
			t.Errorf("turn %d: the model reads %q", n, got)
		}
	}
	if got := results(turns[3]); !strings.Contains(got, ".env.vercel") || strings.HasPrefix(got, "[error=true]") {
		t.Errorf("ls: the model reads %q", got)
	}
	if got := p.read(".claude/settings.local.json"); strings.Contains(got, "y.o") {
		t.Errorf("the compiler wrote the settings: %q", got)
	}
}
