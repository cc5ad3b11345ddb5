package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/credential/credentialtest"
	"mycelium/internal/harness"
)

// TestNoFormLeavesARun: events of an agent bring no secret of any form, nor half of one at a cut, into a denial, a notice, a question to
// people, a summary or the log.
func TestNoFormLeavesARun(t *testing.T) {
	p := coder()
	var notices []string
	p.people = crowd{
		mode: func() approval.Mode { return approval.Local }, tell: func(n approval.Notice) { notices = append(notices, n.Text) },
	}
	h := build(t, p)
	for _, f := range credentialtest.Samples() {
		notices = nil
		part := f.Secret[:min(len(f.Secret), 12)]
		text := "see " + f.Text + " there"
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		number := append([]byte(`{"command":1,"x":`), append(raw, '}')...)
		denied := map[string]harness.Event{
			"unknown": {Kind: harness.PreTool, Tool: "files__x " + f.Text, ToolUse: "u" + f.Form, Input: []byte(`{}`)},
			"fault":   {Kind: harness.PreTool, Tool: "agent__Bash", ToolUse: "f" + f.Form, Input: []byte(`{}`), Fault: text},
			"broken":  {Kind: harness.PreTool, Tool: "agent__Bash", ToolUse: "b" + f.Form, Input: []byte(`{"command":` + text)},
			"number":  {Kind: harness.PreTool, Tool: "agent__Bash", ToolUse: "n" + f.Form, Input: number},
		}
		for name, e := range denied {
			if a := h.send(e); a.Verdict != harness.Deny || strings.Contains(a.Reason, f.Secret) {
				t.Errorf("%s: %s: %+v", f.Form, name, a)
			}
		}
		h.send(harness.Event{Kind: harness.PostTool, Tool: "agent__Read", ToolUse: "r" + f.Form, Failed: true, Response: raw})
		for before := maxName - 30; before < maxName+110; before += 7 {
			said := strings.Repeat("x ", before/2) + f.Text + strings.Repeat(" y", stopLast/2-10)
			shown := forPeople(harness.Recent{Messages: []string{said}}, said)
			r := &run{}
			r.stopped(said)
			if strings.Contains(shown, part) || strings.Contains(r.said, part) || len(part) > 8 && strings.HasSuffix(r.said, part[:8]) {
				t.Fatalf("%s: people are shown %q and %q", f.Form, shown, r.said)
			}
		}
		h.send(harness.Event{Kind: harness.Stop, Text: text, StopHookActive: true})
		h.send(harness.Event{Kind: harness.SessionEnd})
		for _, n := range notices {
			if strings.Contains(n, f.Secret) {
				t.Errorf("%s: a notice says %s", f.Form, n)
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(h.logs.Dir, "00000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range credentialtest.Samples() {
		if strings.Contains(string(log), f.Secret) {
			at := strings.Index(string(log), f.Secret)
			t.Errorf("%s: the log has it: %s", f.Form, log[max(0, at-300):at+40])
		}
	}
}
