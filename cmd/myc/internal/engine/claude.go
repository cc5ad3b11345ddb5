package engine

import (
	"context"
	"errors"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent/journal"
	"mycelium/internal/state"
)

func (out *Agent) openClaude(ctx context.Context, a *base.App, o Options, paths state.Paths, old *journal.Talk) error {
	return errors.New("not yet")
}
