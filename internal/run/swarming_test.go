package run

import (
	"context"
	"strings"
	"testing"

	"mycelium/internal/harness"
)

// TestLeaderOfTheSwarm: an agent that leads a session hears of it when it begins, and is kept from ending its turn while something changes
// in it; others, and no session, are not.
func TestLeaderOfTheSwarm(t *testing.T) {
	for _, leads := range []bool{true, false} {
		p := coder()
		if leads {
			p.tools = append(p.tools, "mycelium-swarm__orchestrator_status")
			p.skills = append(p.skills, grant("swarm", []string{"developer"}, "mycelium-swarm__orchestrator_status"))
		}
		h := build(t, p)
		line, unfinished := "swarm session s1 is in progress: 1 of 2 features landed", true
		h.Swarm = func(context.Context) (string, bool, error) { return line, unfinished, nil }
		begun := h.send(harness.Event{Kind: harness.SessionStart})
		if got := strings.Contains(begun.Context, line) && strings.Contains(begun.Message, line); got != leads {
			t.Errorf("leads %v, told: %+v", leads, begun)
		}
		stop := func(active, want bool) {
			t.Helper()
			a := h.send(harness.Event{Kind: harness.Stop, Text: "I wait.", StopHookActive: active})
			if a.Block != (want && leads) {
				t.Errorf("leads %v: %+v", leads, a)
			}
		}
		stop(false, true)
		stop(true, false) // nothing has changed
		line += ", more"
		stop(true, true)
		for i := range 2 * maxHeld {
			line += "."
			stop(true, i < maxHeld-2)
		}
		h.send(harness.Event{Kind: harness.Prompt, Text: "go on"})
		stop(false, true)
		unfinished = false
		stop(false, false)
	}
}
