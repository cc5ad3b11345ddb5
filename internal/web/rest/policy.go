package rest

import (
	"net/http"

	"mycelium/internal/node/api"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// toolsParams say whose tools are listed.
type toolsParams struct {
	site.OfProject
	Role string `query:"role" about:"whose tools; left out: the default role"`
	All  bool   `query:"all" about:"hidden tools too, each with visible and reason"`
}

// toolList are tools.
type toolList struct {
	Tools []api.Tool `json:"tools"`
}

func (s room) tools(r *http.Request, _ device.Device, p toolsParams) (toolList, error) {
	at, err := s.Named(p.Project)
	if err != nil {
		return toolList{}, err
	}
	list, err := site.Ask(r.Context(), s.Site, at, api.Tools, api.ToolsParams{SessionParams: api.SessionParams{Role: p.Role}, All: p.All})
	return toolList{list}, err
}
