// Package web serves the pages: what waits for a person, what is at work and what was recorded, of all projects of one user, in a
// browser.
//
// A page may do what a command of a person may do, by the same call of the node and with the same record. It reaches a node over its
// socket only. A node that ends does not end the pages, and a page that cannot reach a node changes nothing.
package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/config/pages"
	"mycelium/internal/text"
	"mycelium/internal/web/certificate"
	"mycelium/internal/web/charts"
	"mycelium/internal/web/device"
	"mycelium/internal/web/files"
	"mycelium/internal/web/inbox"
	"mycelium/internal/web/logs"
	"mycelium/internal/web/passkey"
	"mycelium/internal/web/push"
	"mycelium/internal/web/rest"
	"mycelium/internal/web/roles"
	"mycelium/internal/web/served"
	"mycelium/internal/web/signature"
	"mycelium/internal/web/site"
	"mycelium/internal/web/swarm"
	"mycelium/internal/web/timeline"
	"mycelium/internal/web/tools"
	"mycelium/internal/web/why"
	"mycelium/internal/web/work"
)

// DefaultAddr is the address of the pages where nothing else is chosen.
const DefaultAddr = "127.0.0.1:3456"

// rooms are the parts of the pages, in the order of the navigation.
func rooms() []site.Room {
	return []site.Room{
		inbox.Room(),
		work.Room(),
		swarm.Room(),
		charts.Room(),
		logs.Room(),
		timeline.Room(),
		roles.Room(),
		tools.Room(),
		files.Room(),
		why.Room(),
		rest.Room(),
		push.Room(),
		passkey.Room(),
		{Pages: pageFiles},
	}
}

//go:embed pages/*.html
var pageFiles embed.FS

// Server is the page server of one user.
type Server struct {
	access
	site     *site.Site
	rooms    []site.Room
	listener net.Listener
	lock     *atomicfile.Lock // this process is the page server of the user
	addr     string           // host:port, as links name it
	port     string
	since    time.Time
	auto     bool // a daemon started it
	devices  *device.Book
	attempts device.Attempts
	checker  signature.Checker
	ended    context.Context // done when the server ends: streams end then
	end      context.CancelFunc

	mu      sync.Mutex // guards what follows
	readers int        // streams that are open
	unwatch context.CancelFunc
	watched chan struct{} // closed when the watch has ended
}

// Open opens the server as the user's file says. The caller runs or closes it. The error is [ErrRuns] if the user has one.
func Open(ctx context.Context, conf pages.Section, o site.Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.NoPush = o.NoPush || !conf.Pushes()
	a, err := accessOf(conf, o)
	if err != nil {
		return nil, err
	}
	all := rooms()
	shown, err := site.New(o, all)
	if err != nil {
		return nil, err
	}
	lock, err := served.Claim(o.Root)
	if err != nil {
		return nil, err
	}
	l, err := a.listen(ctx)
	if err != nil {
		_ = served.Write(o.Root, served.Note{Addr: conf.Addr, Since: o.Now(), Problem: text.Describe(err)}) // what failed counts
		_ = lock.Unlock()
		return nil, err
	}
	s := &Server{access: a, site: shown, rooms: all, listener: l, lock: lock, addr: l.Addr().String(), since: o.Now().UTC(),
		devices: device.Open(o.Root, shown.Now)}
	_, s.port, _ = net.SplitHostPort(s.addr)
	s.ended, s.end = context.WithCancel(context.Background())
	shown.Ended, shown.StillIn = s.ended.Done(), s.stillIn
	s.checker = signature.Checker{Run: signature.NewRun(), Now: shown.Now, Key: func(id string) ([]byte, error) {
		d, err := s.devices.Find(id)
		return d.Key, err
	}}
	if err := served.Write(o.Root, s.Note()); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Note is what the server says of itself to the commands of its user.
func (s *Server) Note() served.Note {
	n := served.Note{Addr: s.addr, Since: s.since, Auto: s.auto}
	scheme, host := "http", s.local
	if s.cert != nil {
		scheme, n.Fingerprint = "https", certificate.Fingerprint(s.cert.Now())
	}
	switch ip, err := netip.ParseAddrPort(s.addr); {
	case err == nil && !ip.Addr().IsUnspecified() && !ip.Addr().IsLoopback():
		host = ip.Addr().String()
	case s.cert != nil && s.conf.Cert != pages.OwnCertificate: // a certificate of others has no name of ours
		host = "127.0.0.1"
	}
	n.Base = scheme + "://" + net.JoinHostPort(host, s.port)
	n.Phone = s.phone()
	if s.cert == nil && s.beyond && host != s.local && n.Phone != "" { // an address of this machine to which only the proxy may come
		n.Base = n.Phone
	}
	return n
}

// Close closes a server that does not run.
func (s *Server) Close() {
	s.end()
	_ = s.listener.Close()
	_ = s.lock.Unlock()
}

// Run serves until ctx is done.
func (s *Server) Run(ctx context.Context) error {
	defer s.Close()
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout:    2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)} // it would only tell what a client did wrong
	var beside sync.WaitGroup
	for _, room := range s.rooms {
		if room.Run != nil {
			beside.Go(func() { room.Run(s.ended, s.site) })
		}
	}
	defer beside.Wait()
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()
	var err error
	select {
	case err = <-served:
		s.end()
	case <-ctx.Done():
		s.end() // the streams end, so that Shutdown does not wait for them
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if server.Shutdown(late) != nil {
			_ = server.Close()
		}
		err = <-served
	}
	s.mu.Lock()
	watched := s.watched
	s.mu.Unlock()
	if watched != nil {
		<-watched
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("web: serve: %w", err)
}

// Handler serves every route.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET /assets/{name}", site.Asset)
	m.HandleFunc("GET /sign-in", s.shell)
	m.HandleFunc("GET /P/{link...}", s.shell) // the link of a picture: in its path, because a picture of capitals is smaller
	m.HandleFunc("POST /sign-in", s.signIn)
	m.Handle("POST /sign-out", s.signedIn(s.signOut))
	m.Handle("GET /events", s.signedIn(s.events))
	routes := s.routes()
	for _, route := range append(routes, s.document(routes)...) {
		if route.Open || route.API != nil && route.API.Open {
			m.HandleFunc(route.Pattern, func(w http.ResponseWriter, r *http.Request) { route.Serve(w, r, device.Device{}) })
			continue
		}
		m.Handle(route.Pattern, s.signedIn(route.Serve))
	}
	m.Handle("/api/", s.signedIn(noOperation(m)))
	m.Handle("/", s.signedIn(func(w http.ResponseWriter, _ *http.Request, _ device.Device) {
		s.site.Fail(w, http.StatusNotFound, errors.New("there is no page at this address"))
	}))
	return s.guarded(compressed(http.NewCrossOriginProtection().Handler(m)))
}
