package tools

import (
	"net/http"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/rest"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// apiRoutes are the operations for programs (D17).
func (s room) apiRoutes() []site.Route {
	return []site.Route{site.Row(s.Site, api.ToolsKnown, nil), site.Row(s.Site, api.ToolsSync, nil),
		site.Operation(rest.Get("/api/tools/categories", "toolCategories", "policy", "The categories of tools"), s.apiCategories)}
}

func (s room) apiCategories(r *http.Request, _ device.Device, p site.OfProject) ([]api.ToolCategory, error) {
	at, err := s.Named(p.Project)
	if err != nil {
		return nil, err
	}
	known, err := site.Ask(r.Context(), s.Site, at, api.ToolsKnown, op.None{})
	return known.Categories, err
}
