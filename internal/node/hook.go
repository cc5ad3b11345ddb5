package node

import (
	"mycelium/internal/gate"
	"mycelium/internal/hook"
)

// openHooks makes the host of the agents' hooks.
func (n *Node) openHooks() {
	n.openLimits()
	n.hooks = hook.NewHost(hook.HostOptions{
		Gate: n.gate, Spec: n.hookSpec, Logger: n.logger, Ask: n.asks.Ask, Mode: n.askMode, Chat: n.hasChat, Bell: n.ring, Reachable: n.reachable,
		Bounds: hook.Bounds{Budget: n.budget, Denials: n.denials, Tell: n.chats.board.Post},
	})
}

// hookSpec is that of the view in force.
func (n *Node) hookSpec() gate.Spec {
	return n.View().HookSpec()
}

// reachable reports whether somebody would see a request and could answer it: a terminal shows the queue, or there is a chat. Whoever is
// merely told that something waits does not count.
func (n *Node) reachable() bool { return n.lookers.Load() > 0 || n.hasChat() }
