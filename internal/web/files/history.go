package files

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"mycelium/internal/node/api"
	"mycelium/internal/text"
	"mycelium/internal/web/device"
	"mycelium/internal/web/site"
)

var errProject = errors.New("there is no such project")

// version is a version of a file in the history.
type version struct {
	File          string
	Version       int
	Time          time.Time
	By            string
	InForce, Gone bool
	Lines         []site.Line
	Restore       string // the address of the editor with it; "": it is in force, or not kept
}

// historyList is what /history shows.
type historyList struct {
	head
	File     string // "": all files
	Edit     string
	Versions []version
}

// history shows which versions of files were in force, the newest first, with what each changed.
func (s room) history(w http.ResponseWriter, r *http.Request, d device.Device) {
	h, p, ok := s.project(r, "/history")
	body := historyList{head: h}
	if ok {
		var params api.FilesParams
		if name := r.URL.Query().Get("file"); name != "" {
			params.Names, body.File, body.Edit = []string{name}, text.OneLine(name), editAt(h.Key, name)
		}
		list, err := ask(r.Context(), s, p, api.FilesHistory, params)
		if err != nil {
			body.Problem = text.Visible(text.Describe(err))
		}
		for _, v := range list {
			body.Versions = append(body.Versions, versionOf(h.Key, v))
		}
	}
	s.Show(w, r, http.StatusOK, "history", d, site.Page{Title: "History", Here: "/rules", Files: assets, Body: body})
}

// versionOf is what a page shows of a version.
func versionOf(key string, v api.FileVersion) version {
	out := version{File: text.OneLine(v.Name), Version: v.Version, Time: v.Time, By: text.OneLine(v.By), InForce: v.InForce, Gone: v.Gone,
		Lines: site.Lines(text.Visible(v.Diff), true)}
	if v.Kept && !v.InForce {
		out.Restore = "/edit?" + url.Values{"project": {key}, "file": {v.Name}, "version": {strconv.Itoa(v.Version)}}.Encode()
	}
	return out
}
