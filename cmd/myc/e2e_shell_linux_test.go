package main

import (
	"encoding/base64"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/model/fake"
	"mycelium/internal/node/agentshell/shim"
)

// shellWorld is a project with a program, whose developer's shell runs in the sandbox.
func shellWorld() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer}\napproval: {mode: local}\n" +
			"sandbox: {registries: {corp: {like: npm, hosts: [npm.example.invalid]}}}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash, " +
			"agent__Write, agent__Read]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: outside, action: allow, tool: Bash, args: {command: [env]}}\n" +
			"  - {name: packages, action: allow, tool: Bash, sandbox: {profile: project, registries: [corp]}, " +
			"args: {command: [\"sh npm.sh\"]}}\n" +
			"  - {name: work, action: allow, tool: Bash, sandbox: project, match: {effect: [read, write, delete, execute, project_code, " +
			"written_here, inline_code]}}\n" +
			"  - {name: files, action: allow, tool: Write|Read, match: {path: [{glob: \"DIR/**\"}]}}\n",
		"go.mod":  "module example.com/task\n\ngo 1.24\n",
		"main.go": "package main\n\nfunc answer() int { return 41 }\n\nfunc main() { println(answer()) }\n",
		"main_test.go": "package main\n\nimport \"testing\"\n\n" +
			"func TestAnswer(t *testing.T) {\n\tif answer() != 42 {\n\t\tt.Fatal(answer())\n\t}\n}\n",
		".claude/settings.json": "{}\n", ".gitignore": ".mycelium/\n",
	})
}

// TestAgentShell: the real Claude Code of both versions does a small task in the sandbox without one question: edit, build, test, commit.
// What is kept from it there is kept, and what the hook did not admit does not run, also with hooks switched off.
func TestAgentShell(t *testing.T) {
	for _, door := range doors(agentDoors[:2]) {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, shellWorld())
	p.write("../.gitconfig", "[user]\n\tname = Ada\n\temail = ada@example.com\n[alias]\n\tx = !touch alias\n")
	p.write("../.ssh/x", "a key")
	// A hook of the person's own, which Claude Code starts by the program before the shell too.
	p.write("../.claude/settings.json", `{"hooks": {"PostToolUse": [{"matcher": "Read", "hooks": [{"type": "command", `+
		`"command": "echo ran >> `+p.home+`/own-hook; sleep 0"}]}]}}`)
	p.git("init", "-q")
	p.git("add", ".")
	p.git("commit", "-qm", "begin")
	p.warmGo()
	for i, door := range doors(agentDoors[:2]) { // in one project: the second one finds the build cache of the first
		t.Run(door.name, func(t *testing.T) { agentTask(t, p, door, i) })
	}
	if got := p.read("../own-hook"); got != strings.Repeat("ran\n", 2*len(doors(agentDoors[:2]))) {
		t.Errorf("the person's own hook says %q", got)
	}
	for _, door := range doors(agentDoors[:2]) {
		t.Run(door.name+", kept", func(t *testing.T) { agentKept(t, p, door) })
	}
	t.Run("asks", func(t *testing.T) { agentAsks(t, p, agentDoors[0]) })
}

// warmGo gives the build cache of the project's sandbox what Go's own packages are compiled to, from the cache of this machine. To compile
// them again would take half of the processors' time of the test.
func (p *project) warmGo() {
	p.t.Helper()
	list := exec.Command("go", "list", "-deps", "-test", "-export", "-f", "{{if .Standard}}{{.BuildID}} {{.Export}}{{end}}", ".")
	list.Dir = p.dir
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		id, compiled, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue // package unsafe
		}
		// The cache finds what a package is compiled to by an entry that has the first half of its build ID in its name.
		action, _, _ := strings.Cut(id, "/")
		key, err := base64.RawURLEncoding.DecodeString(action)
		if err != nil {
			p.t.Fatal(err)
		}
		name := hex.EncodeToString(key)
		cache := filepath.Dir(filepath.Dir(compiled))
		entries, err := filepath.Glob(filepath.Join(cache, name[:2], name+"*-a"))
		if err != nil || len(entries) == 0 {
			p.t.Fatalf("%s is not in the build cache: %v", line, err)
		}
		for _, path := range append(entries, compiled) {
			to := filepath.Join(p.state().Sandbox("cache"), "go-build", filepath.Base(filepath.Dir(path)), filepath.Base(path))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				p.t.Fatal(err)
			}
			copyFile(p.t, path, to)
		}
	}
}

// shellRun runs `myc claude` with a version of Claude Code, and returns what the model was told after each step.
func (p *project) shellRun(t *testing.T, door agentDoor, steps ...fake.Step) (told []string) {
	t.Helper()
	return p.shellRunWith(t, door, nil, steps...)
}

// shellRunWith is shellRun with further variables in the environment.
func (p *project) shellRunWith(t *testing.T, door agentDoor, more []string, steps ...fake.Step) (told []string) {
	t.Helper()
	return p.agentRun(t, door, steps, func(environ []string, _ string) (stdout, stderr string, code int) {
		return p.as(append(environ, more...), "claude", "--unsafe-program", "-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--",
			"Do what the script says.")
	})
}

// agentRun has start run a version of Claude Code, and returns what the model was told after each step.
func (p *project) agentRun(t *testing.T, door agentDoor, steps []fake.Step,
	start func(environ []string, program string) (stdout, stderr string, code int)) (told []string) {
	t.Helper()
	program, err := door.find("../..", "claude")
	if err != nil {
		t.Fatal(err)
	}
	s := fake.New(append(steps, fake.Step{Text: "done"})...)
	defer s.Close()
	stdout, stderr, code := start(append(p.agentEnv("claude", s), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH")), program)
	var run agentRun
	if err := json.Unmarshal([]byte(stdout), &run); err != nil || code != 0 || run.IsError {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	turns := s.Turns()
	if len(turns) <= len(steps) { // the end of a background command may make a turn of its own
		t.Fatalf("%d turns", len(turns))
	}
	// A message of the agent's own may follow the result of a tool, so all messages count.
	for _, m := range turns[len(turns)-1].Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				told = append(told, b.Text)
			}
		}
	}
	if len(told) != len(steps) {
		t.Fatalf("the model was told of %d tools: %q", len(told), told)
	}
	return told
}

func (p *project) git(args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.ctx, "git", args...)
	cmd.Dir, cmd.Env = p.dir, append(slices.Clone(p.env), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// agentTask does a small task. Each one has another answer.
func agentTask(t *testing.T, p *project, door agentDoor, i int) {
	write := func(name, old, next string) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Write", Input: map[string]any{"file_path": filepath.Join(p.dir, name),
			"content": strings.Replace(shellWorld()[name], old, next, 1)}}}}
	}
	read := func(name string) fake.Step {
		return fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(p.dir, name)}}}}
	}
	answer := strconv.Itoa(43 + i)
	told := p.shellRun(t, door,
		read("main.go"), write("main.go", "41", answer), read("main_test.go"), write("main_test.go", "42", answer),
		bashStep("go build -o /tmp/task ./... && /tmp/task"),
		bashStep("go test -vet=off ./..."),
		bashStep("git commit -qam 'answer "+answer+"' && git log -1 --format='%an: %s'"),
		bashStep("mkdir -p sub && cd sub && echo $MYCELIUM_SANDBOX"),
		bashStep("pwd; ls /tmp/task"),
		bashStep("env"),
	)
	for i, want := range []string{4: answer, 5: "ok", 6: "Ada: answer " + answer, 7: "project", 8: p.dir + "/sub\n/tmp/task",
		9: "CLAUDE_CODE_SESSION_ID="} { // the last one is allowed outside of the sandbox
		if !strings.Contains(told[i], want) {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	if strings.Contains(told[9], "MYCELIUM_SANDBOX") {
		t.Error("what needs no sandbox runs in one")
	}
	if out := p.git("log", "-1", "--format=%s"); out != "answer "+answer+"\n" {
		t.Errorf("git log: %s", out)
	}
	var asked []any
	if p.decode(&asked, "audit", "query", "--effect", "ask"); len(asked) > 0 {
		t.Errorf("there were questions: %v", asked)
	}
}

// agentKept tries what the sandbox and the program before the shell keep.
func agentKept(t *testing.T, p *project, door agentDoor) {
	p.write("bg.txt", "")
	// In a script, because the hook itself denies such commands as far as it sees what they do.
	p.write("tricks.sh", "case $1 in\nkey) cat "+p.home+"/.ssh/x;;\nsettings) echo '{\"disableAllHooks\": true}' > .claude/settings.json;;\n"+
		"state) ls "+string(p.state().Root)+" "+filepath.Join(p.home, "run")+";;\n"+
		"other) mkdir -p .gemini && echo '{}' > .gemini/settings.json;;\nwhere) echo in $MYCELIUM_SANDBOX;;\nesac\n")
	told := p.shellRun(t, door,
		bashStep("sh tricks.sh key"), bashStep("sh tricks.sh settings"), bashStep("sh tricks.sh state"), bashStep("sh tricks.sh other"),
		bashStep("env"),
		fake.Step{Func: func(fake.Request) fake.Step {
			shellByHand(t, p, "env")
			shellWithoutHooks(t, p, door)
			return fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{
				"command": "sleep 0.1; echo $MYCELIUM_SANDBOX > bg.txt", "description": "x", "run_in_background": true}}}}
		}},
		fake.Step{Func: func(fake.Request) fake.Step {
			p.eventually("the background command has run", func() bool { return p.read("bg.txt") == "project\n" })
			return bashStep("env")
		}},
		fake.Step{Func: func(fake.Request) fake.Step { // then the files decide
			daemon := p.status().Daemon.PID
			if err := syscall.Kill(daemon, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			p.eventually("the daemon is gone", func() bool { return syscall.Kill(daemon, 0) != nil })
			return bashStep("sh tricks.sh where")
		}},
	)
	for i, want := range []string{
		"No such file", "Read-only file system", "No such file", "which would govern agents", "CLAUDECODE=1", "background",
		"CLAUDECODE=1", "in project",
	} {
		if !strings.Contains(told[i], want) {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	var refused []any
	if p.decode(&refused, "audit", "query", "--rule", "hook"); len(refused) < 3 {
		t.Errorf("refusals are not recorded: %v", refused)
	}
	if got := p.read(".claude/settings.json"); got != "{}\n" || exists(p, ".gemini/settings.json") {
		t.Errorf("the settings are %q; there are others: %t", got, exists(p, ".gemini/settings.json"))
	}
}

// agentAsks: what a command lacks in the sandbox is told to the agent and recorded, and the same command, run again, asks a person for it.
// What the rule of the sandbox does not cover asks too, and runs outside.
func agentAsks(t *testing.T, p *project, door agentDoor) {
	p.must("approvals", "mode", "remote")
	defer p.must("approvals", "mode", "local")
	p.write("../outside.txt", "from outside\n")
	p.write("fetch.sh", "curl -sSf http://registry.example.invalid/x\n")
	p.write("read.sh", "cat "+p.home+"/outside.txt\n")
	p.write("key.sh", "cat "+p.home+"/.ssh/x\n")
	// A lock file that the agent commits itself opens nothing.
	p.write("npm.sh", `echo '{"packages":{"node_modules/left-pad":{"version":"1.0.0"}}}' > package-lock.json
git add package-lock.json && git commit -qm lock
curl -sSf https://npm.example.invalid/left-pad
`)
	bare := filepath.Join(p.home, "bare.git")
	p.git("init", "-q", "--bare", bare)
	p.git("remote", "add", "origin", bare)
	var asked []approval.Request
	last := ""
	answering := func(command string, answer ...string) fake.Step {
		return fake.Step{Func: func(fake.Request) fake.Step {
			go func() {
				r := p.next(last)
				last, asked = r.ID, append(asked, r)
				if _, stderr, err := p.run(append([]string{"approvals", answer[0], r.ID}, answer[1:]...)...); err != nil {
					t.Errorf("approvals %s: %v\n%s", answer[0], err, stderr)
					_, _, _ = p.run("approvals", "deny", r.ID) // so that the agent does not wait for its whole time
				}
			}()
			return bashStep(command)
		}}
	}
	told := p.shellRun(t, door,
		bashStep("sh fetch.sh"), answering("sh fetch.sh", "approve", "--for", "session", "--sure"), bashStep("sh fetch.sh"),
		bashStep("sh read.sh"), answering("sh read.sh", "approve", "--sure"), bashStep("sh read.sh"), answering("sh read.sh", "deny"),
		bashStep("sh key.sh"), bashStep("sh key.sh"),
		bashStep("sh npm.sh"), answering("sh npm.sh", "approve", "--sure"),
		answering("git push -q origin HEAD:main", "approve", "--sure"),
	)
	for i, want := range []string{
		"lacked in the sandbox project: host registry.example.invalid:80. Run the same command again to ask a person",
		"502", "502", // it gets through the proxy now; there is no such host
		"lacked in the sandbox project: read " + p.home + "/outside.txt. Run the same", "from outside",
		"read " + p.home + "/outside.txt. Run the same", "Not approved by",
		"is protected", "is protected",
		"lacked in the sandbox project: package corp:left-pad. Run the same command again to ask a person", "502", "",
	} {
		if !strings.Contains(told[i], want) {
			t.Errorf("step %d: the model reads %q, want %q", i, told[i], want)
		}
	}
	file := "read " + p.home + "/outside.txt"
	for i, want := range []string{"host registry.example.invalid:80", file, file, "package corp:left-pad", ""} {
		if i < len(asked) && asked[i].Lacked.String() != want {
			t.Errorf("question %d asks for %q, want %q", i, asked[i].Lacked, want)
		}
	}
	if len(asked) != 5 {
		t.Errorf("%d questions", len(asked))
	}
	if p.git("--git-dir", bare, "log", "-1", "--format=%s", "main") != p.git("log", "-1", "--format=%s") {
		t.Error("it was not pushed")
	}
	var lacks []audit.Record
	if p.decode(&lacks, "audit", "query", "--rule", "sandbox"); len(lacks) != 4+len(doors(agentDoors[:2])) { // one of each door before
		t.Errorf("%d records of lacks: %v", len(lacks), lacks)
	}
}

// shellByHand: the program before the shell runs nothing that was not admitted, nor a second time what was.
func shellByHand(t *testing.T, p *project, command string) {
	folders, err := filepath.Glob(p.state().Run("*"))
	if err != nil || len(folders) != 1 {
		t.Errorf("folders of runs: %q %v", folders, err)
		return
	}
	line := "source " + p.home + "/.claude/shell-snapshots/snapshot-bash-1-x.sh 2>/dev/null || true && { shopt -u extglob || setopt " +
		"NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL; } >/dev/null 2>&1 || true && eval '" + command + "' < /dev/null && pwd -P >| /tmp/claude-0-cwd"
	for _, args := range [][]string{{line}, {command}, {}, {line, line}} {
		cmd := exec.CommandContext(p.ctx, shim.Path(folders[0]), args...)
		cmd.Dir, cmd.Env = p.dir, p.env
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 126 || !strings.Contains(string(out), "Mycelium did not run this command") {
			t.Errorf("%q: exit code %d\n%s", args, cmd.ProcessState.ExitCode(), out)
		}
	}
}

// shellWithoutHooks: with the same settings but without hooks, a command does not run.
func shellWithoutHooks(t *testing.T, p *project, door agentDoor) {
	files, err := filepath.Glob(p.state().Run("*") + "/settings.json")
	if err != nil || len(files) != 1 {
		t.Errorf("settings of runs: %q %v", files, err)
		return
	}
	text, err := os.ReadFile(files[0])
	var settings map[string]any
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		t.Error(err)
		return
	}
	delete(settings, "hooks")
	settings["disableAllHooks"] = true
	if text, err = json.Marshal(settings); err != nil {
		t.Error(err)
		return
	}
	program, err := door.find("../..", "claude")
	if err != nil {
		t.Error(err)
		return
	}
	s := fake.New(bashStep("touch unadmitted.txt"), fake.Step{Text: "done"})
	defer s.Close()
	cmd := exec.CommandContext(p.ctx, program, "-p", "--settings", string(text), "--tools", "Bash", "--allowedTools", "Bash", "--", "Do it.")
	cmd.Dir, cmd.Env = p.dir, p.agentEnv("claude", s)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("claude: %v\n%s", err, out)
	}
	turns := s.Turns()
	if got := results(turns[len(turns)-1]); !strings.Contains(got, "the hook did not admit it") || exists(p, "unadmitted.txt") {
		t.Errorf("without hooks the model reads %q; the file is there: %t", got, exists(p, "unadmitted.txt"))
	}
}
