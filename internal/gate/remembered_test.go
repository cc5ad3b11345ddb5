package gate

import (
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
)

// TestAnsweredBeforeIsNoQuestion: a call that people answered for the session before asks nobody, so the log has its decision, with its
// arguments and who decided, and no question.
func TestAnsweredBeforeIsNoQuestion(t *testing.T) {
	for _, allow := range []bool{true, false} {
		h := buildAsking(t, writesAsk(), approval.Options{})
		s := h.enter("developer")
		write := request("files__write_file", writing)
		c := h.call(t.Context(), s, write)
		h.answer(h.waits().ID, approval.Answer{Allow: allow, For: approval.Session})
		if e := ended(t, c); (e.err == nil) != allow {
			t.Fatal(e.err)
		}
		before := len(h.records(audit.Decided))
		if e := ended(t, h.call(t.Context(), s, write)); (e.err == nil) != allow {
			t.Fatalf("again: %v", e.err)
		}
		after := h.records(audit.Decided)
		last := h.last(audit.Decided)
		want := map[bool]string{true: "allow", false: "deny"}[allow]
		if len(after) != before+1 || last["effect"] != want || last["decidedBy"] != "person" || last["args"] == nil {
			t.Errorf("%d records, the last %v", len(after)-before, last)
		}
	}
}
