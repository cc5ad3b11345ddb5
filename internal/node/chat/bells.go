package chat

import (
	"context"

	"mycelium/internal/approval"
	"mycelium/internal/tmux"
)

// bell is a mark on the tmux window of an agent, to be set or cleared.
type bell struct {
	session approval.AgentSession
	on      bool
}

// Ring marks the window of an agent that waits, or clears the mark. It does not wait for tmux.
func (c *Chats) Ring(s approval.AgentSession, on bool) {
	if bells := c.Project().File.Approval.Notify.Bell; s.Pane == "" || bells != nil && !*bells {
		return
	}
	select {
	case c.bells <- bell{s, on}:
	default: // tmux hangs; an agent that waits is in the lists all the same
	}
}

// RunBells sets and clears the marks until ctx is done.
func (c *Chats) RunBells(ctx context.Context) error {
	for {
		var b bell
		select {
		case <-ctx.Done():
			return nil
		case b = <-c.bells:
		}
		at, act := tmux.At(b.session.Tmux), tmux.Server.Clear
		if b.on {
			act = tmux.Server.Mark
		}
		if err := act(at, ctx, b.session.Pane); err != nil && ctx.Err() == nil {
			c.Logger.Debug("the window of an agent could not be marked", "pane", b.session.Pane, "error", err)
		}
	}
}

// RingForRequests rings for the calls that wait in the queue until ctx is done. When an agent's own terminal asks, its hook rings.
func (c *Chats) RingForRequests(ctx context.Context) error {
	waiting := map[string]map[string]bool{} // pane → requests
	c.Queue.Observe(ctx, func(r approval.Request) {
		if r.Pane == "" {
			return
		}
		before := len(waiting[r.Pane])
		switch {
		case r.State != approval.Pending:
			delete(waiting[r.Pane], r.ID)
		case waiting[r.Pane] == nil:
			waiting[r.Pane] = map[string]bool{r.ID: true}
		default:
			waiting[r.Pane][r.ID] = true
		}
		if now := len(waiting[r.Pane]); (now > 0) != (before > 0) {
			c.ringPane(r, now > 0)
		}
		if len(waiting[r.Pane]) == 0 {
			delete(waiting, r.Pane)
		}
	})
	return nil
}

// ringPane rings in the pane of a request, at the tmux server of the agent that runs there.
func (c *Chats) ringPane(r approval.Request, on bool) {
	for _, s := range c.Runs.Sessions() {
		if s.Pane == r.Pane && (s.Dir == r.Dir || s.Label == r.Label) {
			c.Ring(s, on)
			return
		}
	}
}
