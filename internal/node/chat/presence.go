package chat

import (
	"context"
	"fmt"
	"time"

	"mycelium/internal/approval"
)

// tmuxWithin bounds what is asked of tmux to tell terminals from panes: a server that hangs delays no call for longer.
const tmuxWithin = 2 * time.Second

// Presence says whether somebody is at the machine.
type Presence int

// The values of Presence.
const (
	Unknown   Presence = iota // no terminal tells it, or nobody looks
	AtMachine                 // somebody has typed lately
	Away                      // nobody has
)

// Presence says whether somebody has typed at a terminal of this machine within approval.idle.
func (c *Chats) Presence() Presence {
	p, _ := c.presence()
	return p
}

// presence is Presence, with the time of the last input.
func (c *Chats) presence() (Presence, time.Time) {
	idle := c.Project().File.Approval.IdleAfter()
	if idle == 0 {
		return Unknown, time.Time{}
	}
	last, known := c.terminals.Last()
	switch {
	case !known:
		return Unknown, last
	case time.Since(last) < idle:
		return AtMachine, last
	}
	return Away, last
}

// panes returns the terminals of tmux panes.
func (c *Chats) panes() (terminals []string, known bool) {
	ctx, cancel := context.WithTimeout(context.Background(), tmuxWithin)
	defer cancel()
	for _, at := range serversOf(c.Runs.Sessions(), c.Runs.Past()) {
		panes, err := at.Panes(ctx)
		if err != nil {
			continue // without a server there are no panes of it
		}
		known = true
		for _, p := range panes {
			terminals = append(terminals, p.TTY)
		}
	}
	return terminals, known
}

// Asked says the mode, and in the mode auto with a chat who is asked now and why.
func (c *Chats) Asked() string {
	mode := c.Mode()
	if mode != approval.Auto || !c.Chat() {
		return string(mode)
	}
	p, last := c.presence()
	switch {
	case p == AtMachine:
		return fmt.Sprintf("auto: somebody typed at this machine %v ago, so agents ask at their own terminals",
			time.Since(last).Truncate(time.Second))
	case p == Unknown && c.Project().File.Approval.IdleAfter() == 0:
		return "auto: approval.idle is 0, so the chat is asked"
	case p == Unknown:
		return "auto: no terminal tells whether somebody is at this machine, so the chat is asked"
	case last.IsZero():
		return "auto: nobody has a terminal open at this machine, so the chat is asked"
	}
	return fmt.Sprintf("auto: nobody has typed at this machine for %v, so the chat is asked", time.Since(last).Truncate(time.Second))
}
