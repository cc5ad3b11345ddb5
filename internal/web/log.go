package web

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/approval"
	"mycelium/internal/audit/index"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

// logPage is how many calls one page of the log has.
const logPage = 50

// recordList is a part of the log of one project.
type recordList struct {
	Projects     []choice
	Fields       []field
	Outcomes     []choice
	Entries      []entry
	Newer, Older string // addresses; "": there are none
	Problem      string
}

// choice is one option of a list.
type choice struct {
	Value, Text string
	Chosen      bool
}

// field is a field of the filter with what was written into it.
type field struct{ Name, Label, Value, Hint string }

// entry is one recorded call.
type entry struct {
	ID                              string
	Time                            time.Time
	Role, Tool, Outcome, Rule       string
	Reason, By, Session, Agent, Box string
	Args                            []line
	Millis                          string
	Thinking                        string
}

// log shows what was recorded, by the query of myc audit query.
func (s *Server) log(w http.ResponseWriter, r *http.Request, d device.Device) {
	list, problem := s.projects()
	form := r.URL.Query()
	shown := recordList{Problem: problem}
	var at *state.Paths
	for i, p := range list {
		if at == nil || keyOf(p) == form.Get("project") {
			at = &list[i]
		}
	}
	for _, p := range list {
		name := nameOf(p) + " · " + text.OneLine(p.Project)
		shown.Projects = append(shown.Projects, choice{keyOf(p), name, keyOf(p) == keyOf(*at)})
	}
	q := index.Query{Role: form.Get("role"), Tool: form.Get("tool"), Session: form.Get("session"), Outcome: form.Get("outcome"),
		Rule: form.Get("rule"), By: form.Get("by"), Text: form.Get("text"), Limit: logPage + 1}
	q.Offset, _ = strconv.Atoi(form.Get("offset")) // what is no number is the first page
	q.Offset = max(0, q.Offset)
	for _, f := range []field{{"tool", "Tool", q.Tool, "files__*"}, {"role", "Role", q.Role, "guest"},
		{"session", "Session", q.Session, "d3f*"}, {"rule", "Rule", q.Rule, ""}, {"by", "Decided by", q.By, "person"},
		{"text", "Words of the reasoning", q.Text, ""}} {
		f.Value = text.OneLine(f.Value)
		shown.Fields = append(shown.Fields, f)
	}
	for _, o := range []string{"", "ok", "error", "denied", "unfinished"} {
		shown.Outcomes = append(shown.Outcomes, choice{o, cmp.Or(o, "any"), o == q.Outcome})
	}
	if at != nil {
		s.fillLog(r, &shown, *at, q)
	}
	s.show(w, r, http.StatusOK, "log", d, page{Title: "Log", Here: "/log", Body: shown})
}

// fillLog adds the calls of a project, and where there are more.
func (s *Server) fillLog(r *http.Request, shown *recordList, p state.Paths, q index.Query) {
	found, err := s.o.Records(r.Context(), p, q)
	if err != nil {
		shown.Problem = text.Visible(text.Describe(err))
		return
	}
	to := func(offset int) string {
		v := url.Values{}
		for name, values := range r.URL.Query() {
			v[name] = values
		}
		v.Set("offset", strconv.Itoa(offset))
		return "/log?" + v.Encode()
	}
	if q.Offset > 0 {
		shown.Newer = to(max(0, q.Offset-logPage))
	}
	if len(found) > logPage {
		found, shown.Older = found[:logPage], to(q.Offset+logPage)
	}
	for _, e := range found {
		shown.Entries = append(shown.Entries, entryOf(e))
	}
}

// entryOf returns what a page shows of a recorded call.
func entryOf(e index.Entry) entry {
	one := text.OneLine
	args, diff := approval.ShowArgs(approval.Request{Tool: e.Tool, Args: jsontext.Value(e.Args)})
	out := entry{ID: one(e.ID), Time: e.Time, Role: one(e.Role), Tool: one(e.Tool), Outcome: one(e.Outcome), Rule: one(e.Rule),
		Reason: text.Visible(e.Reason), By: one(e.DecidedBy), Session: one(e.Session), Agent: one(e.Agent), Box: one(e.Sandbox),
		Args: linesOf(args, diff), Millis: strconv.FormatFloat(e.DurationMs, 'f', 1, 64)}
	if e.Thinking != nil {
		out.Thinking = text.Visible(text.TruncateRunes(e.Thinking.Thinking, 2000))
	}
	return out
}
