package session

import (
	"context"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
)

// agentNames returns what people call the agents at work, by their sessions here. Without an answer the sessions keep the names that they
// were made with.
func (a *app) agentNames(ctx context.Context) map[string]string {
	runs, err := base.Operate(ctx, a.App, api.Runs, op.None{})
	if err != nil {
		return nil
	}
	names := map[string]string{}
	for _, r := range runs {
		if names[r.Session] == "" && r.Ended.IsZero() {
			names[r.Session] = r.Label
		}
	}
	delete(names, "")
	return names
}
