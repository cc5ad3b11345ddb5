package tools

import (
	"net/http"

	"mycelium/internal/node/api"
	"mycelium/internal/web/device"
	"mycelium/internal/web/openapi"
	"mycelium/internal/web/site"
)

// The API of tools (D17). A project is named by its key in the parameter "project"; with one project it may be left out.
//
//	GET  /api/tools             → api.KnownTools
//	GET  /api/tools/categories  → []api.ToolCategory
//	POST /api/tools/sync        → api.SyncedTools
//
// An error is an [openapi.Problem].

// apiRoutes are the routes for programs.
func (s room) apiRoutes() []site.Route {
	op := func(method, path, id, summary string) openapi.Operation {
		return openapi.Operation{Method: method, Path: path, ID: id, Tag: "policy", Summary: summary}
	}
	return []site.Route{
		site.Described(op(http.MethodGet, "/api/tools", "tools", "All tools, their categories, and the roles that see them"), s.apiList,
			site.OfProject{}, api.KnownTools{}),
		site.Described(op(http.MethodGet, "/api/tools/categories", "toolCategories", "The categories of tools"), s.apiCategories,
			site.OfProject{}, []api.ToolCategory{}),
		site.Described(op(http.MethodPost, "/api/tools/sync", "syncTools", "Ask the servers for their tools anew"), s.apiSync,
			site.OfProject{}, api.SyncedTools{}),
	}
}

func (s room) apiList(w http.ResponseWriter, r *http.Request, _ device.Device) {
	site.Reply(w, func() (api.KnownTools, error) { return s.known(r) })
}

func (s room) apiCategories(w http.ResponseWriter, r *http.Request, _ device.Device) {
	site.Reply(w, func() ([]api.ToolCategory, error) {
		known, err := s.known(r)
		return known.Categories, err
	})
}

func (s room) apiSync(w http.ResponseWriter, r *http.Request, _ device.Device) {
	site.Reply(w, func() (api.SyncedTools, error) {
		p, err := s.Named(r)
		if err != nil {
			return api.SyncedTools{}, err
		}
		return s.syncProject(r, p)
	})
}

func (s room) known(r *http.Request) (api.KnownTools, error) {
	p, err := s.Named(r)
	if err != nil {
		return api.KnownTools{}, err
	}
	return site.Ask(r.Context(), s.Site, p, api.ToolsKnown, api.None{})
}
