package gate

import (
	"context"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// TestLackedAsks: what a rule allows in a sandbox is a question where the call lacked something there. The answer gives it, or not; where
// nobody can be asked, the refusal says what for.
func TestLackedAsks(t *testing.T) {
	p := three()
	p.rules = []policy.Rule{{Name: "boxed", Action: "allow", Tool: policy.Names{"*"}, Sandbox: box.Of("project")}}
	h := buildAsking(t, p, approval.Options{})
	s := h.enter("guest")
	lacked := approval.Lacked{Profile: "project", ExitCode: 7, Things: []approval.Lack{{Need: approval.NeedHost, Name: "a.example:443"}}}
	r := request("files__read_file", `{}`)
	r.Unbound = func(context.Context, policy.Effect) string { return "" }
	r.Lacked = func() approval.Lacked { return lacked }
	admit := func(answer approval.Answer) (*Admission, error) {
		t.Helper()
		type admitted struct {
			a   *Admission
			err error
		}
		done := make(chan admitted, 1)
		go func() {
			a, err := h.Admit(t.Context(), s, r)
			done <- admitted{a, err}
		}()
		q := h.waits()
		if q.Lacked.String() != "host a.example:443" || q.Risk != policy.Critical || !strings.Contains(q.Reason, "a.example:443") {
			t.Errorf("people see %+v", q)
		}
		h.answer(q.ID, answer)
		got := <-done
		return got.a, got.err
	}
	a, err := admit(approval.Answer{Allow: true, For: approval.Once})
	if err != nil {
		t.Fatal(err)
	}
	if more, answer := a.Lacked(); more.String() != lacked.String() || answer != approval.Once || !a.Sandbox().Same(box.Of("project")) {
		t.Errorf("it gets %q for %q in %q", more, answer, a.Sandbox())
	}
	_, err = admit(approval.Answer{For: approval.Never})
	if d := denied(t, err); d.Settled != approval.Never || d.Lacked == nil {
		t.Errorf("refused as %+v", d)
	}
	h.asks, h.reach = nil, nobodyReached
	r.Asks = approval.AskReached
	_, err = h.Admit(t.Context(), s, r)
	if d := denied(t, err); !strings.Contains(d.Error(), "a.example:443") || d.Settled != approval.Once || d.AtTerminal {
		t.Errorf("where nobody can be asked: %+v", d)
	}
	r.Terminal = true
	_, err = h.Admit(t.Context(), s, r)
	if d := denied(t, err); !d.AtTerminal || !strings.Contains(d.Error(), "exit code 7") || d.Lacked.String() != lacked.String() {
		t.Errorf("at the terminal: %+v", d)
	}
	for name, other := range map[string]approval.Lacked{"nothing": {}, "another sandbox": {Profile: "strict", Things: lacked.Things}} {
		lacked = other
		if a, err := h.Admit(t.Context(), s, r); err != nil || h.last(audit.Decided)["effect"] != "allow" {
			t.Errorf("%s: %v", name, err)
		} else if more, _ := a.Lacked(); more.Any() {
			t.Errorf("%s: it gets %s", name, more)
		}
	}
}
