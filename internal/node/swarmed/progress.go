package swarmed

import (
	"context"

	"mycelium/internal/store"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/ops"
)

// Progress returns what says how the open session of a project stands; see [ops.Progress].
func Progress(db *store.DB) func(ctx context.Context) (line string, unfinished bool, err error) {
	b := book.New(db)
	return func(ctx context.Context) (string, bool, error) { return ops.Progress(ctx, b) }
}
