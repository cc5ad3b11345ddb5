package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
)

// People are notified when an agent's session starts, when it ends, with its last message, and when it waits at its own terminal (E22).
func TestNoticesOfARun(t *testing.T) {
	var people told
	p := coder()
	p.people.tell = people.tell
	p.people.mode = func() approval.Mode { return approval.Local }
	h := build(t, p)
	h.send(harness.Event{Kind: harness.SessionStart, Reason: "startup"})
	h.send(harness.Event{Kind: harness.SessionStart, Reason: "compact"}) // the same run continues
	h.send(harness.Event{Kind: harness.Stop, Text: "All tests pass. " + strings.Repeat("長", 400)})
	h.send(harness.Event{Kind: harness.SessionEnd, Reason: "exit"})
	h.send(harness.Event{Kind: harness.SessionStart, Reason: "startup"})
	h.send(harness.Event{Kind: harness.Stop, Text: "The build failed and I am out of ideas.", StopHookActive: true})
	h.send(harness.Event{Kind: harness.SessionEnd})
	h.send(harness.Event{Kind: harness.PreTool, Tool: "agent__Edit",
		Input: jsontext.Value(`{"file_path":"x","old_string":"a","new_string":"b"}`), ToolUse: "1", Interactive: true})
	if err := h.Abort(h.Sessions()[0].ID, ""); err != nil {
		t.Fatal(err)
	}
	h.send(harness.Event{Kind: harness.SessionEnd}) // there was a notice before
	want := []approval.NoticeKind{approval.Started, approval.Completed, approval.Started, approval.Errored, approval.Waits, approval.Aborted}
	if !slices.Equal(people.kinds(), want) {
		t.Fatalf("told of %v", people.kinds())
	}
	done := people.notices[1]
	if n := len([]rune(done.Text)); n != noticeWords || !strings.HasPrefix(done.Text, "All tests pass. 長") || done.Turns != 1 ||
		done.Label == "" {
		t.Errorf("completed: %d characters, %+v", n, done)
	}
	if waits := people.notices[4].Text; !strings.Contains(waits, "agent__Edit") {
		t.Errorf("waits: %q", waits)
	}
}

// An agent whose last message is an error of its model's API is not told of as completed.
func TestAPIErrorIsNotCompleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	line := `{"type":"assistant","isApiErrorMessage":true,"message":{"role":"assistant",` +
		`"content":[{"type":"text","text":"API Error: 529 overloaded"}]}}`
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var people told
	p := coder()
	p.people.tell = people.tell
	h := build(t, p)
	h.send(harness.Event{Agent: "claude", Kind: harness.SessionStart, Reason: "startup", Transcript: path})
	h.send(harness.Event{Agent: "claude", Kind: harness.SessionEnd, Reason: "other", Transcript: path})
	if want := []approval.NoticeKind{approval.Started, approval.Errored}; !slices.Equal(people.kinds(), want) {
		t.Fatalf("told of %v", people.kinds())
	}
	if got := people.notices[1].Text; got != "API Error: 529 overloaded" {
		t.Errorf("it says %q", got)
	}
}
