package main

import (
	"mycelium/internal/gate"
	"mycelium/internal/hook"
)

// openHooks makes the host of the agents' hooks.
func (n *node) openHooks() {
	n.openLimits()
	n.hooks = hook.NewHost(hook.HostOptions{
		Gate: n.gate, Spec: n.hookSpec, Logger: n.logger, Ask: n.asks.Ask, Mode: n.askMode, Chat: n.hasChat, Bell: n.ring, Reachable: n.reachable,
		Bounds: hook.Bounds{Budget: n.budget, Denials: n.denials, Tell: n.chats.board.Post},
	})
}

// hookSpec is the session of an agent whose hook brings no token: the default principal's, as that of a bare stdio client.
func (n *node) hookSpec() gate.Spec {
	conf := n.current().project.File.Session
	return gate.Spec{Principal: localPrincipal, Role: conf.DefaultRole, Roles: conf.Roles}
}

// reachable reports whether somebody would see a request and could answer it: a terminal shows the queue, or there is a chat. Whoever is
// merely told that something waits does not count.
func (n *node) reachable() bool { return n.lookers.Load() > 0 || n.hasChat() }
