package gate

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"mycelium/internal/audit"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// TestSandboxedCall: what a rule allows in a sandbox runs only where the call can be bound to one. Elsewhere it is a question, and where
// nobody can be asked, a refusal that says why.
func TestSandboxedCall(t *testing.T) {
	p := three()
	p.rules = []policy.Rule{{Name: "boxed", Action: "allow", Tool: policy.Names{"*"},
		Sandbox: box.Box{Profile: "project", Hosts: []string{"a.example"}}}}
	h := build(t, p)
	s := h.enter("guest")
	r := request("files__read_file", `{}`)
	if _, err := h.Call(t.Context(), s, r); !strings.Contains(denied(t, err).Decision.Reason, "myc claude") {
		t.Errorf("refused as %v", err)
	}
	for why, ok := range map[string]bool{"": true, "layer mount": false} {
		r.Unbound = func(context.Context, policy.Effect) string { return why }
		a, err := h.Admit(t.Context(), s, r)
		if !ok {
			if d := denied(t, err).Decision; !strings.Contains(d.Reason, why) || !d.Sandbox.None() {
				t.Errorf("refused as %+v", d)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		last := h.last(audit.Decided)
		if !reflect.DeepEqual(a.Sandbox(), p.rules[0].Sandbox) || last["sandbox"] != "project" || last["granted"] != "hosts a.example" {
			t.Errorf("admitted in %q, recorded as %v", a.Sandbox(), last)
		}
	}
}
