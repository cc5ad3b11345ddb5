package run

import (
	"context"
	"strings"

	"mycelium/internal/harness"
	"mycelium/internal/policy"
	"mycelium/internal/policy/worker"
)

// maxHeld is how often after a prompt an agent that leads a swarm is kept from ending its turn: with two minutes between its looks, forty
// minutes and more.
const maxHeld = 20

// leads says how the session of the swarm stands that a run leads, and whether its workers have something to do; "": it leads none. A run
// leads the swarm if it sees its tools, which no worker does.
func leads(ctx context.Context, g *Registry, r *run) (line string, unfinished bool) {
	if g.Swarm == nil || !r.gateSession().Shows(nil, policy.Item{Server: worker.Server, Name: "orchestrator_status"}) {
		return "", false
	}
	line, unfinished, err := g.Swarm(ctx)
	if err != nil {
		g.Logger.Warn("look at the swarm for an agent that leads it", "error", err)
	}
	return line, unfinished
}

// tellLeader tells an agent that begins of the session that it leads, and its person.
func tellLeader(ctx context.Context, g *Registry, r *run, e harness.Event, a harness.Answer) harness.Answer {
	if e.Kind != harness.SessionStart {
		return a
	}
	if line, _ := leads(ctx, g, r); line != "" {
		a.Context = strings.TrimSpace(a.Context + "\n\nA session of the swarm is open. " + line)
		a.Message = strings.TrimSpace(a.Message + "\nmycelium: " + line)
	}
	return a
}

// hold keeps an agent that leads a swarm from ending its turn while its workers have something to do. It is let go when it was kept
// maxHeld times, or when nothing has changed since it was kept last.
func hold(ctx context.Context, g *Registry, r *run, e harness.Event) (why string, held bool) {
	line, unfinished := leads(ctx, g, r)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !unfinished || r.halted != "" || r.held >= maxHeld || e.StopHookActive && line == r.heldAt {
		return "", false
	}
	r.held++
	r.heldAt = line
	return "Your swarm is not done: " + line + ". Wait two minutes, look at it with orchestrator_status, and do what it needs. If it only " +
		"waits for a person, say so and stop.", true
}
