package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
)

// hookWorld is a project whose developer has Claude Code's shell, with a rule for each answer.
func hookWorld() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: developer, roles: [guest, developer]}\napproval: {mode: remote, deadline: 60s}\n",
		"skills/coding/SKILL.yaml": "name: coding\ndescription: Runs commands.\nallowedRoles: [developer]\n" +
			"allowedTools: [agent__Bash, agent__Write]\n",
		"rules.yaml": "version: 1\nrules:\n" +
			"  - {name: no-b, action: deny, tool: Bash, args: {command: ['touch b.txt']}, reason: b is not made here}\n" +
			"  - {name: ask-c, action: ask, tool: Bash, args: {command: ['touch c.txt']}, reason: c is asked for}\n" +
			"  - {name: a, action: allow, tool: Bash, args: {command: ['touch a.txt']}}\n",
	})
}

// hooked runs Claude Code with our hook at every event, and with our gateway where a server is given. stop is called when it has ended.
func (p *project) hooked(s *fake.Server, mycelium server, tools string) agentRun {
	p.t.Helper()
	return p.hookedIn(p.dir, " -C "+p.dir, s, mycelium, tools)
}

// hookedIn is hooked in a folder, with further flags of the entry.
func (p *project) hookedIn(dir, flags string, s *fake.Server, mycelium server, tools string) agentRun {
	p.t.Helper()
	path, environ, err := p.scripted(s)
	if err != nil {
		p.t.Fatal(err)
	}
	entry := func(event string) []any {
		line := p.myc + " hook claude" + flags + " --state " + string(p.state().Root) + " --event " + event +
			" --limit 10m0s --gateway mycelium"
		return []any{map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": line, "timeout": 600}}}}
	}
	hooks := map[string]any{}
	for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart", "SessionEnd"} {
		hooks[event] = entry(event)
	}
	settings, err := json.Marshal(map[string]any{"hooks": hooks}, json.Deterministic(true))
	if err != nil {
		p.t.Fatal(err)
	}
	servers := map[string]any{}
	if mycelium != nil {
		servers["mycelium"] = mycelium
	}
	config, err := json.Marshal(map[string]any{"mcpServers": servers}, json.Deterministic(true))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.ctx, path, "-p", "--output-format", "json", "--tools", tools, "--strict-mcp-config", "--mcp-config",
		string(config),
		"--settings", string(settings), "--", "Do what the script says.")
	cmd.Dir = dir
	cmd.Env = slices.Concat(environ, []string{"XDG_RUNTIME_DIR=" + filepath.Join(p.home, "run"), noPages, "GORACE=atexit_sleep_ms=0"})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("claude: %v\n%s\n%s", err, out, stderr.Bytes())
	}
	var r agentRun
	if err := json.Unmarshal(out, &r); err != nil {
		p.t.Fatalf("claude wrote no JSON: %v\n%s", err, out)
	}
	return r
}

// bashStep is a step in which the model runs a command.
func bashStep(command string) fake.Step {
	return fake.Step{ToolUses: []fake.ToolUse{{Name: "Bash", Input: map[string]any{"command": command, "description": "does it"}}}}
}

// TestClaudeHook runs the real Claude Code with our hook: what is denied does not run, what is allowed does, without anybody having
// allowed it in its own settings.
func TestClaudeHook(t *testing.T) {
	claude(t)
	if !withoutNetwork(t) {
		return
	}
	t.Run("daemon", func(t *testing.T) {
		p := newProject(t, hookWorld())
		p.serve()
		hookedBash(p)
		hookedAsk(p)
		hookedGateway(p)
	})
	t.Run("files", func(t *testing.T) { hookedBash(newProject(t, hookWorld())) })
	t.Run("outside", func(t *testing.T) { hookedOutside(newProject(t, nil)) })
}

// hookedOutside: in a folder that belongs to no project the user's rules hold, and Claude Code's own permissions where they say nothing.
func hookedOutside(p *project) {
	t := p.t
	dir := filepath.Join(p.home, "plain")
	for path, text := range map[string]string{
		filepath.Join(dir, "notes.md"): "Remember the milk.\n",
		filepath.Join(p.home, ".config", "mycelium", "rules.yaml"): "version: 1\nrules:\n" +
			"  - {name: no-b, action: deny, tool: Bash, args: {command: ['touch b.txt']}, reason: b is not made here}\n" +
			"  - {name: a, action: allow, tool: Bash, args: {command: ['touch a.txt']}}\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p.must("trust", "--yes")
	s := fake.New(bashStep("touch a.txt"), bashStep("touch b.txt"), bashStep("touch c.txt"),
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(dir, "notes.md")}}}},
		fake.Step{Text: "done"})
	defer s.Close()
	if got := p.hookedIn(dir, "", s, nil, "Bash,Read"); got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	if len(turns) != 5 {
		t.Fatalf("%d turns", len(turns))
	}
	for i, want := range map[int]string{1: "[error=false]", 2: "b is not made here", 3: "[error=true]", 4: "Remember the milk."} {
		if got := results(turns[i]); !strings.Contains(got, want) {
			t.Errorf("turn %d: the model reads %q, want %q", i, got, want)
		}
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(made) != 1 || filepath.Base(made[0]) != "a.txt" {
		t.Errorf("made: %q %v", made, err)
	}
	if got := p.must("audit", "query", "--outside"); strings.Count(got, " agent ") != 2 || !strings.Contains(got, "b is not made here") {
		t.Errorf("the log says\n%s", got)
	}
	p.must("audit", "verify", "--outside")
}

func hookedBash(p *project) {
	t := p.t
	s := fake.New(bashStep("touch a.txt"), bashStep("touch b.txt"),
		fake.Step{ToolUses: []fake.ToolUse{{Name: "Read", Input: map[string]any{"file_path": filepath.Join(p.dir, "notes.md")}}}},
		fake.Step{Text: "done"})
	defer s.Close()
	if got := p.hooked(s, nil, "Bash,Read"); got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	turns := s.Turns()
	if len(turns) != 4 {
		t.Fatalf("%d turns", len(turns))
	}
	for i, want := range map[int]string{1: "[error=false]", 2: "b is not made here", 3: "Unknown tool: agent__Read"} {
		if got := results(turns[i]); !strings.Contains(got, want) {
			t.Errorf("turn %d: the model reads %q, want %q", i, got, want)
		}
	}
	if !exists(p, "a.txt") || exists(p, "b.txt") {
		t.Errorf("a.txt: %t, b.txt: %t", exists(p, "a.txt"), exists(p, "b.txt"))
	}
	if got := p.must("audit", "denials"); !strings.Contains(got, "b is not made here") {
		t.Errorf("the denial is not on record: %s", got)
	}
	p.must("audit", "verify")
}

func exists(p *project, name string) bool {
	found, err := filepath.Glob(filepath.Join(p.dir, name))
	return err == nil && len(found) == 1
}

// hookedAsk: a command that is asked about waits, and runs once it is approved.
func hookedAsk(p *project) {
	t := p.t
	s := fake.New(bashStep("touch c.txt"), fake.Step{Text: "done"})
	defer s.Close()
	ended := make(chan agentRun, 1)
	go func() { ended <- p.hooked(s, nil, "Bash") }()
	var id string
	p.eventually("a request waits", func() bool {
		var waiting []struct {
			ID string `json:"id"`
		}
		p.decode(&waiting, "approvals", "list")
		if len(waiting) == 1 {
			id = waiting[0].ID
		}
		return id != ""
	})
	if exists(p, "c.txt") {
		t.Error("it ran beside its question")
	}
	p.must("approvals", "approve", id, "--sure")
	if got := <-ended; got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	if !exists(p, "c.txt") {
		t.Error("it did not run after it was approved")
	}
}

// hookedGateway: the tools of our own gateway are allowed by the hook, and decided by the gateway; those of another server of that kind
// are not known.
func hookedGateway(p *project) {
	t := p.t
	s := fake.New(use("files__write_file", agentFile), use("files__read_file", map[string]any{"path": "by-claude.txt"}),
		fake.Step{Text: "done"})
	defer s.Close()
	if got := p.hooked(s, p.gateway(), ""); got.IsError || got.Result != "done" {
		t.Errorf("Claude Code says %+v", got)
	}
	if p.read("by-claude.txt") != "written by the agent\n" {
		t.Error("the gateway's tool did not run")
	}
}
