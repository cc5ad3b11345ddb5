package base

import (
	"context"
	"fmt"

	"mycelium/internal/node/api"
	"mycelium/internal/text"
)

// WarnBroken says on stderr that a file does not load or that no call runs, which may be why something is hidden or refused.
func (a *App) WarnBroken(ctx context.Context, c *Client) {
	s, err := Call(ctx, c, api.Status, api.None{})
	if err != nil {
		return
	}
	a.WarnDamage(s)
	if s.Problem != "" {
		fmt.Fprintf(a.Err, "myc: warning: a file does not load: %s\n", text.Visible(s.Problem))
	}
}

// WarnDamage says on stderr why no call runs.
func (a *App) WarnDamage(s api.StatusReply) {
	for _, d := range s.Damage {
		fmt.Fprintf(a.Err, "myc: warning: no call runs: %s\n", text.Visible(d))
	}
}
