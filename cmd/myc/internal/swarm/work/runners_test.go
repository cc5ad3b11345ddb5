package work

import (
	"context"
	"errors"
	"testing"

	"mycelium/internal/agent"
	"mycelium/internal/swarm/runner"
)

// TestUnaskedHookEndsTheWorker: a program that runs a tool without its hook is stopped at that call.
func TestUnaskedHookEndsTheWorker(t *testing.T) {
	const call = `"item":{"id":"1","type":"command_execution","command":"ls","status":"completed"}}`
	for _, asked := range []int64{0, 1, 2} {
		dialect, _ := runner.Named(runner.Codex)
		calls, stopped := int64(0), false
		p := &proved{Turns: &runner.Turns{Dialect: dialect, Start: func(ctx context.Context, _ []string, _ string, line func([]byte)) error {
			for range 2 {
				line([]byte(`{"type":"item.started",` + call))
				calls = min(calls+1, asked)
				line([]byte(`{"type":"item.completed",` + call))
			}
			stopped = ctx.Err() != nil
			line([]byte(`{"type":"turn.completed"}`))
			return nil
		}}, title: "Codex 9", decided: func() int64 { return calls }}
		turn, err := p.Say(t.Context(), "go", func(agent.Event) {})
		if want := asked < 2; stopped != want || errors.Is(err, errUnhooked) != want || (turn.Stop == agent.StopEnd) == want {
			t.Errorf("%d of 2 calls: %+v, %v, stopped %t", asked, turn, err, stopped)
		}
	}
}
