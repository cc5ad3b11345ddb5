package run

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
)

// TestOwnModeChosenAtAQuestion: a person who answers a question of ours with "allow all edits" is told that this answers nothing here, and
// which rule means the same. The log and the status line name the mode. The next edit asks again.
func TestOwnModeChosenAtAQuestion(t *testing.T) {
	p := coder()
	p.rules = append(p.rules, policy.Rule{Name: "ask-m", Action: "ask", Tool: policy.Names{"agent__Edit"},
		Args: map[string]policy.Values{"file_path": {{Literal: new("m.txt")}}}})
	h := build(t, p)
	edit := func(id, path, before, after string) string {
		t.Helper()
		e := harness.Event{Kind: harness.PreTool, Tool: "agent__Edit", ToolUse: id, Interactive: true, Mode: before,
			Input: jsontext.Value(`{"file_path":"` + path + `","old_string":"a","new_string":"b"}`)}
		if a := h.send(e); a.Verdict != harness.Ask {
			t.Fatalf("%s: %+v", id, a)
		}
		e.Kind, e.Mode = harness.PostTool, after
		return h.send(e).Message
	}
	if got := edit("e1", "a.txt", "default", "default"); got != "" {
		t.Errorf("no mode was chosen: %q", got)
	}
	if got := h.line("r1"); strings.Contains(got, "own mode") {
		t.Errorf("the status line is %q", got)
	}
	got := edit("e2", "b.txt", "default", "acceptEdits")
	if !strings.Contains(got, "its own mode acceptEdits now. That answers nothing for Mycelium") ||
		!strings.Contains(got, `action: allow, tool: "Write|Edit|MultiEdit", match: {path: [{glob: "`+h.dir+`/**"}]}}`) {
		t.Errorf("the person is told %q", got)
	}
	if got := h.line("r1"); !strings.HasSuffix(got, " · own mode: acceptEdits") {
		t.Errorf("the status line is %q", got)
	}
	if got := h.line("r2"); strings.Contains(got, "own mode") {
		t.Errorf("the status line of another run is %q", got)
	}
	if got := edit("e3", "c.txt", "acceptEdits", "acceptEdits"); got != "" {
		t.Errorf("it is told again: %q", got)
	}
	if got := edit("e4", "m.txt", "default", "acceptEdits"); !strings.Contains(got, "The rule that asked is ask-m") {
		t.Errorf("of a rule that asks the person is told %q", got)
	}
	why := map[string]string{}
	for _, r := range h.records() {
		if r.DecidedBy == "person" {
			why[r.ToolUse] = r.Reason
		}
	}
	if !strings.Contains(why["e2"], "who also chose the agent's own mode acceptEdits, which answers no other call") ||
		strings.Contains(why["e1"]+why["e3"], "mode") {
		t.Errorf("the log says %v", why)
	}
	if list, _ := h.queue.List(t.Context()); len(list) != 0 || h.People.Mode() != approval.Auto {
		t.Errorf("somebody else was asked: %v", list)
	}
}
