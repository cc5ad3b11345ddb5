package harness

import (
	"strings"
	"testing"
)

// TestDisguises: an event that two programs would read differently, and an MCP server with the name of the agent, are faults and denied.
func TestDisguises(t *testing.T) {
	for _, c := range []struct{ agent, event, why string }{
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Bash","Tool_Name":"Read","tool_input":{"command":"ls"}}`, "twice"},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","Command":"rm -rf ~"}}`, "twice"},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"FILE_PATH":"/etc/passwd","file_path":"a"}}`, "twice"},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"Grep","tool_input":{"path":"a","pattern":"x","\u0050ath":"/etc"}}`, "twice"},
		{"crush", `{"event":"PreToolUse","tool_name":"bash","tool_input":{"command":"ls","COMMAND":"rm -rf ~"}}`, "twice"},
		{"crush", `{"event":"PreToolUse","tool_name":"view","tool_input":{"file_path":"a","file_Path":"/etc/passwd"}}`, "twice"},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"mcp__agent__TodoWrite","tool_input":{}}`, "own tools"},
		{"claude", `{"hook_event_name":"PreToolUse","tool_name":"mcp__plugin_x_agent__Task","tool_input":{}}`, "own tools"},
		{"crush", `{"event":"PreToolUse","tool_name":"mcp_agent_Task","tool_input":{}}`, "own tools"},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"x","tool_input":{},` +
			`"mcp_context":{"server_name":"agent","tool_name":"Task","command":"/x"}}`, "own tools"},
	} {
		e, err := Read(c.agent, "", []byte(c.event))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %s: %v, want an error about %q", c.agent, c.event, err, c.why)
		}
		if !e.Kind.Precedes() {
			t.Errorf("%s %s: taken for %s, which denies nothing", c.agent, c.event, e.Kind)
		}
	}
	if _, err := Read("claude", "",
		[]byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","description":"Command"}}`)); err != nil {
		t.Errorf("a plain event: %v", err)
	}
}
