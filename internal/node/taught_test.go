package node

import (
	"strings"
	"testing"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/policy"
)

// TestWhatIsLearntOutlastsANode: a tool that was called after a search is found by the words of that search in the next node.
func TestWhatIsLearntOutlastsANode(t *testing.T) {
	w := newRig(t)
	ask := func(tool, args string) string {
		s, err := w.gate.Sessions.Open(t.Context(), session.Spec{Role: "guest"})
		if err != nil {
			t.Fatal(err)
		}
		var answer string
		for _, c := range [...]struct{ tool, args string }{{"mycelium-router__find_tool", `{"query":"defrobnicate the gizmo"}`}, {tool, args}} {
			it, err := policy.ParseTool(c.tool)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := w.gate.Call(t.Context(), s, gate.Request{Item: it, Asked: c.tool, Method: "tools/call", Surface: "cli",
				Args: []byte(c.args), Params: []byte(`{"name":"` + it.Name + `","arguments":` + c.args + `}`)})
			if err != nil {
				t.Fatal(c.tool, err)
			}
			if answer == "" {
				answer = string(reply.Result)
			}
		}
		return answer
	}
	if got := ask("files__read_file", `{"path":"mycelium.yaml"}`); strings.Contains(got, "files__read_file") {
		t.Fatalf("found before it was learnt: %s", got)
	}
	w.end()
	w.Node = w.open()
	w.learn(t.Context())
	if got := ask("files__read_file", `{"path":"mycelium.yaml"}`); !strings.Contains(got, "files__read_file") {
		t.Errorf("not found after the restart: %s", got)
	}
}
