package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"mycelium/internal/model/fake"
	"mycelium/internal/node/ungoverned"
)

// TestUngovernedIsProved: what real agents of both versions do under the hook is no reason for an alarm: commands that are allowed, denied
// or fail, tools that do not exist, calls of our gateway, and subagents. When a project's setting switches the hook off, the first call
// that no hook decided is told: in status, in a record, and in a notice. Who installs the hook again ends the warning.
func TestUngovernedIsProved(t *testing.T) {
	for _, door := range doors(agentDoors[:2]) {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withoutNetwork(t) {
		return
	}
	for _, door := range doors(agentDoors[:2]) {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, familyWorld())
			p.serve()
			p.must("hook", "install", "claude", "--user", "--unsafe-program")
			program, err := door.find("../..", "claude")
			if err != nil {
				t.Fatal(err)
			}
			bash := func(id, command string) fake.ToolUse {
				return fake.ToolUse{ID: "toolu_" + id, Name: "Bash", Input: map[string]any{"command": command, "description": "x"}}
			}
			script := []fake.ToolUse{bash("1", "echo here"), bash("2", "curl http://127.0.0.1:1"), bash("3", "echo no; false"),
				{ID: "toolu_4", Name: "NoSuchTool", Input: map[string]any{}},
				{ID: "toolu_5", Name: prefix + "files__read_file", Input: map[string]any{"path": "notes.md"}},
				{ID: "toolu_6", Name: "Task", Input: map[string]any{"description": "x", "prompt": "I am the child.",
					"subagent_type": "general-purpose"}},
				bash("7", "echo again")}
			child := bash("child", "echo child")
			p.plays(program, script, child)
			// Every result is read, and every decision is found.
			p.eventually("the transcripts are read", func() bool { return p.watched("toolu_7", "toolu_child") })
			if found := ungoverned.Found(p.state(), []string{"HOME=" + p.home}); len(found) > 0 {
				t.Errorf("under the hook: %v", found)
			}
			p.must("hook", "status")

			p.write(".claude/settings.json", `{"disableAllHooks": true}`)
			p.plays(program, []fake.ToolUse{bash("loose", "touch loose.txt")}, child)
			if !exists(p, "loose.txt") {
				t.Fatal("the hook is not switched off")
			}
			p.eventually("status tells of it", func() bool {
				said := strings.Join(p.status().Hooks, "\n")
				return strings.Contains(said, "this session is not governed") && strings.Contains(said, "toolu_loose")
			})
			log, err := os.ReadFile(filepath.Join(p.state().Folder(), "audit", "00000001.jsonl"))
			if err != nil || strings.Count(string(log), "this session is not governed") != 1 {
				t.Errorf("the record: %v\n%s", err, log)
			}
			out, _, err := p.run("hook", "status")
			if err == nil || !strings.Contains(out, "✗ Claude Code ran Bash and no hook was asked") {
				t.Errorf("hook status: %v\n%s", err, out)
			}
			if err := os.Remove(filepath.Join(p.dir, ".claude", "settings.json")); err != nil {
				t.Fatal(err)
			}
			p.must("hook", "install", "claude", "--user", "--unsafe-program")
			if out := p.must("hook", "status"); strings.Contains(out, "no hook was asked") {
				t.Errorf("after it was mended: %s", out)
			}
			p.must("hook", "uninstall", "claude", "--user")
		})
	}
}

// plays runs a Claude Code as a person starts it, whose model uses one tool a turn; a subagent uses one.
func (p *project) plays(program string, script []fake.ToolUse, child fake.ToolUse) {
	p.t.Helper()
	s := fake.New(slices.Repeat([]fake.Step{{Func: func(r fake.Request) fake.Step {
		switch sub := strings.Contains(r.Text("user"), "I am the child."); {
		case sub && r.Step == 0:
			return fake.Step{ToolUses: []fake.ToolUse{child}}
		case !sub && r.Step < len(script):
			return fake.Step{ToolUses: []fake.ToolUse{script[r.Step]}}
		}
		return fake.Step{Text: "done"}
	}}}, 2*len(script)+8)...)
	defer s.Close()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"mycelium": p.gateway()}}, json.Deterministic(true))
	if err != nil {
		p.t.Fatal(err)
	}
	cmd := exec.CommandContext(p.ctx, program, "-p", "--output-format", "json", "--strict-mcp-config", "--mcp-config", string(config),
		"--allowedTools", "mcp__mycelium,Bash,Task", "--", "Do what the script says.")
	cmd.Dir, cmd.Env = p.dir, p.agentEnv("claude", s)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("claude: %v\n%s", err, out)
	}
}

// watched reports whether the daemon has read the results of calls in transcripts, and found the decisions of all.
func (p *project) watched(ids ...string) bool {
	var notes struct {
		Offsets map[string]int64 `json:"offsets"`
		Open    []struct {
			Ran bool `json:"ran"`
		} `json:"open"`
	}
	text, err := os.ReadFile(p.state().Transcripts())
	if err != nil || json.Unmarshal(text, &notes) != nil {
		return false
	}
	var read strings.Builder
	for path, offset := range notes.Offsets {
		b, err := os.ReadFile(path)
		if err != nil || offset > int64(len(b)) {
			return false
		}
		read.Write(b[:offset])
	}
	for _, id := range ids {
		if !strings.Contains(read.String(), `"tool_use_id":"`+id+`"`) {
			return false
		}
	}
	return !slices.ContainsFunc(notes.Open, func(o struct {
		Ran bool `json:"ran"`
	}) bool {
		return o.Ran
	})
}
