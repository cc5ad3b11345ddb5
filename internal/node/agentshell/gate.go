package agentshell

import (
	"context"
	"sync"
	"time"

	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/state"
)

// Gate hands the commands that were admitted to the shells of agents. It is safe for concurrent use.
type Gate struct {
	State func() state.Paths
	Find  sandboxed.Find

	mu    sync.Mutex
	holds bool // the sandbox was built once
}

// Of is a gate for the agents of one project whose state does not move.
func Of(paths state.Paths, find sandboxed.Find) *Gate {
	return &Gate{State: func() state.Paths { return paths }, Find: find}
}

// Governs reports whether the program before an agent's shell is ours, and that of this session.
func (g *Gate) Governs(session, prefix string) bool { return prefix == Program(g.State().Run(session)) }

// Unbound says why no sandbox holds on this machine; "" if it holds. Every layer is built once to find out.
func (g *Gate) Unbound(ctx context.Context) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds {
		return ""
	}
	self, err := sandboxed.Self()
	if err != nil {
		return err.Error()
	}
	standard, _ := g.Find("standard")
	found := sandbox.Probe(ctx, self, standard.Backend)
	if g.holds = found.Holds; g.holds {
		return ""
	}
	for _, l := range found.Layers {
		if !l.Holds {
			return "the sandbox does not hold on this machine: layer " + string(l.Layer) + "; myc sandbox capabilities says why"
		}
	}
	return "the sandbox does not hold on this machine; myc sandbox capabilities says why"
}

// Admit lets the shell of a session run a command once, in a folder and in the sandbox of a profile; "" is outside.
func (g *Gate) Admit(session, toolUse, command, dir, profile string) error {
	t := Ticket{Profile: profile, Dir: dir, Until: time.Now().Add(ticketFor)}
	if box, ok := g.Find(profile); ok {
		t.Box = &box
	}
	return leave(g.State().Run(session), command, toolUse, t)
}
