package files

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/backend"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// words joins names of a file for a page.
func words(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text.OneLine(s)
	}
	return strings.Join(out, ", ")
}

// lineAnchor names a line in the address of the editor, where the script goes to it.
func lineAnchor(line int) string {
	if line < 1 {
		return ""
	}
	return "#L" + strconv.Itoa(line)
}

// skillRow is a skill in the list.
type skillRow struct {
	Skill, State, Source, Description, Roles string
	Tools                                    []string
	Problems                                 []string
	Place                                    place
	History                                  string
}

// skillList is what /skills shows.
type skillList struct {
	head
	Skills []skillRow
}

func (s room) skills(w http.ResponseWriter, r *http.Request, d device.Device) {
	h, p, ok := s.project(r, "/skills")
	body := skillList{head: h}
	if ok {
		declared := s.fill(r, &body.head, p, api.FileSkill)
		for _, x := range declared.Skills {
			row := skillRow{Skill: text.OneLine(x.Skill), State: text.OneLine(x.State), Source: text.OneLine(x.Source),
				Description: text.OneLine(x.Description), Roles: words(x.Roles), Place: placeOf(h.Key, x.At)}
			for _, t := range x.Tools {
				row.Tools = append(row.Tools, text.OneLine(t))
			}
			for _, pr := range x.Problems {
				row.Problems = append(row.Problems, text.OneLine(pr))
			}
			if x.Name != "" {
				row.History = historyAt(h.Key, x.Name)
			}
			body.Skills = append(body.Skills, row)
		}
	}
	s.Show(w, r, http.StatusOK, "skills", d, site.Page{Title: "Skills", Here: "/skills", Files: assets, Body: body})
}

// serverRow is a server in the list.
type serverRow struct {
	Name, State, Runs, Error, Hint, Breaker string
	Tools, Restarts, Active, Waiting        int
	Offers                                  []string
	Disabled                                bool
	Place                                   place
	Held                                    []heldRow
}

// heldRow is a definition in quarantine: how it differs from the one that was accepted, and what the scan found in it.
type heldRow struct {
	Key, Name, Cause, Reason, Digest string
	KeptOut, Sure                    string // who keeps it out; what the person agrees to besides
	Lines                            []site.Line
	Findings                         []string
}

// serverList is what /servers shows.
type serverList struct {
	head
	Servers []serverRow
	Held    []heldRow // of servers that no file in force names
}

func (s room) servers(w http.ResponseWriter, r *http.Request, d device.Device) {
	s.showServers(w, r, http.StatusOK, d, "")
}

func (s room) showServers(w http.ResponseWriter, r *http.Request, status int, d device.Device, problem string) {
	h, p, ok := s.project(r, "/servers")
	body := serverList{head: h}
	if ok {
		declared := s.fill(r, &body.head, p, api.FileServers, api.FileMain)
		held, err := ask(r.Context(), s, p, api.Held, api.HeldParams{})
		if err != nil && body.Problem == "" {
			body.Problem = text.Visible(text.Describe(err))
		}
		body.take(declared, held)
	}
	if problem != "" {
		body.Problem = problem
	}
	if name := r.URL.Query().Get("accepted"); name != "" {
		body.Done = text.OneLine(name) + " is accepted, as it was shown."
	}
	if name := r.URL.Query().Get("kept"); name != "" {
		body.Done = text.OneLine(name) + " is kept out, as it was shown."
	}
	s.Show(w, r, status, "servers", d, site.Page{Title: "Servers", Here: "/servers", Files: assets, Body: body})
}

// take adds servers with what is in quarantine of each.
func (b *serverList) take(declared api.DeclaredReply, held []api.HeldItem) {
	one := text.OneLine
	left := map[int]bool{}
	for _, x := range declared.Servers {
		st := x.Status
		row := serverRow{Name: one(st.Name), State: one(st.State), Runs: one(x.Runs), Error: text.Visible(st.Error), Hint: text.Visible(st.Hint),
			Breaker: one(st.Breaker), Tools: st.Tools, Restarts: st.Restarts, Active: st.Active, Waiting: st.Waiting, Disabled: x.Disabled,
			Place: placeOf(b.Key, x.At)}
		if row.Breaker == "closed" {
			row.Breaker = ""
		}
		for _, o := range x.Offers {
			row.Offers = append(row.Offers, one(o))
		}
		for i, it := range held {
			if it.Name == st.Name || strings.HasPrefix(it.Name, st.Name+"__") {
				row.Held, left[i] = append(row.Held, heldOf(b.Key, it)), true
			}
		}
		b.Servers = append(b.Servers, row)
	}
	for i, it := range held {
		if !left[i] {
			b.Held = append(b.Held, heldOf(b.Key, it))
		}
	}
}

// heldOf is what a page shows of a definition in quarantine.
func heldOf(key string, it api.HeldItem) heldRow {
	row := heldRow{Key: key, Name: text.OneLine(it.Name), Cause: text.OneLine(it.Cause), Reason: text.Visible(it.Reason), Digest: it.Digest}
	row.Lines = site.Lines(text.Visible(strings.Join(it.Diff, "\n")), true)
	if k := it.KeptOut; k != nil {
		row.KeptOut = "Kept out by " + text.OneLine(k.By) + " since " + k.Since.Local().Format(time.DateTime) + "."
	}
	if d := it.Demand(); d.Any() {
		row.Sure = text.OneLine(d.Says())
	}
	for _, f := range it.Findings {
		row.Findings = append(row.Findings, text.OneLine(string(f.Severity)+", "+f.Family+" in "+f.Where+": "+f.Why+": "+f.Excerpt))
	}
	return row
}

// accept takes a definition out of quarantine, or keeps it there, by the call of `myc tools approve` or `keep-out`. It is bound to the
// definition that the page showed.
func (s room) accept(w http.ResponseWriter, r *http.Request, d device.Device) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	p, known := s.Project(r.PostFormValue("project"))
	if !known {
		s.showServers(w, r, http.StatusNotFound, d, "There is no such project.")
		return
	}
	item := backend.Acceptance{Name: r.PostFormValue("name"), Digest: r.PostFormValue("digest")}
	do, done := api.Accept, "accepted"
	if r.PostFormValue("answer") == string(api.LeaveOut) {
		do, done = api.KeepOut, "kept"
	}
	_, err := ask(r.Context(), s, p, do, api.AcceptParams{Items: []backend.Acceptance{item}, Device: d.ID,
		Sure: r.PostFormValue("sure") == "yes"})
	if err != nil {
		s.showServers(w, r, failure.Of(err).Kind.HTTP(), d, "Nothing was "+done+". "+text.Visible(text.Describe(err)))
		return
	}
	s.Tell(done + " by " + d.ID + ": " + text.OneLine(item.Name) + " of " + site.Name(p))
	site.SeeOther(w, r, "/servers?"+url.Values{"project": {site.Key(p)}, done: {item.Name}}.Encode())
}
