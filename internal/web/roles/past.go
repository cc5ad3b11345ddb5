package roles

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/state"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

// past is the page of a role that is to be deleted, or of the versions of its file.
type past struct {
	Key, ID, File, Digest string
	Address               string // of the role
	References            []string
	Problem               string
	Versions              []version
}

// version is a version of a role's file.
type version struct {
	Number        int
	Time          time.Time
	By            string
	InForce, Gone bool
	Kept          bool
	Diff          []site.Line
}

// pastOf is what both pages have of a role. A role that was deleted has its history.
func (s room) pastOf(r *http.Request, p state.Paths) (past, error) {
	id := r.PathValue("id")
	out := past{Key: site.Key(p), ID: text.OneLine(id), Address: "/roles/" + url.PathEscape(id)}
	d, err := site.Ask(r.Context(), s.Site, p, api.RolesShow, api.RoleParams{ID: id})
	if failure.Of(err).Kind == failure.NotFound && err != nil {
		out.File = "roles/" + id + ".yaml"
		return out, err
	}
	out.File, out.Digest, out.References = d.File, d.Digest, lines(d.References)
	return out, err
}

// confirm asks whether a role shall be deleted, or says what names it.
func (s room) confirm(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.project(w, r)
	if !ok {
		return
	}
	shown, err := s.pastOf(r, p)
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	s.Show(w, r, http.StatusOK, "role-delete", d, site.Page{Title: "Delete " + shown.ID, Here: "/roles", Body: shown})
}

// remove deletes a role, unless something names it.
func (s room) remove(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.project(w, r)
	if !ok {
		return
	}
	shown, err := s.pastOf(r, p)
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	shown.Digest = r.PostForm.Get("digest")
	if _, err := site.AskWithin(r.Context(), s.Site, p, replayWithin, api.RolesDelete, api.RoleVersion{ID: r.PathValue("id"),
		Digest: shown.Digest, Device: d.ID}); err != nil {
		shown.Problem = "Nothing was deleted. " + text.Visible(text.Describe(err))
		s.Show(w, r, failure.Of(err).Kind.HTTP(), "role-delete", d, site.Page{Title: "Delete " + shown.ID, Here: "/roles", Body: shown})
		return
	}
	s.Tell("the role " + shown.ID + " of " + site.Name(p) + " was deleted by " + d.ID)
	site.SeeOther(w, r, "/roles?deleted="+url.QueryEscape(r.PathValue("id"))+"&project="+url.QueryEscape(site.Key(p)))
}

// history shows the versions of a role's file.
func (s room) history(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.project(w, r)
	if !ok {
		return
	}
	s.showHistory(w, r, http.StatusOK, d, p, "")
}

func (s room) showHistory(w http.ResponseWriter, r *http.Request, status int, d device.Device, p state.Paths, problem string) {
	shown, err := s.pastOf(r, p)
	if shown.Problem = problem; shown.File != "" {
		var list []api.FileVersion
		list, err = site.Ask(r.Context(), s.Site, p, api.FilesHistory, api.FilesParams{Names: []string{shown.File}})
		for _, v := range list {
			shown.Versions = append(shown.Versions, version{Number: v.Version, Time: v.Time, By: text.OneLine(v.By), InForce: v.InForce,
				Gone: v.Gone, Kept: v.Kept, Diff: site.Lines(text.Visible(v.Diff), true)})
		}
	}
	if err != nil {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	shown.File = text.OneLine(shown.File)
	s.Show(w, r, status, "role-history", d, site.Page{Title: "History of " + shown.ID, Here: "/roles", Body: shown})
}

// restore puts a former version in force again. It is a new version.
func (s room) restore(w http.ResponseWriter, r *http.Request, d device.Device) {
	p, ok := s.project(w, r)
	if !ok {
		return
	}
	shown, err := s.pastOf(r, p)
	if err != nil && shown.File == "" {
		s.Fail(w, failure.Of(err).Kind.HTTP(), err)
		return
	}
	n, _ := strconv.Atoi(r.PostForm.Get("version")) // what is no number is no version
	_, err = site.AskWithin(r.Context(), s.Site, p, replayWithin, api.RolesRestore, api.RoleRestore{File: shown.File, Version: n,
		Digest: r.PostForm.Get("digest"), Device: d.ID})
	if err != nil {
		s.showHistory(w, r, failure.Of(err).Kind.HTTP(), d, p, "Nothing was restored. "+text.Visible(text.Describe(err)))
		return
	}
	site.SeeOther(w, r, shown.Address+"?done=restored&project="+url.QueryEscape(site.Key(p)))
}
