package base

import (
	"context"
	"fmt"
	"strings"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/text"
)

// LearnPending asks the servers what they offer if the catalog of one is not known yet, so that the first list is complete.
func (a *App) LearnPending(ctx context.Context, c *Client) error {
	v, err := a.OpenView()
	if err != nil {
		return err
	}
	defer v.Close()
	if len(v.Catalog.Pending) == 0 {
		return nil
	}
	return a.LearnAll(ctx, c)
}

// LearnAll asks every server what it offers.
func (a *App) LearnAll(ctx context.Context, c *Client) error {
	progress := Tell(a.Err, "asking the servers what they offer", "")
	learned, err := Call(ctx, c, api.Learn, op.None{})
	progress.End()
	if err != nil {
		return err
	}
	for name, why := range learned.Failed {
		fmt.Fprintf(a.Err, "myc: server %s: %s\n", name, text.Flatten(strings.TrimPrefix(why, fmt.Sprintf("server %q: ", name))))
	}
	return nil
}
