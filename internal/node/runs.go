package node

import (
	"mycelium/internal/approval"
	"mycelium/internal/gate"
	"mycelium/internal/run"
)

// openRuns makes the registry of agents at work.
func (n *Node) openRuns() {
	n.openLimits()
	n.runs = run.New(run.Options{
		Gate: n.gate, Spec: func() gate.Spec { return n.View().HookSpec() }, People: people{n}, Queue: n.asks, Notices: people{n}, Budget: n.budget, Denials: n.denials, Logger: n.logger,
	})
}

// people are those who may be asked about the calls of agents and are told of their runs, as the runs see them.
type people struct{ n *Node }

func (p people) Mode() approval.Mode { return p.n.askMode() }

// Reachable reports whether somebody would see a request and could answer it: a terminal shows the queue, or there is a chat. Whoever is
// merely told that something waits does not count.
func (p people) Reachable() bool { return p.n.lookers.Load() > 0 || p.n.hasChat() }

func (p people) Chat() bool { return p.n.hasChat() }

func (p people) Post(notice approval.Notice) { p.n.chats.board.Post(notice) }

func (p people) Ring(s approval.AgentSession, on bool) { p.n.ring(s, on) }

// nobody are the people of a hook without a daemon: only the agent's own terminal can ask.
type nobody struct{}

func (nobody) Mode() approval.Mode { return approval.Local }
func (nobody) Reachable() bool     { return false }
func (nobody) Chat() bool          { return false }
