package files

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/node/replay"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// maxEdit bounds the form of the editor, in bytes: a file of 1 MiB, whose characters may each take three in a form.
const maxEdit = 4 << 20

// editing is what the editor shows.
type editing struct {
	Key, Name, File string
	Text            string
	Digest          string
	EOL             string // "crlf" if the lines of the file end so
	Because         string // why, for the record: which version is restored
	New, Shipped    bool
	Locked          string      // why it cannot be edited here; "": it can
	Waiting         []site.Line // what nobody has accepted of it
	Seen            bool
	History         string
	Problem, Done   string
	Checked         *checked
	Stale           []site.Line // from the person's text to what the file says now
	StaleText       string
	Replay          *replayed
}

// checked is what the node says of a text.
type checked struct {
	Problems []problem
	Blocks   bool
	Means    []mean
	Lines    []site.Line // what would change
	Same     bool
	Stale    bool
	Failed   string
}

// problem is a problem at a place.
type problem struct {
	Place, Text, Hint string
	Line, Column      int // 0: in another file, or not known
	Blocks            bool
}

// mean is what a change means for those whom the files govern.
type mean struct{ Mark, Text, Place string }

// replayed is what of the recorded calls would be decided otherwise.
type replayed struct {
	Calls, Unchanged int
	Changes          []otherwise
}

// otherwise are recorded calls of a role and tool that would be decided otherwise.
type otherwise struct {
	Calls                              int
	Role, Tool, From, To, Rule, Reason string
	Example                            string
	Time                               time.Time
}

// open shows the editor with a file, or with a former version of it.
func (s room) open(w http.ResponseWriter, r *http.Request, d device.Device) {
	q := r.URL.Query()
	h, p, ok := s.project(r, "/edit")
	if !ok {
		s.Fail(w, http.StatusNotFound, failure.Usagef("there is no project"))
		return
	}
	name := q.Get("file")
	if skill := q.Get("skill"); skill != "" {
		name = path.Join("skills", skill, "SKILL.md")
	}
	e, err := s.read(r, h, p, name)
	if err != nil {
		s.fail(w, err)
		return
	}
	if n, err := strconv.Atoi(q.Get("version")); err == nil {
		v, err := ask(r.Context(), s, p, api.FilesVersion, api.VersionParams{Name: name, Version: n})
		if err != nil {
			s.fail(w, err)
			return
		}
		e.Text, e.Because = v.Text, "version "+strconv.Itoa(n)+" is restored"
		c := s.checkNow(r, p, e.asEdit(d))
		e.Checked = &c
	}
	if e.New && e.Text == "" && strings.HasPrefix(name, "skills/") {
		e.Text = "---\nname: " + path.Base(path.Dir(name)) + "\ndescription: \nallowedRoles: []\nallowedTools: []\n---\n\n"
	}
	if q.Get("saved") != "" {
		e.Done = "Saved, and in force."
	}
	s.showEditor(w, r, http.StatusOK, d, e)
}

// read is the editor with a file as it is now.
func (s room) read(r *http.Request, h head, p state.Paths, name string) (editing, error) {
	list, err := ask(r.Context(), s, p, api.FilesRead, api.FilesParams{Names: []string{name}})
	if err != nil {
		return editing{}, err
	}
	return opened(h, list[0]), nil
}

// opened is the editor with a text. A text with characters that nobody sees cannot be edited here: a page shows them as numbers, and a form
// would bring those back.
func opened(h head, f api.FileText) editing {
	e := editing{Key: h.Key, Name: h.Name, File: f.Name, Digest: f.Digest, New: f.Digest == "", Shipped: f.Shipped,
		History: historyAt(h.Key, f.Name)}
	e.Text = strings.ReplaceAll(f.Text, "\r\n", "\n")
	if e.Text != f.Text {
		e.EOL = "crlf"
		if strings.ReplaceAll(e.Text, "\n", "\r\n") != f.Text {
			e.Locked = "Its lines end in two ways, which a browser would not keep."
		}
	}
	if text.HasHidden(e.Text) {
		e.Locked = "It has characters that nobody sees. They stand here as their numbers."
	}
	if f.Waits {
		e.Waiting = site.Lines(text.Visible(text.Diff(f.Accepted, f.Text)), true)
	}
	return e
}

// asEdit is the edit that the editor sends to the node.
func (e *editing) asEdit(d device.Device) api.FilesEdit {
	said := e.Text
	if e.EOL == "crlf" {
		said = strings.ReplaceAll(said, "\n", "\r\n")
	}
	return api.FilesEdit{Files: []api.FileEdit{{Name: e.File, Text: said, Digest: e.Digest}}, Seen: e.Seen, Device: d.ID, Because: e.Because}
}

// form reads the editor from a form.
func (s room) form(w http.ResponseWriter, r *http.Request) (e editing, p state.Paths, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxEdit)
	if err := r.ParseForm(); err != nil {
		return e, p, failure.New(failure.Invalid, err, "a file has 1 MiB at most")
	}
	p, known := s.Project(r.PostForm.Get("project"))
	if !known {
		return e, p, failure.New(failure.NotFound, errProject, "")
	}
	f := r.PostForm
	name := f.Get("file")
	e = editing{Key: site.Key(p), Name: site.Name(p), File: name, Digest: f.Get("digest"), EOL: f.Get("eol"), Because: f.Get("because"),
		New: f.Get("digest") == "", Seen: f.Get("seen") == "yes", History: historyAt(site.Key(p), name),
		Text: strings.ReplaceAll(f.Get("text"), "\r\n", "\n")} // a browser sends every end of a line so
	return e, p, nil
}

// edit checks, tries or saves what the form has.
func (s room) edit(w http.ResponseWriter, r *http.Request, d device.Device) {
	e, p, err := s.form(w, r)
	if err != nil {
		s.fail(w, err)
		return
	}
	switch r.PostForm.Get("do") {
	case "save":
		s.save(w, r, d, e, p)
		return
	case "try":
		found, err := ask(r.Context(), s, p, api.FilesReplay, e.asEdit(d))
		if err != nil {
			e.Problem = text.Visible(text.Describe(err))
		} else {
			e.Replay = replayedOf(found)
		}
	}
	c := s.checkNow(r, p, e.asEdit(d))
	e.Checked = &c
	s.keepWaiting(r, &e, p)
	s.showEditor(w, r, http.StatusOK, d, e)
}

// save saves what the form has, or says why not, with both versions of a file that has changed meanwhile.
func (s room) save(w http.ResponseWriter, r *http.Request, d device.Device, e editing, p state.Paths) {
	out, err := ask(r.Context(), s, p, api.FilesSave, e.asEdit(d))
	if err == nil && out.Saved {
		s.Tell("saved by " + d.ID + ": " + text.OneLine(e.File) + " of " + site.Name(p))
		if out.NotInForce == "" {
			v := url.Values{"project": {e.Key}, "file": {e.File}, "saved": {"yes"}}
			site.SeeOther(w, r, "/edit?"+v.Encode())
			return
		}
		e.Problem = "It is saved, and not in force: " + text.Visible(out.NotInForce)
		s.showEditor(w, r, http.StatusOK, d, e)
		return
	}
	status := http.StatusUnprocessableEntity
	switch {
	case err != nil:
		e.Problem, status = "Nothing was saved. "+text.Visible(text.Describe(err)), failure.Of(err).Kind.HTTP()
	case len(out.Stale) > 0:
		status = http.StatusConflict
		e.stale(out.Stale[0])
	case len(out.Unseen) > 0:
		status = http.StatusConflict
		e.Problem = "Nothing was saved: the file has lines that nobody has accepted. Read them, mark that you have, and save again."
	default:
		e.Problem = "Nothing was saved: see what is in the way."
	}
	c := checkedOf(e.File, out.FilesChecked)
	e.Checked = &c
	s.keepWaiting(r, &e, p)
	s.showEditor(w, r, status, d, e)
}

// stale shows what a file says now beside the text of the person, who decides. The next save is based on what is shown here.
func (e *editing) stale(now api.FileText) {
	e.Problem = "Nothing was saved: the file has changed since you opened it. Both versions are below. Take over into yours what shall " +
		"stay, and save again."
	theirs := strings.ReplaceAll(now.Text, "\r\n", "\n")
	e.Stale = site.Lines(text.Visible(text.Diff(e.Text, theirs)), true)
	e.StaleText = text.Visible(theirs)
	e.Digest, e.New, e.Seen = now.Digest, now.Digest == "", false
}

// keepWaiting shows again what nobody has accepted.
func (s room) keepWaiting(r *http.Request, e *editing, p state.Paths) {
	now, err := s.read(r, head{Key: e.Key, Name: e.Name}, p, e.File)
	if err == nil {
		e.Waiting, e.Shipped, e.Locked = now.Waiting, now.Shipped, now.Locked
	}
}

// check is the part of the editor that changes while a person types.
func (s room) check(w http.ResponseWriter, r *http.Request, d device.Device) {
	e, p, err := s.form(w, r)
	if err != nil {
		s.fail(w, err)
		return
	}
	c := s.checkNow(r, p, e.asEdit(d))
	s.Show(w, r, http.StatusOK, "checked", d, site.Page{Body: c})
}

// checkNow is what the node says of an edit.
func (s room) checkNow(r *http.Request, p state.Paths, edit api.FilesEdit) checked {
	edit.Seen = true // that there are such lines is told beside the text
	found, err := ask(r.Context(), s, p, api.FilesCheck, edit)
	if err != nil {
		return checked{Failed: text.Visible(text.Describe(err))}
	}
	return checkedOf(edit.Files[0].Name, found)
}

// checkedOf is what a page shows of a check.
func checkedOf(name string, found api.FilesChecked) checked {
	out := checked{Blocks: found.Faulty(), Same: len(found.Diffs) == 0, Stale: len(found.Stale) > 0}
	for _, p := range found.Problems {
		row := problem{Place: text.OneLine(p.File), Text: text.OneLine(p.Message), Hint: text.OneLine(p.Hint), Blocks: p.Blocks}
		if p.File == name {
			row.Line, row.Column = p.Line, p.Column
		}
		if p.Line > 0 {
			row.Place += ":" + strconv.Itoa(p.Line)
			if p.Column > 0 {
				row.Place += ":" + strconv.Itoa(p.Column)
			}
		}
		out.Problems = append(out.Problems, row)
	}
	for _, m := range found.Means {
		row := mean{Mark: text.OneLine(string(m.Mark)), Text: text.OneLine(m.Text), Place: text.OneLine(m.File)}
		if m.Line > 0 {
			row.Place += ":" + strconv.Itoa(m.Line)
		}
		out.Means = append(out.Means, row)
	}
	for _, f := range found.Diffs {
		out.Lines = append(out.Lines, site.Lines(text.Visible(f.Diff), true)...)
	}
	return out
}

// replayedOf is what a page shows of a replay.
func replayedOf(found replay.Report) *replayed {
	out := &replayed{Calls: found.Calls, Unchanged: found.Unchanged}
	for _, g := range found.Changes {
		out.Changes = append(out.Changes, otherwise{Calls: g.Calls, Role: text.OneLine(g.Role), Tool: text.OneLine(g.Tool), From: g.From,
			To: g.To, Rule: text.OneLine(g.Rule), Reason: text.OneLine(g.Reason), Time: g.Example.Time,
			Example: text.OneLine(text.TruncateRunes(string(g.Example.Args), 200))})
	}
	return out
}

func (s room) showEditor(w http.ResponseWriter, r *http.Request, status int, d device.Device, e editing) {
	here := "/rules"
	switch {
	case strings.HasPrefix(e.File, "skills/"):
		here = "/skills"
	case strings.HasSuffix(e.File, ".json"):
		here = "/servers"
	}
	s.Show(w, r, status, "edit", d, site.Page{Title: text.OneLine(e.File), Here: here, Files: assets, Body: e})
}
