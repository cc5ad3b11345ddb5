// Package files is the room of the files that govern: rules, skills and servers, each with where it stands; the editor, which checks what a
// person writes as the node will; and the history of the files.
package files

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the files that govern.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/rules", Text: "Rules"}, {Href: "/skills", Text: "Skills"},
		{Href: "/servers", Text: "Servers"}},
		Routes: func(s *site.Site) []site.Route {
			f := room{s}
			return []site.Route{
				{Pattern: "GET /rules", Serve: f.rules},
				{Pattern: "GET /skills", Serve: f.skills},
				{Pattern: "GET /servers", Serve: f.servers},
				{Pattern: "POST /servers/accept", Serve: f.accept},
				{Pattern: "GET /edit", Serve: f.open},
				{Pattern: "POST /edit", Serve: f.edit},
				{Pattern: "POST /edit/check", Serve: f.check},
				{Pattern: "GET /history", Serve: f.history},
			}
		}}
}

// room is the files of a site.
type room struct{ *site.Site }

// waitFor is how long a node may take here: it compiles the policy, and writes through to the disk.
const waitFor = 30 * time.Second

// ask asks the node of a project once.
func ask[P, R any](ctx context.Context, s room, p state.Paths, m op.Op[P, R], params P) (reply R, err error) {
	ctx, cancel := context.WithTimeout(ctx, waitFor)
	defer cancel()
	c, err := s.Dial(ctx, p)
	if err != nil {
		return reply, err
	}
	defer c.Close()
	return socket.Call(ctx, c, m, params)
}

// head is what all pages of this room show of the project.
type head struct {
	Key, Name string
	Projects  []site.Choice
	Here      string // the address of the page, for the choice of the project
	Problem   string
	Done      string
	Files     []file
}

// file is a file in a list.
type file struct {
	Name, Waits, Kind string
	Shipped           bool
	Edit, History     string // addresses
}

// place is where something stands. Edit is the address of the editor; "" if the file is none of the project.
type place struct{ Text, Edit string }

// project is the project that a request names, or else the first whose daemon runs.
func (s room) project(r *http.Request, here string) (head, state.Paths, bool) {
	h := head{Here: here}
	list, problem := s.Projects()
	h.Problem = problem
	if len(list) == 0 {
		return h, state.Paths{}, false
	}
	at := list[0]
	named := r.FormValue("project")
	for _, p := range list {
		if site.Key(p) == named {
			at = p
		}
	}
	if named == "" {
		answers, _ := site.AskAll(r.Context(), s.Site, api.Runs, op.None{})
		for _, a := range answers {
			if a.Err == nil {
				at = a.Paths
				break
			}
		}
	}
	h.Key, h.Name = site.Key(at), site.Name(at)
	for _, p := range list {
		h.Projects = append(h.Projects, site.Choice{Value: site.Key(p), Text: site.Name(p) + " · " + text.OneLine(p.Project),
			Chosen: site.Key(p) == h.Key})
	}
	return h, at, true
}

// fill adds what the files of a project declare, and the files of some kinds.
func (s room) fill(r *http.Request, h *head, p state.Paths, kinds ...string) api.DeclaredReply {
	declared, err := ask(r.Context(), s, p, api.Declared, op.None{})
	var list []api.GovernedFile
	if err == nil {
		list, err = ask(r.Context(), s, p, api.FilesList, op.None{})
	}
	if err != nil {
		h.Problem = text.Visible(text.Describe(err))
		return declared
	}
	for _, f := range list {
		for _, kind := range kinds {
			if f.Kind == kind {
				h.Files = append(h.Files, file{text.OneLine(f.Name), f.Waits, f.Kind, f.Shipped, editAt(h.Key, f.Name), historyAt(h.Key, f.Name)})
			}
		}
	}
	return declared
}

func editAt(key, name string) string {
	return "/edit?" + url.Values{"project": {key}, "file": {name}}.Encode()
}

func historyAt(key, name string) string {
	return "/history?" + url.Values{"project": {key}, "file": {name}}.Encode()
}

// placeOf is where something stands, for a page.
func placeOf(key string, at api.At) place {
	out := place{Text: text.OneLine(at.File)}
	if at.Line > 0 {
		out.Text += ":" + strconv.Itoa(at.Line)
	}
	if at.Name != "" {
		out.Edit = editAt(key, at.Name) + lineAnchor(at.Line)
	}
	return out
}

// rule is a rule in the list.
type rule struct {
	Rule, Action, Tools, Roles, Reason string
	Examples                           int
	Place                              place
}

// ruleList is what /rules shows.
type ruleList struct {
	head
	Rules []rule
}

func (s room) rules(w http.ResponseWriter, r *http.Request, d device.Device) {
	h, p, ok := s.project(r, "/rules")
	body := ruleList{head: h}
	if ok {
		declared := s.fill(r, &body.head, p, api.FileRules, api.FileMain, api.FileOther)
		for _, x := range declared.Rules {
			body.Rules = append(body.Rules, rule{text.OneLine(x.Rule), text.OneLine(x.Action), words(x.Tools), words(x.Roles),
				text.OneLine(x.Reason), x.Examples, placeOf(h.Key, x.At)})
		}
	}
	s.Show(w, r, http.StatusOK, "rules", d, site.Page{Title: "Rules", Here: "/rules", Files: assets, Body: body})
}

// assets are the files that only these pages load.
var assets = []string{"files.css", "files.js"}

// fail shows the problem of a request to this room.
func (s room) fail(w http.ResponseWriter, err error) { s.Fail(w, failure.Of(err).Kind.HTTP(), err) }
