package inbox

import (
	"context"

	"github.com/go-json-experiment/json"

	"mycelium/internal/node/api"
	"mycelium/internal/state"
	"mycelium/internal/web/site"
)

// Digest returns a text that is another one when something else waits in a project, besides calls.
func Digest(ctx context.Context, s *site.Site, p state.Paths) (string, error) {
	w, err := site.Ask(ctx, s, p, api.Waits, api.WaitsParams{})
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(w, json.Deterministic(true))
	return string(b), err
}
