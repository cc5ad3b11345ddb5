package harness

import (
	"bytes"
	"strings"
	"testing"

	"mycelium/internal/text"
)

// statusInput is what Claude Code gives the command of its status line (2.1.197 and 2.1.330, measured; paths shortened). It names no
// event.
const statusInput = `{"session_id":"9b1d","transcript_path":"/home/u/.claude/projects/p/9b1d.jsonl","cwd":"/p",` +
	`"effort":{"level":"medium"},"model":{"id":"claude-opus-5-5","display_name":"Opus 5.5"},` +
	`"workspace":{"current_dir":"/p","project_dir":"/p","added_dirs":[]},"version":"2.1.330",` +
	`"output_style":{"name":"default"},"cost":{"total_cost_usd":0,"total_duration_ms":2489,` +
	`"total_api_duration_ms":0,"total_lines_added":0,"total_lines_removed":0},"context_window":{"total_input_tokens":0,` +
	`"total_output_tokens":0,"context_window_size":1000000,"current_usage":null,"used_percentage":null,"remaining_percentage":null},` +
	`"exceeds_200k_tokens":false,"fast_mode":false,"thinking":{"enabled":true}}`

// TestStatusLineIsNoHook: only the entry for the status line gets one. Input that names itself so before a tool is denied, and input of
// another event at that entry is not answered as it.
func TestStatusLineIsNoHook(t *testing.T) {
	named := func(event string) string { return `{"hook_event_name":"` + event + `",` + statusInput[1:] }
	for _, c := range []struct {
		agent, entry, in string
		want             Kind
		denied           bool
	}{
		{"claude", "Status", statusInput, Status, false},
		{"claude", "Status", named("Status"), Status, false},
		{"claude", "Status", named("PreToolUse"), PreTool, true},
		{"claude", "PreToolUse", named("Status"), PreTool, true},
		{"claude", "PermissionRequest", named("Status"), Permission, true},
		{"claude", "", named("Status"), "", true},
		{"claude", "", statusInput, "", true},
		{"codex", "Status", statusInput, "", true},
	} {
		e, err := Read(c.agent, c.entry, []byte(c.in))
		if e.Kind != c.want || (err != nil) != c.denied || e.Kind.Precedes() != c.denied {
			t.Errorf("%s %q with %.40s: %q, %v", c.agent, c.entry, c.in, e.Kind, err)
		}
		if !c.denied && (e.Session != "9b1d" || e.Dir != "/p") {
			t.Errorf("%+v", e)
		}
	}
}

// TestStatusLineIsOneLine: whatever the answer is, the status line is one line that a terminal may show, and the exit code is 0.
func TestStatusLineIsOneLine(t *testing.T) {
	for _, message := range []string{"", "mycelium: developer [common]", "a\nb\r\n\x1b[2J\u202ec", broken, strings.Repeat("設", 500)} {
		for _, a := range answers {
			a.Message = message
			stdout, stderr, exit := Write(Event{Agent: "claude", Kind: Status}, a.Answer)
			line, ended := bytes.CutSuffix(stdout, []byte("\n"))
			if !ended || bytes.ContainsAny(line, "\n\r\x1b") || text.HasHidden(string(line)) || text.Width(string(line)) > maxStatus ||
				stderr != "" || exit != 0 {
				t.Errorf("%q, %s: %q %q %d", message, a.name, stdout, stderr, exit)
			}
		}
	}
}

// TestStatusLineSetting: the command is a line for a shell, with every word quoted that needs it.
func TestStatusLineSetting(t *testing.T) {
	r := Runs{Program: "/a b/myc-hook", Args: []string{"claude", "-C", "/it's $HOME", "--event", "Status"}}
	const command = `{"type":"command","command":"'/a b/myc-hook' claude -C '/it'\\''s $HOME' --event Status"`
	for every, want := range map[int]string{0: command + `}`, 5: command + `,"refreshInterval":5}`} {
		if got := string(claude.Status(r, every)); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
