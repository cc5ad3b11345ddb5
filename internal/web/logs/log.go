// Package logs is the room of what was recorded.
package logs

import (
	"cmp"
	"embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"mycelium/internal/audit/index"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
	"mycelium/internal/web/timeline"
)

//go:embed pages/*.html
var pages embed.FS

// Room is the log.
func Room() site.Room {
	return site.Room{Pages: pages, Nav: []site.Link{{Href: "/log", Text: "Log"}}, Routes: func(s *site.Site) []site.Route {
		at := room{s}
		return []site.Route{{Pattern: "GET /log", Serve: at.log}, {Pattern: "GET /log/export", Serve: at.export}}
	}}
}

// room is the log of a site.
type room struct{ *site.Site }

// logPage is how many calls one page of the log has.
const logPage = 50

// recordList is a part of the log of one project.
type recordList struct {
	Projects []site.Choice
	Choices  []choice
	Fields   []field
	More     []field // the fields that are needed seldom
	MoreOpen bool    // one of them is filled
	Key      string  // of the project
	Exports  []site.Link
	Rows     timeline.Group
	Problem  string
}

// choice is a list of words of the filter.
type choice struct {
	Name, Label string
	Options     []site.Choice
}

// field is a field of the filter with what was written into it.
type field struct{ Name, Label, Value, Hint string }

// log shows what was recorded, by the query of myc audit query.
func (s room) log(w http.ResponseWriter, r *http.Request, d device.Device) {
	form := r.URL.Query()
	list, problem := s.Projects()
	at := projectOf(list, form)
	q, err := queryOf(form, s.Now())
	shown := recordList{Problem: problem}
	for _, p := range list {
		name := site.Name(p) + " · " + text.OneLine(p.Project)
		shown.Projects = append(shown.Projects, site.Choice{Value: site.Key(p), Text: name, Chosen: site.Key(p) == site.Key(*at)})
	}
	shown.fill(form)
	status := http.StatusOK
	switch {
	case err != nil:
		status, shown.Problem = http.StatusBadRequest, text.Visible(err.Error())
	case at != nil:
		shown.Key = site.Key(*at)
		for _, format := range index.Formats() {
			to := filterOf(form)
			to.Set("project", shown.Key)
			to.Set("format", format)
			shown.Exports = append(shown.Exports, site.Link{Href: "/log/export?" + to.Encode(), Text: format})
		}
		found, err := s.Records(r.Context(), *at, q)
		if err != nil {
			shown.Problem = text.Visible(text.Describe(err))
		}
		shown.Rows = groupOf(*at, form, q, found)
	}
	s.Show(w, r, status, "log", d, site.Page{Title: "Log", Here: "/log", Live: "sse:resync", Files: timeline.Assets(), Body: shown})
}

// projectOf returns the project that a form chooses, else the first one; nil: there is none.
func projectOf(list []state.Paths, form url.Values) *state.Paths {
	i := slices.IndexFunc(list, func(p state.Paths) bool { return site.Key(p) == form.Get("project") })
	if len(list) == 0 {
		return nil
	}
	return &list[max(0, i)]
}

// groupOf returns the calls that a query found, with where there are more. The query asks for one more than a page has.
func groupOf(p state.Paths, form url.Values, q index.Query, found []index.Entry) timeline.Group {
	to := func(name string, seq int64) string {
		v := filterOf(form)
		v.Set("project", site.Key(p))
		v.Set(name, strconv.FormatInt(seq, 10))
		return "/log?" + v.Encode()
	}
	more := len(found) > logPage
	found = found[:min(len(found), logPage)]
	if q.OldestFirst {
		slices.Reverse(found)
	}
	var g timeline.Group
	for _, e := range found {
		row := timeline.CallOf(e)
		if e.Session != "" {
			row.Call.Page = "/sessions/" + url.PathEscape(site.Key(p)) + "/" + url.PathEscape(e.Session)
		}
		if row.Call.Open() {
			row.Call.Look = to("only", e.Seq)
		}
		g.Rows = append(g.Rows, row)
	}
	if len(found) == 0 {
		return g
	}
	g.Newest = q.Before == 0 && (q.After == 0 || !more)
	g.Newer = to("after", found[0].Seq)
	if more || q.OldestFirst {
		g.Older = to("before", found[len(found)-1].Seq)
	}
	return g
}

// export sends all calls that the filter selects, in a format of myc audit export and by the same writer, as they are read.
func (s room) export(w http.ResponseWriter, r *http.Request, _ device.Device) {
	form := r.URL.Query()
	q, err := queryOf(form, s.Now())
	format := cmp.Or(form.Get("format"), "jsonl")
	p, known := s.Project(form.Get("project"))
	switch {
	case err != nil:
		http.Error(w, text.Visible(err.Error()), http.StatusBadRequest)
		return
	case !slices.Contains(index.Formats(), format):
		http.Error(w, "the formats are json, jsonl and csv", http.StatusBadRequest)
		return
	case !known:
		http.Error(w, "there is no such project", http.StatusNotFound)
		return
	}
	q.Limit, q.Before, q.After, q.OldestFirst = 0, 0, 0, false
	out := &download{w: w, header: func() {
		w.Header().Set("Content-Type", map[string]string{"json": "application/json", "jsonl": "application/jsonl",
			"csv": "text/csv; charset=utf-8"}[format])
		w.Header().Set("Content-Disposition", `attachment; filename="calls.`+format+`"`)
	}}
	err = s.WithIndex(r.Context(), p, func(x *index.Index) error { return x.Export(r.Context(), out, format, q) })
	switch {
	case err != nil && !out.begun:
		http.Error(w, text.Visible(text.Describe(err)), http.StatusInternalServerError)
	case err != nil:
		panic(http.ErrAbortHandler) // the browser sees that the file is not whole
	case !out.begun: // no call, and a format without a frame
		out.header()
	}
}

// download is a response whose headers are those of a file from the first byte on, so that an error before it can be said.
type download struct {
	w      http.ResponseWriter
	header func()
	begun  bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		d.header()
	}
	return d.w.Write(b)
}
