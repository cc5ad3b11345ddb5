package run

import (
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
)

// line returns the status line of a run.
func (h *house) line(session string) string {
	h.t.Helper()
	before := len(h.records())
	a := h.send(harness.Event{Kind: harness.Status, Session: session})
	if got := len(h.records()) - before; got != 0 {
		h.t.Errorf("%d records of a status line", got)
	}
	if a.Verdict != harness.Pass || a.Context != "" || a.Block || a.Halt {
		h.t.Errorf("the status line comes with more: %+v", a)
	}
	return a.Message
}

// TestStatusLine: the line names the session of its own run, what waits, and nothing else. It begins no run and records nothing.
func TestStatusLine(t *testing.T) {
	p := coder()
	p.people.notices = true
	h := build(t, p)
	files := ""
	h.Waiting = func() string { return files }
	if got := h.line("r1"); got != "" {
		t.Errorf("of a run that no hook has told of: %q", got)
	}
	if got := h.Sessions(); len(got) != 0 {
		t.Errorf("it began a run: %+v", got)
	}
	h.send(harness.Event{Kind: harness.SessionStart})
	if got := h.line("r1"); got != "mycelium: developer [coding, looking]" {
		t.Errorf("%q", got)
	}
	files = "rules.yaml (changed)"
	if got := h.line("r1"); got != "mycelium: waiting for myc trust: rules.yaml (changed) · developer [coding, looking]" {
		t.Errorf("with a file that waits: %q", got)
	}
	if got := h.line("r2"); got != "mycelium: waiting for myc trust: rules.yaml (changed)" {
		t.Errorf("of another run: %q", got)
	}
	files = ""
	var during string
	stop := h.answering(func(approval.Request) approval.Answer {
		during = h.line("r1")
		return approval.Answer{Allow: true, For: approval.Once}
	})
	h.send(bash("t1", "make"))
	stop()
	if during != "mycelium: 1 call waits for an answer · developer [coding, looking]" {
		t.Errorf("while a call waits: %q", during)
	}
	stop = h.answering(func(approval.Request) approval.Answer {
		during = h.line("r1")
		return approval.Answer{Allow: true, For: approval.Once}
	})
	if _, err := h.queue.Ask(t.Context(), approval.Request{Kind: approval.Stop, Session: "r1"}); err != nil {
		t.Fatal(err)
	}
	stop()
	if during != "mycelium: developer [coding, looking]" {
		t.Errorf("while an agent waits for its next prompt: %q", during)
	}
	h.Alone = true
	if got := h.line("r1"); got != "mycelium: no daemon runs · developer [coding, looking]" {
		t.Errorf("without a daemon: %q", got)
	}
	h.Alone = false
	for want, wall := range map[string][2]string{
		"":                                 {},
		" · no light wall":                 {"", "it is off"},
		" · the light wall has a hole: /x": {"/x", ""},
		" · no light wall, and for myc trust: /x was changed": {"/x was changed", "it is off"},
	} {
		h.Wall = func(string) (lost, none string) { return wall[0], wall[1] }
		if got := h.line("r1"); got != "mycelium: developer [coding, looking]"+want {
			t.Errorf("with the wall %q: %q", wall, got)
		}
	}
}
