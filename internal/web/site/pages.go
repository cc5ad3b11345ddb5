package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"mycelium/internal/text"
	"mycelium/internal/web/device"
)

//go:embed pages/*.html
var frame embed.FS

//go:embed assets
var assetFiles embed.FS

// Page is what a template shows.
type Page struct {
	Title string
	Here  string // the address of the page in the navigation, "/inbox"
	// Include are the fields, as a selector, whose values are sent when the main part is loaded anew; "": none. Some must be there.
	Include string
	Self    string   // the address of the page itself, where it is another one than Here
	Live    string   // the events after which the main part is loaded anew, "sse:inbox, sse:resync"; "": none
	Files   []string // names of assets that only this page loads, scripts and sheets
	Body    any      // what the template of the room shows
	Query   string   // of the address, with its question mark; "": none
	Last    string   // the newest event when the page was made
	Nav     []Link
	Device  *device.Device // nil: nobody is signed in
}

// Scripts are the scripts that only this page loads.
func (p Page) Scripts() []string { return p.ending(".js") }

// Sheets are the sheets of style that only this page loads.
func (p Page) Sheets() []string { return p.ending(".css") }

func (p Page) ending(with string) (out []string) {
	for _, name := range p.Files {
		if path.Ext(name) == with {
			out = append(out, name)
		}
	}
	return out
}

// parse reads the templates. html/template writes every value as text for the place where it stands: in an element, an attribute or an
// address.
func parse(files []fs.FS) (*template.Template, error) {
	t := template.New("").Funcs(template.FuncMap{
		"when": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		// As wide as what a browser writes in its place, so that lines do not move.
		"minute": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"iso":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"join":   strings.Join,
	})
	for _, f := range files {
		if _, err := t.ParseFS(f, "pages/*.html"); err != nil {
			return nil, fmt.Errorf("web: read the pages: %w", err)
		}
	}
	return t, nil
}

// Write sends a page whole, or says that it cannot be made. It is for pages without a device; the others use [Site.Show].
func (s *Site) Write(w http.ResponseWriter, status int, name string, data Page) {
	var b bytes.Buffer
	data.Nav = s.nav
	if err := s.pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "this page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// What nobody sees on a page stands as its number, wherever it comes from.
	_, _ = w.Write([]byte(text.Visible(b.String()))) // a browser that has gone reads nothing
}

// Show sends a page to a device that is signed in.
func (s *Site) Show(w http.ResponseWriter, r *http.Request, status int, name string, d device.Device, data Page) {
	data.Device, data.Last = &d, s.Feed.Last()
	if r.URL.RawQuery != "" && r.Method == http.MethodGet {
		data.Query = "?" + r.URL.Query().Encode()
	}
	s.Write(w, status, name, data)
}

// Fail sends the page of an error.
func (s *Site) Fail(w http.ResponseWriter, status int, err error) {
	s.Write(w, status, "problem", Page{Title: http.StatusText(status), Body: text.Visible(text.Describe(err))})
}

// The headers by which a page sends a form by a script, and learns which page comes after it.
const (
	formHeader     = "Page-Form"
	locationHeader = "Page-Location"
)

// IsForm reports whether a page sent a form by a script, and wants to know which page comes after it.
func IsForm(r *http.Request) bool { return r.Header.Get(formHeader) != "" }

// SeeOther answers a form with the page that comes after it.
func SeeOther(w http.ResponseWriter, r *http.Request, to string) {
	if IsForm(r) { // a script that followed a redirect would send the next request unsigned
		w.Header().Set(locationHeader, to)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
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
	case ".png":
		return "image/png"
	case ".html":
		return "text/html; charset=utf-8"
	case ".webmanifest":
		return "application/manifest+json"
	}
	return ""
}

// Asset sends a file that pages load.
func Asset(w http.ResponseWriter, r *http.Request) {
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
