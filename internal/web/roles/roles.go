// Package roles is the room of the roles of a project: which there are, what each sees and why, and the editor of their files.
package roles

import (
	"cmp"
	"embed"
	"net/http"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the roles.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/roles", Text: "Roles"}}, Routes: func(s *site.Site) []site.Route {
		r := room{s}
		return append(r.apiRoutes(), []site.Route{{Pattern: "GET /roles", Serve: r.list},
			{Pattern: "GET /roles/new", Serve: r.open}, {Pattern: "POST /roles/new", Serve: r.submit},
			{Pattern: "GET /roles/{id}", Serve: r.open}, {Pattern: "POST /roles/{id}", Serve: r.submit},
			{Pattern: "GET /roles/{id}/delete", Serve: r.confirm}, {Pattern: "POST /roles/{id}/delete", Serve: r.remove},
			{Pattern: "GET /roles/{id}/history", Serve: r.history}, {Pattern: "POST /roles/{id}/history", Serve: r.restore},
		}...)
	}}
}

// room is the roles of a site.
type room struct{ *site.Site }

// roleList is the roles of one project.
type roleList struct {
	Projects      []site.Choice
	Key           string // of the project
	Roles         []row
	Problem, Done string
	Gone          string // the role that was deleted
}

// row is a role in the list.
type row struct {
	ID, Name, Description string
	Tools, Sessions       int
	Skills, Missing       []string
	Inherits, Files       []string
	Shipped               bool
	Locked, Broken        string
}

func (s room) list(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.showList(w, r, http.StatusOK, d, roleList{})
}

// showList sends the page. shown has what happened to an act.
func (s room) showList(w http.ResponseWriter, r *http.Request, status int, d device.Device, shown roleList) {
	at, projects, problem := s.Choose(r)
	if gone := r.URL.Query().Get("deleted"); gone != "" && shown.Problem == "" {
		shown.Done, shown.Gone = "The role "+text.OneLine(gone)+" is deleted. Its history keeps it.", gone
	}
	shown.Projects, shown.Problem = projects, cmp.Or(shown.Problem, problem)
	if at != nil {
		shown.Key = site.Key(*at)
		list, err := site.Ask(r.Context(), s.Site, *at, api.RolesList, op.None{})
		if err != nil {
			shown.Problem = cmp.Or(shown.Problem, text.Visible(text.Describe(err)))
		}
		for _, r := range list {
			shown.Roles = append(shown.Roles, rowOf(r))
		}
	}
	s.Show(w, r, status, "roles", d, site.Page{Title: "Roles", Here: "/roles", Files: []string{"policy.css"}, Body: shown})
}

// rowOf returns what a page shows of a role in the list.
func rowOf(r api.Role) row {
	return row{ID: text.OneLine(r.ID), Name: text.OneLine(cmp.Or(r.Name, r.ID)), Description: text.Visible(r.Description), Tools: r.Tools,
		Sessions: r.Sessions, Skills: lines(r.Skills), Missing: lines(r.Missing), Inherits: lines(r.Inherits), Files: lines(r.Files),
		Shipped: r.Shipped, Locked: text.Visible(r.Locked), Broken: text.Visible(r.Broken)}
}

// lines are texts of which each stands in one line.
func lines(all []string) (out []string) {
	for _, s := range all {
		out = append(out, text.OneLine(s))
	}
	return out
}
