package base

import (
	"context"
	"fmt"
	"strings"

	"mycelium/internal/node/project"
)

// LearnPending starts servers whose catalog nobody knows yet, so that a first look shows what they offer.
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

// LearnAll asks every server anew what it offers.
func (a *App) LearnAll(ctx context.Context, c *Client) error {
	var failed struct {
		Failed map[string]string `json:"failed"`
	}
	if err := c.Ask(ctx, "learn", nil, &failed); err != nil {
		return err
	}
	for name, why := range failed.Failed {
		fmt.Fprintf(a.Err, "myc: server %s: %s\n", name, project.Visible(strings.TrimPrefix(why, fmt.Sprintf("server %q: ", name))))
	}
	return nil
}
