package agentshell

import (
	"context"
	"fmt"
	"sync"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/config"
	"mycelium/internal/config/profiles"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/policy/box"
	"mycelium/internal/sandbox"
	"mycelium/internal/state"
)

// Gate hands the commands that were admitted to the shells of agents. It is safe for concurrent use.
type Gate struct {
	State    func() state.Paths
	Profiles func() profiles.Section // the profiles of the sandbox that there are now

	mu    sync.Mutex
	holds bool // the sandbox was built once
}

// Of is a gate for the agents of one project that does not change.
func Of(p *config.Project) *Gate {
	return &Gate{State: func() state.Paths { return p.State }, Profiles: func() profiles.Section { return p.File.Sandbox }}
}

// Governs reports whether the program before an agent's shell is ours, and that of this session.
func (g *Gate) Governs(session, prefix string) bool { return prefix == Program(g.State().Run(session)) }

// Within is the profile of the sandbox in which the shell of a session runs what no rule has in one; "" if that runs outside.
func (g *Gate) Within(session string) string {
	n, err := readNote(g.State().Run(session))
	if err != nil {
		return "" // nor does its shell run anything
	}
	return n.Within
}

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
	standard, _ := g.Profiles().Find("standard")
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

// Admit lets the shell of a session run a command once, in a folder and in a sandbox with more than that; the zero value is outside.
func (g *Gate) Admit(session, toolUse, command, dir string, in box.Box, more approval.Lacked) error {
	t, err := g.ticket(dir, in)
	if err != nil {
		return err
	}
	t.More = more
	return leave(g.State().Run(session), command, toolUse, t)
}

// ticket is a ticket for a command in a folder and in a sandbox.
func (g *Gate) ticket(dir string, in box.Box) (Ticket, error) {
	t := Ticket{Box: in, Dir: dir, Until: time.Now().Add(ticketFor)}
	if !in.None() {
		p, ok := g.Profiles().Find(in.Profile)
		if !ok || len(p.Masks) > 0 { // no rule names such a profile
			return t, fmt.Errorf("no command of an agent runs in the profile %q of the sandbox", in.Profile)
		}
		t.Walls = p.With(in.Read, in.Write, in.Hosts)
	}
	return t, nil
}

// Lacked returns what a command lacked when the shell of a session last ran it in a folder in the sandbox.
func (g *Gate) Lacked(session, command, dir string) approval.Lacked {
	return wantOf(g.State().Run(session), command, dir).find(time.Now())
}

// Settle says how the question was answered whether a command gets what it lacked.
func (g *Gate) Settle(session, command, dir string, l approval.Lacked, allowed bool, answer approval.For) error {
	return wantOf(g.State().Run(session), command, dir).settle(l, allowed, answer, time.Now())
}
