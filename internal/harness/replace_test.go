package harness

import (
	"strings"
	"testing"
)

// TestReplacedInput: an agent is given its own arguments with another command. Where it has no command to replace, the call is denied.
func TestReplacedInput(t *testing.T) {
	for _, tt := range []struct{ agent, event, want string }{
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","timeout":7}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ours","timeout":7}}}`},
		{"codex", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ours"}}}`},
		// What it is not given it forgets, so the folder has to be there.
		{"gemini", `{"hook_event_name":"BeforeTool","cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"ls","dir_path":"sub",` +
			`"is_background":true}}`, `{"decision":"allow","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"ours",` +
			`"dir_path":"sub","is_background":true}}}`},
		{"codex", `{"hook_event_name":"PreToolUse","tool_name":"exec_command","tool_input":{"cmd":"ls"}}`, `"permissionDecision":"deny"`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"glob","tool_input":{"pattern":"*"}}`, `"decision":"deny"`},
	} {
		e, err := Read(tt.agent, "", []byte(tt.event))
		if err != nil {
			t.Fatalf("%s: %v", tt.event, err)
		}
		out, _, exit := Write(e, Answer{Verdict: Allow, Command: "ours"})
		got := strings.TrimSpace(string(out))
		if exit != 0 || got != tt.want && (!strings.Contains(tt.want, "deny") || !strings.Contains(got, tt.want)) {
			t.Errorf("%s: exit %d, %s, want %s", tt.agent, exit, got, tt.want)
		}
	}
}
