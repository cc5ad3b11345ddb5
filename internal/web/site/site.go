// Package site is what all rooms of the pages stand on: the frame and the files that every page loads, the projects of the user and the
// calls of their nodes, and how a page is shown. A room has its own templates and routes, and knows no other room.
package site

import (
	"context"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	"mycelium/internal/audit/index"
	"mycelium/internal/config"
	"mycelium/internal/node/api"
	"mycelium/internal/op/rest"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/feed"
)

// Options say whose projects are shown.
type Options struct {
	Root    state.Root
	Runtime string // $XDG_RUNTIME_DIR, or ""
	Version string
	// Records returns recorded calls of a project, the newest first.
	Records func(ctx context.Context, p state.Paths, q index.Query) ([]index.Entry, error)
	// Record writes into the log of the user what a browser did that is of no project: act is what its arguments say. nil: it is not recorded.
	Record func(ctx context.Context, act any, note string) error
	Tell   func(line string) // tells the person at the terminal what happens; nil: nobody
	Now    func() time.Time  // nil: time.Now
	NoPush bool              // no browser is sent notifications
	// PushHosts are push services, as HOST:PORT, that may be on this machine or in its network, and without TLS on this machine: for tests.
	PushHosts []string
	// Index calls f with the index of the log of a project; f does not keep it.
	Index func(ctx context.Context, p state.Paths, f func(*index.Index) error) error
	// Load reads the files of a project, as a command in its folder does.
	Load    func(p state.Paths) (*config.Project, error)
	Environ []string // of this process, for a driver of the swarm that a page starts
}

// Site is the pages of one user, without the server that sends them.
type Site struct {
	Options
	Feed *feed.Feed // what changes, for the pages that are open
	// Demands refuses an answer to a request that needs more than the key of a device; nil: none does. [Ask] calls it before each.
	Demands func(ctx context.Context, p state.Paths, a api.Answer) error
	// Ended is closed when the server ends: streams end then. nil: it does not end.
	Ended <-chan struct{}
	// StillIn reports whether a device is signed in. A stream asks now and then.
	StillIn func(d device.Device) bool
	nav     []Link
	pages   *template.Template
}

// MaxForm bounds a form, in bytes.
const MaxForm = rest.MaxBody

// Handler serves a request of a device that is signed in.
type Handler func(w http.ResponseWriter, r *http.Request, d device.Device)

// Route is an address of a room, as a pattern of [http.ServeMux], for devices that are signed in.
type Route struct {
	Pattern string
	Serve   Handler
	Open    bool            // for everybody: it shows nothing of a person, and the device is the zero value
	API     *rest.Operation // of an operation of the API, see [Operation]; nil: a page
}

// Link is a page in the navigation. Count is the address of how many things wait there, which is shown beside it; "": nothing is.
type Link struct{ Href, Text, Count string }

// Room is a part of the pages.
type Room struct {
	Pages  fs.FS // its templates, pages/*.html
	Nav    []Link
	Routes func(*Site) []Route
	Run    func(ctx context.Context, s *Site) // what it does beside its pages, until ctx is done; nil: nothing
	// Watch publishes what changes to the feed, until ctx is done. It runs while somebody looks. nil: there is nothing to watch.
	Watch func(ctx context.Context, s *Site)
}

// New returns the site with the templates of the rooms.
func New(o Options, rooms []Room) (*Site, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	s := &Site{Options: o, Feed: feed.New(), StillIn: func(device.Device) bool { return true }}
	files := []fs.FS{frame}
	for _, r := range rooms {
		s.nav = append(s.nav, r.Nav...)
		if r.Pages != nil {
			files = append(files, r.Pages)
		}
	}
	var err error
	s.pages, err = parse(files)
	return s, err
}
