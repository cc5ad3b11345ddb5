package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

//go:embed pages/*.html
var pageFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// pages are the templates. html/template writes every value as text for the place where it stands: in an element, an attribute or an
// address.
type pages struct{ t *template.Template }

// page is what a template shows.
type page struct {
	Title  string
	Here   string // the address of the page in the navigation, "/inbox"
	Live   string // the events after which the main part is loaded anew; "": none
	Query  string // of the address, with its question mark; "": none
	Last   string // the newest event when the page was made
	Device *device.Device
	Body   any
}

func parsePages() (*pages, error) {
	t, err := template.New("").Funcs(template.FuncMap{
		"when": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"iso":  func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"join": strings.Join,
	}).ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("web: read the pages: %w", err)
	}
	return &pages{t}, nil
}

// write sends a page whole, or says that it cannot be made.
func (p *pages) write(w http.ResponseWriter, status int, name string, data page) {
	var b bytes.Buffer
	if err := p.t.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "this page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// What nobody sees on a page stands as its number, wherever it comes from.
	_, _ = w.Write([]byte(text.Visible(b.String()))) // a browser that has gone reads nothing
}

// show sends a page to a device that is signed in.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, name string, d device.Device, data page) {
	data.Device, data.Last = &d, s.feed.Last()
	if r.URL.RawQuery != "" && r.Method == http.MethodGet {
		data.Query = "?" + r.URL.Query().Encode()
	}
	s.pages.write(w, status, name, data)
}

// fail sends the page of an error.
func (s *Server) fail(w http.ResponseWriter, _ *http.Request, status int, err error) {
	s.pages.write(w, status, "problem", page{Title: http.StatusText(status), Body: text.Visible(text.Describe(err))})
}

// mediaType is the type of an asset; "" for a name that is none.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return ""
}

// asset sends a file that pages load.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	b, err := assetFiles.ReadFile("assets/" + name)
	kind := mediaType(name)
	if err != nil || kind == "" {
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(b) // #nosec G705 -- an embedded file; a browser that has gone reads nothing
}

// seconds is a duration in whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }
