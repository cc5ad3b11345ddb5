package roles

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/rawjson"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/openapi"
	"mycelium/internal/web/site"
)

// The API of roles (D17). A project is named by its key in the parameter "project"; with one project it may be left out.
//
//	GET    /api/roles       → []api.Role
//	GET    /api/roles/{id}  → api.RoleDetail
//	POST   /api/roles       body Body → api.RoleDetail, of the new role
//	PUT    /api/roles/{id}  body Body → api.RoleDetail
//	DELETE /api/roles/{id}?digest=… → Deleted; without a digest, whatever the file says
//
// An error is an [openapi.Problem] whose code is NOT_FOUND, BAD_REQUEST, or CONFLICT where something names the role or its file has
// changed.

// Body is a role that a request describes. An absent member changes nothing. A new role has a name and at least one tool; the tools of one
// that exists may be an empty list.
type Body struct {
	Name        *string   `json:"name"`
	Description *string   `json:"description"`
	Inherits    *string   `json:"inherits"`
	Prompt      *string   `json:"prompt"`
	Skills      *[]string `json:"skills"`  // the only ones that it may have
	ToolIDs     *[]string `json:"toolIds"` // that it has in any case
	Digest      string    `json:"digest"`  // of the file as it was read; empty: whatever it says
}

// Deleted is the answer to a deletion.
type Deleted struct {
	ID string `json:"id"`
}

// named names a role.
type named struct {
	site.OfProject
	ID string `path:"id"`
}

// apiRoutes are the routes for programs.
func (s room) apiRoutes() []site.Route {
	type created struct {
		site.OfProject
		Body Body `body:""`
	}
	type changed struct {
		named
		Body Body `body:""`
	}
	type removed struct {
		named
		Digest string `query:"digest" about:"of the file as it was read; left out: whatever it says"`
	}
	op := func(method, path, id, summary string) openapi.Operation {
		return openapi.Operation{Method: method, Path: path, ID: id, Tag: "policy", Summary: summary}
	}
	return []site.Route{
		site.Described(op(http.MethodGet, "/api/roles", "roles", "The roles of a project"), s.apiList, site.OfProject{}, []api.Role{}),
		site.Described(op(http.MethodPost, "/api/roles", "createRole", "Make a role"), s.apiCreate, created{}, api.RoleDetail{}),
		site.Described(op(http.MethodGet, "/api/roles/{id}", "role", "One role"), s.apiShow, named{}, api.RoleDetail{}),
		site.Described(op(http.MethodPut, "/api/roles/{id}", "updateRole", "Change a role"), s.apiUpdate, changed{},
			api.RoleDetail{}),
		site.Described(op(http.MethodDelete, "/api/roles/{id}", "deleteRole", "Delete a role that nothing names"), s.apiDelete, removed{},
			Deleted{}),
	}
}

func (s room) apiList(w http.ResponseWriter, r *http.Request, _ device.Device) {
	site.Reply(w, func() ([]api.Role, error) {
		p, err := s.Named(r)
		if err != nil {
			return nil, err
		}
		return site.Ask(r.Context(), s.Site, p, api.RolesList, api.None{})
	})
}

func (s room) apiShow(w http.ResponseWriter, r *http.Request, _ device.Device) {
	site.Reply(w, func() (api.RoleDetail, error) {
		p, err := s.Named(r)
		if err != nil {
			return api.RoleDetail{}, err
		}
		return site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: r.PathValue("id")})
	})
}

func (s room) apiCreate(w http.ResponseWriter, r *http.Request, d device.Device) {
	site.Reply(w, func() (api.RoleDetail, error) { return s.write(r, d, "") })
}

func (s room) apiUpdate(w http.ResponseWriter, r *http.Request, d device.Device) {
	site.Reply(w, func() (api.RoleDetail, error) { return s.write(r, d, r.PathValue("id")) })
}

func (s room) apiDelete(w http.ResponseWriter, r *http.Request, d device.Device) {
	site.Reply(w, func() (Deleted, error) {
		p, err := s.Named(r)
		if err != nil {
			return Deleted{}, err
		}
		id, digest := r.PathValue("id"), r.URL.Query().Get("digest")
		if digest == "" {
			detail, err := site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: id})
			if err != nil {
				return Deleted{}, err
			}
			digest = detail.Digest
		}
		return Deleted{id}, s.delete(r, p, id, digest, d)
	})
}

// write creates or updates a role, and returns it as it is then. An empty id is that of a new one.
func (s room) write(r *http.Request, d device.Device, id string) (none api.RoleDetail, err error) {
	p, err := s.Named(r)
	if err != nil {
		return none, err
	}
	var body Body
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, site.MaxForm))
	if err == nil {
		err = rawjson.Decode(data, &body, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return none, failure.New(failure.Invalid, errors.New("the body is no role: "+err.Error()), "")
	}
	detail, err := site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: id})
	if err != nil {
		return none, err
	}
	tried, err := s.tryBody(r, p, detail, body)
	if err != nil {
		return none, err
	}
	if err := s.put(r, p, tried.Edit, d, "the API of roles"); err != nil {
		return none, err
	}
	return site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: tried.ID})
}

// tryBody tries what a request describes.
func (s room) tryBody(r *http.Request, p state.Paths, detail api.RoleDetail, body Body) (tried api.RoleTried, err error) {
	f, fresh := detail.Fields, detail.ID == ""
	for _, t := range []struct{ to, from *string }{{&f.Name, body.Name}, {&f.Description, body.Description}, {&f.Inherits, body.Inherits},
		{&f.Prompt, body.Prompt}} {
		if t.from != nil {
			*t.to = *t.from
		}
	}
	if body.Skills != nil {
		f.Bounded, f.Skills = true, *body.Skills
	} else if fresh {
		f.Bounded, f.Skills = f.Inherits == "", []string{}
	}
	if body.ToolIDs != nil {
		f.ToolIDs = *body.ToolIDs
	}
	if (fresh || body.Name != nil) && strings.TrimSpace(f.Name) == "" {
		return tried, failure.New(failure.Invalid, errors.New("a role has a name"), "")
	}
	digest := body.Digest
	if digest == "" {
		digest = detail.Digest
	}
	tried, err = site.Ask(r.Context(), s.Site, p, api.RolesTry, api.RoleTry{ID: detail.ID, New: fresh, Digest: digest, Fields: f})
	if err == nil && fresh && tried.Fault == "" && tried.Tools() == 0 && len(f.ToolIDs) == 0 {
		err = failure.New(failure.Invalid, errors.New("a new role has at least one tool"), "name one in toolIds, or a skill that gives one")
	}
	return tried, err
}
