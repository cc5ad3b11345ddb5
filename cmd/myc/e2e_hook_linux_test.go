package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/hook"
	"mycelium/internal/model/fake"
	"mycelium/internal/model/fake/faketest"
)

// realAgent finds a real agent, or skips.
func realAgent(t *testing.T, name string) string {
	t.Helper()
	path, err := faketest.Find("../..", name)
	needed(t, err, name)
	return path
}

// agentEnv is the environment of a person who has an agent on the PATH that talks to a fake.
func (p *project) agentEnv(name string, s *fake.Server) []string {
	p.t.Helper()
	path := realAgent(p.t, name)
	agent, _ := harness.Named(name)
	environ, err := agent.Scripted(p.home, s.URL(), fake.Key)
	if err != nil {
		p.t.Fatal(err)
	}
	return slices.Concat(environ,
		[]string{"PATH=" + filepath.Dir(path) + ":" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + filepath.Join(p.home, "run"), noPages, "GORACE=" +
			os.Getenv("GORACE"), "NO_COLOR=1"})
}

// as runs a command of myc in another environment.
func (p *project) as(environ []string, args ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	var o, e strings.Builder
	cmd := exec.CommandContext(p.ctx, p.myc, args...) // without -C: as people type it
	cmd.Dir = p.dir
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, &o, &e
	if err := cmd.Run(); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			p.t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return o.String(), e.String(), code
}

// TestHookCheck proves with every real agent that can run here that our hook blocks, by the command that people have for it. The form for
// programs is the same for all of them: one agent is enough for it, another than the one for people's.
func TestHookCheck(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini"} {
		realAgent(t, name)
	}
	if !withoutNetwork(t) {
		return
	}
	for _, name := range []string{"claude", "codex", "gemini"} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, nil)
			environ := append(slices.Clone(p.env), "PATH="+filepath.Dir(realAgent(t, name))+":"+os.Getenv("PATH"))
			if name == "codex" {
				var proof agents.Proof
				stdout, stderr, code := p.as(environ, "hook", "check", name, "--json")
				if err := json.Unmarshal([]byte(stdout), &proof); err != nil || code != 0 || !proof.Blocked || !proof.Ran ||
					proof.Version == "" || !strings.Contains(proof.Told, "the check denies this command") {
					t.Errorf("exit %d, %v\n%s%s", code, err, stdout, stderr)
				}
				return
			}
			stdout, stderr, code := p.as(environ, "hook", "check", name)
			t.Logf("%s", stdout)
			if code != 0 || !strings.Contains(stdout, "✓ the denied one did not run; the agent was told: ") ||
				!strings.Contains(stdout, "the check denies this command") ||
				!strings.Contains(stdout, "✓ the allowed one ran") {
				t.Errorf("exit %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

// governedWorld is a project in which a developer's Bash and Write are decided by rules.
func governedWorld() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\nmcpServers: {files: {builtin: files}}\n",
		"skills/hands/SKILL.yaml": "name: hands\ndescription: Own tools.\nallowedRoles: [developer]\nallowedTools: [agent__Bash, " +
			"agent__Write, agent__Read]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: no-denied, action: deny, tool: Bash, args: {command: [{regex: \".*denied.*\"}]}, reason: not that}\n" +
			"  - {name: write-here, action: allow, tool: Write, match: {path: [{glob: \"DIR/**\"}]}}\n",
	})
}

// TestMycClaude starts the real Claude Code by `myc claude`: its own tools pass the hook, its only MCP server is the gateway, both are
// one session, and what the person's and the project's settings say switches none of it off.
func TestMycClaude(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, governedWorld())
	// Settings that would switch our hook off, and a server that is not ours.
	off := `{"disableAllHooks": true, "enableAllProjectMcpServers": true, "permissions": {"allow": ["Bash", "Write"]}}`
	p.write(".claude/settings.json", off)
	p.write(".claude/settings.local.json", off)
	p.write("../.claude/settings.json", off)
	p.write(".mcp.json", `{"mcpServers": {"stranger": {"command": "sh", "args": ["-c", "touch started; cat"]}}}`)
	var during []session.Summary
	script := []fake.Step{
		{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{"command": "touch denied.txt", "description": "x"}}}},
		{ToolUses: []fake.ToolUse{{Name: "Write", Input: map[string]any{"file_path": filepath.Join(p.dir, "own.txt"), "content": "own"}}}},
		use("files__write_file", agentFile),
		{Func: func(fake.Request) fake.Step {
			p.decode(&during, "session", "list")
			return fake.Step{Text: "done"}
		}},
	}
	s := fake.New(script...)
	defer s.Close()
	environ := p.agentEnv("claude", s)
	// the prompt first: no word of ours may swallow it
	stdout, stderr, code := p.as(environ, "claude", "--unsafe-program", "--role", "developer", "Do what the script says.",
		"-p", "--output-format", "json", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,mcp__mycelium")
	var run agentRun
	if err := json.Unmarshal([]byte(stdout), &run); err != nil || code != 0 || run.Result != "done" || run.IsError {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if len(during) != 1 || !regexp.MustCompile(`(?m)^myc: 2 allowed, 0 asked, 1 denied, \$[0-9.]+\. See: myc audit query --session `+
		during[0].ID+`$`).MatchString(stderr) {
		t.Errorf("it does not end with what happened:\n%s", stderr)
	}
	turns := s.Turns()
	if len(turns) != len(script) {
		t.Fatalf("%d turns", len(turns))
	}
	if got := results(turns[1]); !strings.HasPrefix(got, "[error=true]") || !strings.Contains(got, "no-denied") || p.read("denied.txt") != "" {
		t.Errorf("the denied command: the model reads %q", got)
	}
	if got := p.read("own.txt"); got != "own" {
		t.Errorf("the allowed file: %q; the model reads %q", got, results(turns[2]))
	}
	if got := p.read("by-claude.txt"); got != agentFile["content"] {
		t.Errorf("the gateway's tool: %q; the model reads %q", got, results(turns[3]))
	}
	for _, name := range turns[0].ToolNames() {
		if strings.HasPrefix(name, "mcp__") && !strings.HasPrefix(name, prefix) {
			t.Errorf("it is offered %s of another server", name)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "started")); err == nil {
		t.Error("the other server was started")
	}
	// One session for both, named and of that role, and gone with the agent.
	if len(during) != 1 || during[0].Name != "claude" || during[0].Role != "developer" {
		t.Errorf("sessions during the run: %+v", during)
	}
	var after []session.Summary
	p.decode(&after, "session", "list")
	if len(after) != 0 {
		t.Errorf("sessions after the run: %+v", after)
	}
	if left, _ := filepath.Glob(p.state().Run("*")); len(left) != 0 {
		t.Errorf("files of the run are left: %v", left)
	}
	sessions := map[string]bool{}
	var entries []struct {
		Session string `json:"session"`
		Tool    string `json:"tool"`
	}
	p.decode(&entries, "audit", "query")
	for _, e := range entries {
		if e.Tool != "" {
			sessions[e.Session] = true
		}
	}
	if len(during) == 1 && (len(sessions) != 1 || !sessions[during[0].ID]) {
		t.Errorf("the record names the sessions %v, want %s only: %+v", sessions, during[0].ID, entries)
	}
}

// TestMycClaudeRefuses: what would bypass the hook, where there is nothing to govern, and who is an agent already.
func TestMycClaudeRefuses(t *testing.T) {
	t.Parallel()
	p := newProject(t, governedWorld())
	bin := filepath.Join(p.home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho \"$@\" > "+p.home+"/ran\nkill -TERM $$\n"),
		0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	environ := append(slices.Clone(p.env), "PATH="+bin+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		args []string
		more string
		code int
		want string
	}{
		{[]string{"claude", "--bare"}, "", 2, "--bare would bypass"},
		{[]string{"claude", "-p", "--settings", "{}"}, "", 2, "--settings would bypass"},
		{[]string{"claude", "--setting-sources=user"}, "", 2, "--setting-sources would bypass"},
		{[]string{"claude", "--mcp-config", "x.json"}, "", 2, "--mcp-config would bypass"},
		{[]string{"claude", "mcp", "list"}, "", 2, `"mcp" does not start a session`},
		{[]string{"claude", "--role"}, "", 2, "--role needs a value"},
		{[]string{"claude", "--wall"}, "", 2, "--wall needs yes or no"},
		{[]string{"claude", "--wall=maybe"}, "", 2, "--wall needs yes or no"},
		{[]string{"claude", "--ask", "deny"}, "", 2, "--ask is for a run without a dialog"},
		{[]string{"claude", "-p", "x", "--ask=maybe"}, "", 2, `"maybe" is not one of wait, deny`},
		{[]string{"claude", "-p", "x", "--ask"}, "", 2, "needs an argument: --ask"},
		{[]string{"claude", "--unsafe-program", "--role", "nobody"}, "", 1, "nobody"},
		{[]string{"claude", "--role", "developer"}, "", 1, "a folder for temporary files"},
		{[]string{"claude"}, "CLAUDECODE=1", 3, "start an agent: only a person may do this"},
		{[]string{"claude"}, hook.TokenVar + "=x", 3, "start an agent: only a person may do this"},
		{[]string{"claude"}, "PATH=" + p.home, 1, "npm install -g @anthropic-ai/claude-code"},
		{[]string{"-C", p.home, "claude"}, "", 2, "init sets it up"},
	} {
		stdout, stderr, code := p.as(append(slices.Clone(environ), c.more), c.args...)
		if code != c.code || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "hint: ") && c.code != 2 &&
			!strings.Contains(c.want, "nobody") {
			t.Errorf("%v %s: exit %d, want %d with %q\n%s%s", c.args, c.more, code, c.code, c.want, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(p.home, "ran")); err == nil {
		t.Error("one of them started it")
	}
	// The exit code is the agent's, and behind -- everything is its own.
	if _, stderr, code := p.as(environ, "claude", "--unsafe-program", "--", "--help"); code != 128+15 {
		t.Errorf("exit %d of an agent that was terminated\n%s", code, stderr)
	}
	ran, err := os.ReadFile(filepath.Join(p.home, "ran"))
	if err != nil || !strings.Contains(string(ran), "/mcp.json --settings ") || !strings.HasSuffix(string(ran), "/settings.json --help\n") {
		t.Errorf("it was started with %q %v", ran, err)
	}
	if stdout, _, code := p.as(environ, "claude", "--help"); code != 0 || !strings.Contains(stdout, "only MCP server") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
}

// TestMentionedFiles: a file that a person mentions with @ reaches the model without any hook (W10). The agent's own deny entries, which
// the installer writes, keep it out.
func TestMentionedFiles(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, governedWorld())
	secrets := map[string]string{".mycelium/state.txt": "secret-of-the-state", "deep/down/.env.local": "secret-of-the-env",
		"deep/secrets.json": "secret-of-the-json", "../.ssh/config": "secret-of-ssh"}
	prompt := "Look at @notes.md"
	for name, text := range secrets {
		p.write(name, text)
		prompt += " and @" + filepath.Join(p.dir, name)
	}
	mention := func() string {
		s := fake.New(fake.Step{Text: "done"})
		defer s.Close()
		cmd := exec.CommandContext(p.ctx, realAgent(t, "claude"), "-p", "--add-dir", p.home, "--", prompt)
		cmd.Dir, cmd.Env = p.dir, p.agentEnv("claude", s)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("claude: %v\n%s", err, out)
		}
		return string(s.Turns()[0].Raw)
	}
	reads := func(text string) (seen []string) {
		for name, secret := range secrets {
			if strings.Contains(text, secret) {
				seen = append(seen, name)
			}
		}
		return seen
	}
	if seen := reads(mention()); len(seen) != len(secrets) {
		t.Fatalf("without deny entries the model reads only %v: mentions work in another way now", seen)
	}
	p.must("hook", "install", "claude", "--unsafe-program")
	text := mention()
	if seen := reads(text); len(seen) > 0 {
		t.Errorf("the model reads %v", seen)
	}
	if !strings.Contains(text, "mushrooms") {
		t.Error("the model does not read notes.md")
	}
	p.must("hook", "uninstall", "claude")
	if seen := reads(mention()); len(seen) != len(secrets) {
		t.Errorf("after uninstall the model reads only %v", seen)
	}
}

// TestGuideGoverned runs the blocks of docs/guide.md that need Claude Code, with a scripted model behind it.
func TestGuideGoverned(t *testing.T) {
	realAgent(t, "claude")
	if !withoutNetwork(t) {
		return
	}
	p := newProject(t, nil)
	bin := filepath.Join(p.home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	copyFile(t, p.myc, filepath.Join(bin, "myc"))
	copyFile(t, filepath.Join(filepath.Dir(p.myc), hook.Small), filepath.Join(bin, hook.Small))
	s := fake.New(
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(p.home, "fresh", "notes.md")}}}},
		fake.Step{Text: "It sells mushrooms."},
	)
	defer s.Close()
	var script strings.Builder
	// The programs of this test lie in a folder for temporary files.
	script.WriteString("set -ex\nmyc() { if [ \"$1\" = claude ]; then shift; command myc claude --unsafe-program \"$@\"; else command myc " +
		"\"$@\"; fi; }\n")
	for _, b := range shellBlocks(t, "../../docs/guide.md") {
		if b.with == "claude" {
			script.WriteString(b.text)
		}
	}
	cmd := exec.CommandContext(p.ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.Env = p.dir, append(p.agentEnv("claude", s), "PATH="+bin+":"+filepath.Dir(realAgent(t, "claude"))+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "It sells mushrooms.") || !strings.Contains(string(out), `"agent__Read"`) ||
		!strings.Contains(string(out), "The hook blocks.") {
		t.Error(err)
	}
}
