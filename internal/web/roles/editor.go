package roles

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/node/replay"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/policy"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// replayWithin is how long the last recorded calls may take to be decided again.
const replayWithin = time.Minute

// editor is the page of one role.
type editor struct {
	Key, ID, Digest string // of the project, the role, and its file
	New             bool
	File            string
	Shipped         bool
	Locked          string
	Fields          form
	Further         []string // keys that the file has besides
	Groups          []group
	Missing         []choice // entries of toolIds that give no tool
	Wide            []choice // entries that give several
	Skills          []choice
	Roles           []site.Choice
	References      []string
	Problem, Done   string
	Preview         *preview
	Theirs, Mine    []site.Line // where the file changed meanwhile: what it says now, and the change of this form
	Unseen          []site.Line // lines that nobody has accepted
	Address         string
}

// form is what the person wrote.
type form struct {
	Name, Description, Prompt, Provider, Model, Temperature, MaxTokens string
	Bounded                                                            bool
}

// group is the tools of a category to choose from.
type group struct {
	ID, Name string
	Chosen   int
	Tools    []choice
}

// choice is one box.
type choice struct {
	Value, Text, About string
	Chosen             bool
	Mutates            bool
	Note               string
}

func (s room) project(w http.ResponseWriter, r *http.Request) (state.Paths, bool) {
	r.Body = http.MaxBytesReader(w, r.Body, site.MaxForm)
	if err := r.ParseForm(); err != nil {
		s.Fail(w, http.StatusBadRequest, err)
		return state.Paths{}, false
	}
	at, _, _ := s.Choose(r)
	if key := r.FormValue("project"); at == nil || key != "" && site.Key(*at) != key {
		s.Fail(w, http.StatusNotFound, failure.New(failure.NotFound, errNoProject, ""))
		return state.Paths{}, false
	}
	return *at, true
}

// open shows the editor of a role, or of a new one.
func (s room) open(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.project(w, r)
	if !ok {
		return
	}
	id := r.PathValue("id")
	detail, err := site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: id})
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	e := s.editorOf(r, p, detail, detail.Fields)
	switch r.URL.Query().Get("done") {
	case "saved":
		e.Done = "Saved, and in force."
	case "restored":
		e.Done = "The former version is in force again."
	}
	if id != "" {
		e.Preview = &preview{Now: true}
		e.Preview.sees(detail.Sees, detail.Opens, e.names)
	}
	s.showEditor(w, r, http.StatusOK, d, e.editor)
}

func (s room) showEditor(w http.ResponseWriter, r *http.Request, status int, d device.Device, e editor) {
	title := "New role"
	if !e.New {
		title = "Role " + e.ID
	}
	s.Show(w, r, status, "role", d, site.Page{Title: title, Here: "/roles", Files: []string{"policy.css"}, Body: e})
}

// filled is an editor with the names of categories.
type filled struct {
	editor
	names []api.ToolCategory
}

// editorOf returns the editor of a role with what its form has.
func (s room) editorOf(r *http.Request, p state.Paths, d api.RoleDetail, f api.RoleFields) filled {
	e := filled{editor: editor{Key: site.Key(p), ID: text.OneLine(d.ID), Digest: d.Digest, New: d.ID == "", File: text.OneLine(d.File),
		Shipped: d.Shipped, Locked: text.Visible(d.Locked), Further: lines(d.Further), References: lines(d.References), Fields: formOf(f)}}
	e.Fields.Name = cmp.Or(e.Fields.Name, e.ID)
	e.Address = "/roles/new"
	if !e.New {
		e.Address = "/roles/" + url.PathEscape(d.ID)
	}
	known, err := site.Ask(r.Context(), s.Site, p, api.ToolsKnown, op.None{})
	if err != nil {
		e.Problem = text.Visible(text.Describe(err))
	}
	e.names = known.Categories
	e.tools(d, f)
	for _, k := range d.Opens {
		c := choice{Value: k.Skill, Text: text.OneLine(k.Skill), About: text.OneLine(k.Description), Chosen: slices.Contains(f.Skills, k.Skill)}
		if !k.Open {
			c.Note = text.Visible(k.Why)
		}
		e.Skills = append(e.Skills, c)
	}
	e.Roles = []site.Choice{{Text: "no role", Chosen: f.Inherits == ""}}
	list, _ := site.Ask(r.Context(), s.Site, p, api.RolesList, op.None{}) // without them, the form keeps what it has
	for _, other := range list {
		if other.ID != d.ID && other.ID != f.Inherits {
			e.Roles = append(e.Roles, site.Choice{Value: other.ID, Text: text.OneLine(other.ID)})
		}
	}
	if f.Inherits != "" {
		e.Roles = append(e.Roles, site.Choice{Value: f.Inherits, Text: text.OneLine(f.Inherits), Chosen: true})
	}
	return e
}

// formOf is what a form shows of the fields of a role.
func formOf(f api.RoleFields) form {
	out := form{Name: text.OneLine(f.Name), Description: text.Visible(f.Description), Prompt: text.Visible(f.Prompt), Bounded: f.Bounded}
	if m := f.Model; m != nil {
		out.Provider, out.Model = text.OneLine(m.Provider), text.OneLine(m.Model)
		if m.Temperature != nil {
			out.Temperature = strconv.FormatFloat(*m.Temperature, 'g', -1, 64)
		}
		if m.MaxTokens > 0 {
			out.MaxTokens = strconv.Itoa(m.MaxTokens)
		}
	}
	return out
}

// tools fills in the boxes of tools. An entry of toolIds that gives one tool is the value of that tool's box.
func (e *filled) tools(d api.RoleDetail, f api.RoleFields) {
	value := map[string]string{}
	for _, en := range d.Entries {
		c := choice{Value: en.ID, Text: text.OneLine(en.ID), Chosen: slices.Contains(f.ToolIDs, en.ID)}
		switch len(en.Tools) {
		case 0:
			c.Note = text.Visible(en.Why)
			e.Missing = append(e.Missing, c)
		case 1:
			value[en.Tools[0]] = en.ID
		default:
			c.About = strings.Join(lines(en.Tools), ", ")
			e.Wide = append(e.Wide, c)
		}
	}
	for _, category := range e.names {
		g := group{ID: text.OneLine(category.ID), Name: text.OneLine(category.Name)}
		for _, t := range d.Sees {
			if t.Category != category.ID {
				continue
			}
			entry := cmp.Or(value[t.Tool], t.Tool)
			c := choice{Value: entry, Text: text.OneLine(t.Tool), About: text.OneLine(t.Description), Mutates: t.Mutates,
				Chosen: slices.Contains(f.ToolIDs, entry)}
			if c.Chosen {
				g.Chosen++
			}
			g.Tools = append(g.Tools, c)
		}
		if len(g.Tools) > 0 {
			e.Groups = append(e.Groups, g)
		}
	}
}

// fieldsOf reads a form. problem says what is wrong with it.
func fieldsOf(v url.Values, d api.RoleDetail) (f api.RoleFields, problem string) {
	is := d.Fields
	newlines := strings.NewReplacer("\r\n", "\n")
	f = api.RoleFields{Name: strings.TrimSpace(v.Get("name")), Description: newlines.Replace(strings.TrimSpace(v.Get("description"))),
		Inherits: v.Get("inherits"), Bounded: v.Get("ceiling") == "only", Skills: append([]string{}, v["skill"]...),
		ToolIDs: append([]string{}, v["tool"]...), Prompt: newlines.Replace(v.Get("prompt"))}
	f.Description, f.Prompt = unchanged(f.Description, is.Description), unchanged(f.Prompt, is.Prompt)
	m := policy.Model{}
	if is.Model != nil {
		m.Options = is.Model.Options
	}
	m.Provider, m.Model = strings.TrimSpace(v.Get("provider")), strings.TrimSpace(v.Get("model"))
	if s := strings.TrimSpace(v.Get("temperature")); s != "" {
		t, err := strconv.ParseFloat(s, 64)
		if err != nil || t < 0 || t > 1 {
			return f, "The temperature is a number from 0 to 1."
		}
		m.Temperature = &t
	}
	if s := strings.TrimSpace(v.Get("maxTokens")); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return f, "The most tokens of an answer are a number above 0."
		}
		m.MaxTokens = n
	}
	if m.Provider != "" || m.Model != "" || m.Temperature != nil || m.MaxTokens > 0 || len(m.Options) > 0 {
		f.Model = &m
	}
	switch f.Name {
	case "":
		return f, "A role has a name."
	case text.OneLine(cmp.Or(is.Name, d.ID)): // the file may have none
		f.Name = is.Name
	}
	return f, ""
}

// unchanged is what the file says, if the form has the same but for the space at its end, and else what the form has.
func unchanged(wrote, is string) string {
	if strings.TrimSpace(wrote) == strings.TrimSpace(text.Visible(is)) {
		return is
	}
	return wrote
}

// submit takes the form: it shows what it would do, or saves it.
func (s room) submit(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.project(w, r)
	if !ok {
		return
	}
	if r.PostForm.Get("act") == "replay" { // of an open page
		shown := &preview{}
		report, err := s.replayOf(r, p)
		shown.replayed(report, err)
		s.Write(w, http.StatusOK, "role-replay", site.Page{Body: shown})
		return
	}
	detail, err := site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: r.PathValue("id")})
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	fields, problem := fieldsOf(r.PostForm, detail)
	live := r.Header.Get("HX-Request") != ""
	e := s.editorOf(r, p, detail, fields)
	e.Digest = r.PostForm.Get("digest")
	t := api.RoleTry{ID: detail.ID, New: detail.ID == "", Digest: e.Digest, Fields: fields}
	if problem == "" {
		problem = s.try(r, p, &e, t, live)
	}
	if e.Problem = problem; live {
		s.Write(w, http.StatusOK, "role-preview", site.Page{Body: e.editor})
		return
	}
	if problem != "" || r.PostForm.Get("act") != "save" {
		status := http.StatusOK
		if problem != "" {
			status = http.StatusBadRequest
		}
		s.showEditor(w, r, status, d, e.editor)
		return
	}
	s.save(w, r, d, p, e)
}

// try fills in the preview. problem says why there is none.
func (s room) try(r *http.Request, p state.Paths, e *filled, t api.RoleTry, live bool) (problem string) {
	tried, err := site.Ask(r.Context(), s.Site, p, api.RolesTry, t)
	if err != nil {
		return text.Visible(text.Describe(err))
	}
	e.Preview = &preview{Fault: text.Visible(tried.Fault), edit: tried.Edit, id: tried.ID}
	e.Preview.sees(tried.Sees, tried.Opens, e.names)
	e.Preview.changes(tried)
	edit := api.FilesEdit{Files: []api.FileEdit{tried.Edit}}
	checked, err := site.Ask(r.Context(), s.Site, p, api.FilesCheck, edit)
	if err != nil {
		return text.Visible(text.Describe(err))
	}
	e.Preview.checked(checked)
	if !live && r.PostForm.Get("act") != "save" {
		report, err := site.AskWithin(r.Context(), s.Site, p, replayWithin, api.FilesReplay, edit)
		e.Preview.replayed(report, err)
	}
	if tried.Fault == "" && tried.Tools() == 0 && len(t.Fields.ToolIDs) == 0 {
		return "A role has at least one tool: choose one, or a skill that gives one."
	}
	return ""
}

// replayOf decides the last recorded calls again by what the form says.
func (s room) replayOf(r *http.Request, p state.Paths) (none replay.Report, err error) {
	detail, err := site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: r.PathValue("id")})
	if err != nil {
		return none, err
	}
	fields, _ := fieldsOf(r.PostForm, detail)
	tried, err := site.Ask(r.Context(), s.Site, p, api.RolesTry, api.RoleTry{ID: detail.ID, New: detail.ID == "", Fields: fields,
		Digest: r.PostForm.Get("digest")})
	if err != nil {
		return none, err
	}
	return site.AskWithin(r.Context(), s.Site, p, replayWithin, api.FilesReplay, api.FilesEdit{Files: []api.FileEdit{tried.Edit}})
}

// save saves what was tried, by the call by which every file that governs is saved.
func (s room) save(w http.ResponseWriter, r *http.Request, d device.Device, p state.Paths, e filled) {
	saved, err := site.AskWithin(r.Context(), s.Site, p, replayWithin, api.FilesSave, api.FilesEdit{Files: []api.FileEdit{e.Preview.edit},
		Device: d.ID, Because: "the editor of roles"})
	if err != nil {
		e.Problem = "Nothing was saved. " + text.Visible(text.Describe(err))
		s.showEditor(w, r, failure.Of(err).Kind.HTTP(), d, e.editor)
		return
	}
	if !saved.Saved {
		e.refused(saved.FilesChecked)
		s.showEditor(w, r, http.StatusConflict, d, e.editor)
		return
	}
	s.Tell("the role " + text.OneLine(e.Preview.id) + " of " + site.Name(p) + " was saved by " + d.ID)
	site.SeeOther(w, r, "/roles/"+url.PathEscape(e.Preview.id)+"?done=saved&project="+url.QueryEscape(site.Key(p)))
}

// refused says why nothing was saved, and keeps what the person wrote.
func (e *filled) refused(c api.FilesChecked) {
	e.Problem = "Nothing was saved."
	for _, f := range c.Stale {
		e.Problem = "Nothing was saved: " + text.OneLine(f.Name) + " has changed since you opened this page, and is not overwritten."
		e.Theirs = site.Lines(text.Visible(f.Text), false)
	}
	for _, f := range c.Unseen {
		e.Problem = "Nothing was saved: " + text.OneLine(f.Name) + " has lines that nobody has accepted. Look at them first: myc trust --diff"
		e.Unseen = site.Lines(text.Visible(text.Diff(f.Accepted, f.Text)), true)
	}
	for _, diff := range c.Diffs {
		e.Mine = site.Lines(text.Visible(diff.Diff), true)
	}
	if c.Faulty() {
		e.Problem = "Nothing was saved: see what is wrong below."
	}
	e.Preview.checked(c)
}
