package harness

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// broken is a text that is not UTF-8, as the name of a file may be.
const broken = "the path /tmp/\xff\xfe is protected"

// FuzzWrite: whatever the event and the verdict are, the answer is one JSON object of the dialect or blocks by the exit code, and what was
// not allowed is never silence. A status line is one line.
func FuzzWrite(f *testing.F) {
	f.Add("claude", "PreToolUse", []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`), "", broken,
		false)
	f.Add("claude", "PermissionRequest", []byte(`{"hook_event_name":"PermissionRequest","tool_name":"Bash"}`), "", broken, true)
	f.Add("codex", "", []byte(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}`), "ask", broken, false)
	f.Add("gemini", "BeforeTool", []byte(`{"tool_name":"x\u0000"}`), "deny", broken, true)
	f.Add("crush", "PreToolUse", []byte("\xff"), "allow", broken, false)
	f.Add("claude", "Stop", []byte(`{}`), "pass", broken, true)
	f.Add("nobody", "", []byte(`[]`), "allow", "", false)
	f.Add("claude", "Status", []byte(`{}`), "", broken, true)
	f.Fuzz(func(t *testing.T, agent, event string, in []byte, verdict, words string, halt bool) {
		e, _ := Read(agent, event, in)
		a := Answer{Verdict: Verdict(verdict), Reason: words, Message: words, Context: words, Block: halt, Halt: halt}
		stdout, stderr, exit := Write(e, a)
		switch {
		case !utf8.Valid(stdout) || !utf8.ValidString(stderr):
			t.Fatalf("not UTF-8: %q, %q", stdout, stderr)
		case exit == Block && strings.TrimSpace(stderr) != "" && len(stdout) == 0:
			return
		case exit != 0:
			t.Fatalf("exit %d, %q, %q", exit, stdout, stderr)
		case e.Kind == Status && (strings.Count(string(stdout), "\n") != 1 || e.Name != "Status"):
			t.Fatalf("no status line: %q of %+v", stdout, e)
		case len(stdout) > 0 && e.Kind != Status && !jsontext.Value(stdout).IsValid():
			t.Fatalf("no JSON: %q", stdout)
		case e.Kind.Precedes() && a.Verdict != Allow && a.Verdict != Pass && a.Verdict != Ask && !strings.Contains(string(stdout), `"deny"`):
			t.Fatalf("%s %q: a denial is %q, %q, exit %d", e.Agent, e.Name, stdout, stderr, exit)
		}
	})
}

// TestAllowNeedsItsObject: a call of a tool that works on a file, or runs a command, is a fault if it does not say on which.
func TestAllowNeedsItsObject(t *testing.T) {
	const claude, codex = `{"hook_event_name":"PreToolUse","tool_name":"`, `{"hook_event_name":"PreToolUse","cwd":"/p","tool_name":"`
	for _, c := range []struct{ agent, event string }{
		{"claude", claude + `Write"}`}, {"claude", claude + `Write","tool_input":null}`}, {"claude", claude + `Write","tool_input":{}}`},
		{"claude", claude + `Write","tool_input":{"file_path":7}}`}, {"claude", claude + `Write","tool_input":{"file_path":["/p/a"]}}`},
		{"claude", claude + `Write","tool_input":{"file_path":""}}`}, {"claude", claude + `Write","tool_input":{"file_path":{"x":"/p/a"}}}`},
		{"claude", claude + `Edit","tool_input":{"old_string":"a"}}`}, {"claude", claude + `NotebookEdit","tool_input":{"path":"/p/a"}}`},
		{"claude", claude + `Read","tool_input":{"limit":3}}`}, {"claude", claude + `Bash","tool_input":{}}`},
		{"claude", claude + `Bash","tool_input":{"command":["ls"]}}`}, {"claude", claude + `Grep","tool_input":{"path":3}}`},
		{"codex", codex + `Bash","tool_input":{}}`}, {"codex", codex + `apply_patch","tool_input":{}}`},
		{"codex", codex + `view_image","tool_input":{"path":1}}`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"content":"x"}}`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"read_many_files","tool_input":{"include":["a",1]}}`},
		{"crush", `{"event":"PreToolUse","tool_name":"write","tool_input":{"file_path":null}}`},
	} {
		e, err := Read(c.agent, "", []byte(c.event))
		if err == nil {
			t.Errorf("%s: %s is no fault", c.agent, c.event)
		}
		if !e.Kind.Precedes() || e.Tool == "" {
			t.Errorf("%s: %s: %+v", c.agent, c.event, e)
		}
	}
	for _, c := range []struct{ agent, event string }{
		{"claude", claude + `Grep","tool_input":{"pattern":"x"}}`}, {"claude", claude + `TodoWrite","tool_input":{"todos":[]}}`},
		{"claude", claude + `ExitPlanMode"}`}, {"claude", claude + `mcp__files__write","tool_input":{"path":7}}`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"read_many_files","tool_input":{"include":["a","b"]}}`},
		{"gemini", `{"hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{"absolute_path":"/p/a"}}`},
	} {
		if _, err := Read(c.agent, "", []byte(c.event)); err != nil {
			t.Errorf("%s: %s: %v", c.agent, c.event, err)
		}
	}
}
