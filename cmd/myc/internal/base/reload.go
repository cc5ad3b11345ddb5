package base

import (
	"context"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
)

// Reload makes a running daemon read the files again, which it does on its own a moment later.
func Reload(ctx context.Context, a *App) error {
	c, err := a.Running(ctx)
	if err != nil || c == nil {
		return err
	}
	defer c.Close()
	if _, err := Call(ctx, c, api.Reload, op.None{}); err != nil {
		return failure.New(failure.Config, err, "myc doctor shows what is wrong")
	}
	return nil
}
