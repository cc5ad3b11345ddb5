// Package tools is the room of every tool: what it does, its parameters, and which roles see it.
package tools

import (
	"cmp"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"mycelium/internal/config/toolindex"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the tools.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/tools", Text: "Tools"}}, Routes: func(s *site.Site) []site.Route {
		r := room{s}
		return append(r.apiRoutes(), site.Route{Pattern: "GET /tools", Serve: r.list}, site.Route{Pattern: "POST /tools/sync", Serve: r.sync})
	}}
}

// room is the tools of a site.
type room struct{ *site.Site }

// syncWithin is how long the servers of a project may take to say what they offer.
const syncWithin = 2 * time.Minute

// toolList is the tools of one project.
type toolList struct {
	Projects           []site.Choice
	Key                string // of the project
	Text, Does, Role   string // the filter
	Kinds, Roles       []site.Choice
	Categories         []category
	Shown, All         int
	Unknown            []string // servers that have not told what they offer
	Synced             time.Time
	Problem            string
	Done               string
	Failed             []string
	Filtered, NoDaemon bool
}

// category is the tools of one category.
type category struct {
	ID, Name, Description string
	Open                  bool
	Tools                 []tool
}

// tool is one tool.
type tool struct {
	Name, Title, Description, Does string
	Mutates                        bool
	Parameters                     []parameter
	Skills, Roles                  []string
	Held                           string
}

// parameter is an argument that a tool takes.
type parameter struct {
	Name, Type, Description string
	Required                bool
}

func (s room) list(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.show(w, r, http.StatusOK, d, toolList{})
}

// show sends the page. shown has what happened to an act.
func (s room) show(w http.ResponseWriter, r *http.Request, status int, d device.Device, shown toolList) {
	at, projects, problem := s.Choose(r)
	shown.Projects, shown.Problem = projects, cmp.Or(shown.Problem, problem)
	form := r.URL.Query()
	shown.Text, shown.Does, shown.Role = text.OneLine(form.Get("text")), form.Get("does"), text.OneLine(form.Get("role"))
	shown.Filtered = shown.Text != "" || shown.Does != "" || shown.Role != ""
	for _, c := range []site.Choice{{Value: "", Text: "any"}, {Value: "mutates", Text: "mutates"}, {Value: "reads", Text: "only reads"}} {
		c.Chosen = c.Value == shown.Does
		shown.Kinds = append(shown.Kinds, c)
	}
	if form.Has("synced") {
		shown.Done = "The servers were asked, and the index of tools is written."
	}
	if at != nil {
		shown.Key = site.Key(*at)
		known, err := site.Ask(r.Context(), s.Site, *at, api.ToolsKnown, op.None{})
		if err != nil {
			shown.Problem = cmp.Or(shown.Problem, text.Visible(text.Describe(err)))
		} else {
			shown.fill(known)
		}
	}
	s.Show(w, r, status, "tools", d, site.Page{Title: "Tools", Here: "/tools", Files: []string{"policy.css"}, Body: shown})
}

// fill adds the tools that fit the filter.
func (l *toolList) fill(known api.KnownTools) {
	l.All, l.Synced = len(known.Tools), known.Synced
	for _, u := range known.Unknown {
		l.Unknown = append(l.Unknown, text.OneLine(u))
	}
	roles := map[string]bool{}
	for _, c := range known.Categories {
		shown := category{ID: text.OneLine(c.ID), Name: text.OneLine(c.Name), Description: text.OneLine(c.Description), Open: l.Filtered}
		for _, t := range known.Tools {
			for _, r := range t.Roles {
				roles[r] = true
			}
			if t.Category == c.ID && l.fits(t) {
				shown.Tools = append(shown.Tools, toolOf(t))
			}
		}
		l.Shown += len(shown.Tools)
		if len(shown.Tools) > 0 || !l.Filtered {
			l.Categories = append(l.Categories, shown)
		}
	}
	l.Roles = append(l.Roles, site.Choice{Text: "any", Chosen: l.Role == ""})
	for r := range roles {
		l.Roles = append(l.Roles, site.Choice{Value: text.OneLine(r), Text: text.OneLine(r), Chosen: text.OneLine(r) == l.Role})
	}
	slices.SortFunc(l.Roles[1:], func(a, b site.Choice) int { return strings.Compare(a.Text, b.Text) })
}

// fits reports whether a tool is one that the filter means.
func (l *toolList) fits(t api.KnownTool) bool {
	words := strings.ToLower(t.Name + " " + t.Title + " " + t.Description + " " + t.Category)
	for w := range strings.FieldsSeq(strings.ToLower(l.Text)) {
		if !strings.Contains(words, w) {
			return false
		}
	}
	return (l.Does == "" || (l.Does == "mutates") == t.Mutates) && (l.Role == "" || slices.Contains(t.Roles, l.Role))
}

// toolOf returns what a page shows of a tool.
func toolOf(t api.KnownTool) tool {
	out := tool{Name: text.OneLine(t.Name), Title: text.OneLine(t.Title), Description: text.Visible(t.Description), Mutates: t.Mutates,
		Does: toolindex.Does(t.Mutates, t.SaysReads), Parameters: parametersOf(t.Parameters), Held: text.Visible(t.Held)}
	for _, s := range t.Skills {
		out.Skills = append(out.Skills, text.OneLine(s))
	}
	for _, r := range t.Roles {
		out.Roles = append(out.Roles, text.OneLine(r))
	}
	return out
}

func (s room) sync(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	p, known := s.Project(r.FormValue("project"))
	if !known {
		s.show(w, r, http.StatusNotFound, d, toolList{Problem: "There is no such project."})
		return
	}
	done, err := site.AskWithin(r.Context(), s.Site, p, syncWithin, api.ToolsSync, op.None{})
	if err != nil {
		s.show(w, r, failure.Of(err).Kind.HTTP(), d, toolList{Problem: "Nothing was written. " + text.Visible(text.Describe(err))})
		return
	}
	if len(done.Failed) > 0 {
		out := toolList{Done: "The index of tools is written, with what was known before of these servers:"}
		for server, why := range done.Failed {
			out.Failed = append(out.Failed, text.OneLine(server)+": "+text.Visible(why))
		}
		slices.Sort(out.Failed)
		s.show(w, r, http.StatusOK, d, out)
		return
	}
	site.SeeOther(w, r, "/tools?synced&project="+url.QueryEscape(site.Key(p)))
}
