package node

import (
	"context"

	"mycelium/internal/approval"
)

// ringForRequests rings for calls that wait in the queue; an agent's own terminal that asks rings by its hook.
func (n *Node) ringForRequests(ctx context.Context) error {
	waiting := map[string]map[string]bool{} // pane → requests
	n.asks.Overhear(ctx, func(r approval.Request) {
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
			n.ringPane(r, now > 0)
		}
		if len(waiting[r.Pane]) == 0 {
			delete(waiting, r.Pane)
		}
	})
	return nil
}

// ringPane rings in the pane of a request, at the tmux server of the agent that runs there.
func (n *Node) ringPane(r approval.Request, on bool) {
	for _, s := range n.runs.Sessions() {
		if s.Pane == r.Pane && (s.Dir == r.Dir || s.Label == r.Label) {
			n.ring(s, on)
			return
		}
	}
}
