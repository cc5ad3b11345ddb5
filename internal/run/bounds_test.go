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

// told collects notices.
type told struct{ notices []approval.Notice }

func (n *told) tell(x approval.Notice) { n.notices = append(n.notices, x) }

func (n *told) kinds() (out []approval.NoticeKind) {
	for _, x := range n.notices {
		out = append(out, x.Kind)
	}
	return out
}

// An agent with many denials in a row is told to try another way, people are notified, and in the end its session ends (E25).
func TestRunThatIsRefusedAgainAndAgainEnds(t *testing.T) {
	var people told
	p := coder()
	p.opts.Denials, p.people.tell = &Denials{Limits: func() (int, int) { return 2, 4 }}, people.tell
	h := build(t, p)
	push := func(id string) harness.Answer {
		return h.send(harness.Event{Kind: harness.PreTool, Tool: "agent__Bash", Input: jsontext.Value(`{"command":"git push"}`), ToolUse: id})
	}
	if a := push("1"); a.Verdict != harness.Deny || strings.Contains(a.Reason, "different approach") {
		t.Errorf("the first: %+v", a)
	}
	if a := push("2"); a.Verdict != harness.Deny || !strings.Contains(a.Reason, "not from here") ||
		!strings.Contains(a.Reason, "Try a different approach") || a.Halt {
		t.Errorf("the second: %+v", a)
	}
	// A call that may run ends the row, and so does a prompt.
	if a := h.send(harness.Event{Kind: harness.PreTool, Tool: "agent__Read", Input: jsontext.Value(`{"file_path":"x"}`),
		ToolUse: "3"}); a.Verdict != harness.Allow {
		t.Errorf("read: %+v", a)
	}
	push("4")
	h.send(harness.Event{Kind: harness.Prompt, Text: "go on"})
	for i, id := range []string{"5", "6", "7"} {
		if a := push(id); a.Halt || (i > 0) != strings.Contains(a.Reason, "different approach") {
			t.Errorf("%d of a new row: %+v", i+1, a)
		}
	}
	if a := push("8"); !a.Halt || !strings.Contains(a.Reason, "The session ends here") {
		t.Errorf("the last: %+v", a)
	}
	if a := h.send(harness.Event{Kind: harness.PreTool, Tool: "agent__Read", Input: jsontext.Value(`{"file_path":"x"}`),
		ToolUse: "9"}); a.Verdict != harness.Deny || !a.Halt {
		t.Errorf("after the end: %+v", a)
	}
	want := []approval.NoticeKind{approval.DenialAlert, approval.DenialAlert, approval.Aborted}
	if !slices.Equal(people.kinds(), want) || !strings.Contains(people.notices[2].Text, "the session was ended; the last one: agent__Bash: "+
		"not from here") {
		t.Errorf("people: %+v", people.notices)
	}
	// Another run has its own row.
	if a := h.send(harness.Event{Kind: harness.PreTool, Session: "r2", Tool: "agent__Read", Input: jsontext.Value(`{"file_path":"x"}`),
		ToolUse: "1"}); a.Verdict != harness.Allow {
		t.Errorf("another run: %+v", a)
	}
}

// Past its budget, the next call of a run is denied and recorded, and the agent is told to stop. Before that, its person is warned (E20).
func TestRunPastItsBudgetIsRefused(t *testing.T) {
	var people told
	p := coder()
	limit := 10.0
	p.opts.Budget, p.people.tell = NewBudget(BudgetOptions{Limits: func() Limits { return Limits{Session: limit} }, Price: cents}), people.tell
	h := build(t, p)
	path := filepath.Join(h.dir, "r1.jsonl")
	read := func(id, spentNow string) harness.Answer {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(spentNow); err != nil {
			t.Fatal(err)
		}
		return h.send(harness.Event{Kind: harness.PreTool, Transcript: path, Tool: "agent__Read", Input: jsontext.Value(`{"file_path":"x"}`),
			ToolUse: id})
	}
	if a := read("1", spent("m1", 500)); a.Verdict != harness.Allow || a.Message != "" {
		t.Errorf("half of it: %+v", a)
	}
	if a := read("2", spent("m2", 300)); a.Verdict != harness.Allow || !strings.Contains(a.Message, "$8.00 of its $10.00") {
		t.Errorf("at 80 %%: %+v", a)
	}
	for _, id := range []string{"3", "4"} {
		if a := read(id, spent("m3", 200)); a.Verdict != harness.Deny || a.Halt || !strings.Contains(a.Reason, "$10.00 of $10.00. Stop here") {
			t.Errorf("past it: %+v", a)
		}
	}
	if want := []approval.NoticeKind{approval.BudgetAlert, approval.BudgetAlert}; !slices.Equal(people.kinds(), want) ||
		people.notices[1].Cost != 10 {
		t.Errorf("people: %+v", people.notices)
	}
	if s := h.Sessions(); len(s) != 1 || s[0].Cost != 10 {
		t.Errorf("sessions: %+v", s)
	}
	limit = 20
	if a := read("5", ""); a.Verdict != harness.Allow {
		t.Errorf("with a larger one: %+v", a)
	}
}
