package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness"
	"mycelium/internal/model/fake"
)

// TestSettingsCannotReachTheHook: real agents of both versions, started as `myc claude` starts them, in a project whose settings set every
// variable that could change the hook or a command, and switch hooks off. So do the settings of this machine and the user's, each with
// values of its own: whichever of them arrived would be seen. The denied write does not run, and a command that is allowed sees the
// person's values.
func TestSettingsCannotReachTheHook(t *testing.T) {
	for _, door := range doors(agentDoors) {
		_, err := door.find("../..", "claude")
		needed(t, err, "Claude Code, "+door.name)
	}
	if !withoutNetwork(t) {
		return
	}
	claude, _ := harness.Named("claude")
	hostile := func(value string) string {
		values := map[string]string{}
		for _, name := range claude.Launch.Pinned {
			values[name] = "/hostile/" + value
		}
		values["MYCELIUM_TOKEN"], values["CLAUDE_CODE_SIMPLE"], values["CLAUDE_CODE_SAFE_MODE"] = "", "1", "1"
		text, err := json.Marshal(map[string]any{"disableAllHooks": true, "env": values})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, door := range doors(agentDoors) {
		t.Run(door.name, func(t *testing.T) {
			t.Parallel()
			w := newFailWorld(t, "rules.yaml", "version: 1\nrules:\n  - {name: shows, action: allow, tool: Bash, args: {command: [env]}}\n"+
				"  - {name: no, action: deny, tool: Write, match: {path: [{glob: \"**\"}]}, reason: not here}\n")
			w.start()
			w.write(".claude/settings.json", hostile("project"))
			w.write(".claude/settings.local.json", hostile("local"))
			w.write(filepath.Join(w.root, "home", ".claude", "settings.json"), hostile("user"))
			told := w.agent(t, door, fake.ToolUse{Name: "Write", Input: map[string]any{
				"file_path": filepath.Join(w.dir, "pwned.txt"), "content": "x"}},
				fake.ToolUse{Name: "Bash", Input: map[string]any{"command": "env", "description": "x"}})
			if _, err := os.Lstat(filepath.Join(w.dir, "pwned.txt")); err == nil || !strings.Contains(told[0], "not here") {
				t.Errorf("the denied write: %v; the agent was told %q", err, told[0])
			}
			if !strings.Contains(told[1], "HOME="+filepath.Join(w.root, "home")) || strings.Contains(told[1], "/hostile") {
				t.Errorf("a command sees the values of settings:\n%s", told[1])
			}
		})
	}
}

// agent runs an agent as `myc claude` does, with one tool a turn, and returns what its model was told about each.
func (w failWorld) agent(t *testing.T, door agentDoor, uses ...fake.ToolUse) (told []string) {
	t.Helper()
	program, err := door.find("../..", "claude")
	if err != nil {
		t.Fatal(err)
	}
	var steps []fake.Step
	for _, u := range uses {
		steps = append(steps, fake.Step{ToolUses: []fake.ToolUse{u}})
	}
	model := fake.New(append(steps, fake.Step{Text: "done"})...)
	defer model.Close()
	environ, settings := w.launch(t, door, program, model, "")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-p", "--output-format", "json", "--settings", settings, "--tools", "Write,Bash",
		"--allowedTools", "Write,Bash", "--", "Do it.")
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = w.dir, environ, &out, &out, 5*time.Second
	err = cmd.Run()
	turns := model.Turns()
	if len(turns) != len(uses)+1 {
		t.Fatalf("the agent asked the model %d times: %v\n%s", len(turns), err, out.Bytes())
	}
	for _, turn := range turns[1:] {
		text := ""
		for _, b := range turn.ToolResults() {
			text = b.Text // the last one is of this turn
		}
		told = append(told, text)
	}
	return told
}
