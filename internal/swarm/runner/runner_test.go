package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"mycelium/internal/agent"
)

// play is a program that prints the lines of a file that the real one printed.
func play(text []byte, err error) (Start, *[]string) {
	var had []string
	return func(_ context.Context, args []string, in string, line func([]byte)) error {
		had = append(had, strings.Join(args, " ")+" < "+in)
		for l := range bytes.Lines(text) {
			line(l)
		}
		return err
	}, &had
}

// told is an event in words.
func told(e agent.Event) string {
	switch {
	case e.Call != nil:
		return fmt.Sprintf("call %s %s", e.Call.Tool, e.Call.Args)
	case e.Done != nil:
		return fmt.Sprintf("done %q failed=%t", e.Done.Text, e.Done.Failed)
	case e.Spent != nil:
		return fmt.Sprintf("spent in=%d out=%d", e.Spent.Usage.Input, e.Spent.Usage.Output)
	case e.Note != "":
		return "note"
	}
	return "says " + e.Text
}

// TestDialects: what the real programs printed (Codex 0.169.0, Gemini CLI 0.61.0, with a scripted model) becomes what the swarm knows, and
// the next turn goes on with the conversation.
func TestDialects(t *testing.T) {
	for name, want := range map[string]struct{ events, id, first, next string }{
		Codex: {"note|says I look.|call agent__Bash {\"command\":\"/bin/bash -lc 'echo hello'\"}|done \"hello\\n\" failed=false|" +
			"call agent__Bash {\"command\":\"/bin/bash -lc 'echo bad; exit 3'\"}|done \"bad\\n\" failed=true|says done|spent in=30 out=15",
			"01a2192b-281c-7550-a668-6cfa561f9c0c", "exec --json --skip-git-repo-check -m m - < do it",
			"exec resume 01a2192b-281c-7550-a668-6cfa561f9c0c --json --skip-git-repo-check -m m - < and that"},
		Gemini: {"says I look.|call agent__Bash {\"command\":\"echo hello\",\"description\":\"does what the script says\"}|" +
			"done \"hello\" failed=false|call agent__Bash {\"command\":\"echo bad; exit 3\",\"description\":\"does what the script says\"}|" +
			"done \"bad\" failed=false|says done|spent in=30 out=15", "5e171b2e-4a53-4686-b760-235b2356cd99",
			"--skip-trust --yolo --output-format stream-json -m m < do it",
			"--skip-trust --yolo --output-format stream-json -m m --resume 5e171b2e-4a53-4686-b760-235b2356cd99 < and that"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/" + name + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			start, had := play(text, nil)
			d, _ := Named(name)
			c := &Turns{Dialect: d, Start: start, Model: "m"}
			var events []string
			turn, err := c.Say(t.Context(), "do it", func(e agent.Event) { events = append(events, told(e)) })
			if err != nil || turn.Stop != agent.StopEnd || turn.Text != "done" || turn.Turns != 1 || c.ID != want.id ||
				strings.Join(turn.Tools, " ") != "agent__Bash" {
				t.Errorf("%+v, %v, conversation %s", turn, err, c.ID)
			}
			if got := strings.Join(events, "|"); got != want.events {
				t.Errorf("got  %s\nwant %s", got, want.events)
			}
			if _, err := c.Say(t.Context(), "and that", func(agent.Event) {}); err != nil || (*had)[0] != want.first || (*had)[1] != want.next {
				t.Errorf("%v: %q", err, *had)
			}
		})
	}
}

// TestTurnThatDoesNotEnd: a program that dies, fails, or says that it failed is no turn that ended.
func TestTurnThatDoesNotEnd(t *testing.T) {
	whole := map[string]string{
		Codex:  `{"type":"turn.completed","usage":{}}`,
		Gemini: `{"type":"result","status":"success"}`,
	}
	bad := map[string]string{
		Codex:  `{"type":"turn.failed","error":{"message":"no such model"}}`,
		Gemini: `{"type":"result","status":"error","error":{"message":"no such model"}}`,
	}
	for name := range whole {
		d, _ := Named(name)
		for what, c := range map[string]struct {
			text string
			err  error
			want string
		}{
			"whole":     {whole[name], nil, ""},
			"cut":       {"noise\n" + `{"type":"turn.sta`, nil, "ended in the middle"},
			"failed":    {bad[name], nil, "no such model"},
			"exit code": {whole[name], errors.New("exit code 42"), "exit code 42"},
		} {
			start, _ := play([]byte(c.text), c.err)
			_, err := (&Turns{Dialect: d, Start: start}).Say(t.Context(), "x", func(agent.Event) {})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// TestToolNames: tools have the names that the policy knows.
func TestToolNames(t *testing.T) {
	for native, want := range map[string]string{"run_shell_command": "agent__Bash", "replace": "agent__Edit",
		"update_topic": "agent__update_topic", "mcp_mycelium_files__read_file": "files__read_file"} {
		if got := geminiTool(native); got != want {
			t.Errorf("%s: %s", native, got)
		}
	}
	if got := gatewayTool("mycelium", "files__read_file"); got != "files__read_file" {
		t.Error(got)
	}
}
