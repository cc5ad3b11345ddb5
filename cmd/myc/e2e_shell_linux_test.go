package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
	"mycelium/internal/node/agentshell"
)

// shellWorld is a project with a program, whose developer's shell runs in the sandbox.
func shellWorld() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer}\napproval: {mode: local}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash, " +
			"agent__Write, agent__Read]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: outside, action: allow, tool: Bash, args: {command: [{regex: \"echo outside.*\"}]}}\n" +
			"  - {name: work, action: allow, tool: Bash, sandbox: project}\n" +
			"  - {name: files, action: allow, tool: Write|Read, match: {path: [{glob: \"DIR/**\"}]}}\n",
		"go.mod":                "module example.com/task\n\ngo 1.24\n",
		"main.go":               "package main\n\nfunc answer() int { return 41 }\n\nfunc main() { println(answer()) }\n",
		"main_test.go":          "package main\n\nimport \"testing\"\n\nfunc TestAnswer(t *testing.T) {\n\tif answer() != 42 {\n\t\tt.Fatal(answer())\n\t}\n}\n",
		".claude/settings.json": "{}\n", ".gitignore": ".mycelium/\n",
	})
}

// TestAgentShell: the real Claude Code does a small task in the sandbox without one question: edit, build, test, commit.
func TestAgentShell(t *testing.T) {
	for _, door := range agentDoors[:2] {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withoutNetwork(t) {
		return
	}
	for _, door := range agentDoors[:2] {
		t.Run(door.name, func(t *testing.T) { agentShell(t, door) })
	}
}

// shellRun runs `myc claude` with a version of Claude Code, and returns what the model was told after each step.
func (p *project) shellRun(door agentDoor, steps ...fake.Step) (told []string, stderr string) {
	p.t.Helper()
	program, err := door.find("../..", "claude")
	if err != nil {
		p.t.Fatal(err)
	}
	s := fake.New(append(steps, fake.Step{Text: "done"})...)
	defer s.Close()
	environ := append(p.agentEnv("claude", s), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	stdout, stderr, code := p.as(environ, "claude", "--unsafe-program", "-p", "--output-format", "json", "--permission-mode", "acceptEdits",
		"--", "Do what the script says.")
	var run agentRun
	if err := json.Unmarshal([]byte(stdout), &run); err != nil || code != 0 || run.IsError {
		p.t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	turns := s.Turns()
	if len(turns) != len(steps)+1 {
		p.t.Fatalf("%d turns", len(turns))
	}
	for _, turn := range turns[1:] {
		all := turn.ToolResults()
		text := ""
		if len(all) > 0 {
			text = all[len(all)-1].Text
		}
		told = append(told, text)
	}
	return told, stderr
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.ctx, "git", args...)
	cmd.Dir, cmd.Env = p.dir, append(p.env, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func agentShell(t *testing.T, door agentDoor) {
	p := newProject(t, shellWorld())
	p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n[alias]\n\tx = !touch alias\n")
	p.git("init", "-q")
	p.git("add", ".")
	p.git("commit", "-qm", "begin")
	told, stderr := p.shellRun(door,
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(p.dir, "main.go")}}}},
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: map[string]any{"file_path": filepath.Join(p.dir, "main.go"),
			"content": strings.Replace(shellWorld()["main.go"], "41", "42", 1)}}}},
		bashStep("go build -o /tmp/task ./... && /tmp/task"),
		bashStep("go test ./..."),
		bashStep("git commit -qam 'the answer' && git log --format='%an %s'"),
		bashStep("mkdir -p sub && cd sub && echo $MYCELIUM_SANDBOX"),
		bashStep("pwd; ls /tmp"),
		bashStep("echo outside $MYCELIUM_SANDBOX; pwd"),
	)
	for i, want := range []string{"", "", "42", "ok", "Ada the answer\nAda begin", "project", filepath.Join(p.dir, "sub") + "\n", "outside\n"} {
		if !strings.Contains(told[i], want) {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	if out := p.git("log", "--format=%s"); out != "the answer\nbegin\n" {
		t.Errorf("git log: %s", out)
	}
	t.Logf("%s\n%q", stderr, told)
	_ = agentshell.Name
}
