// Package web serves the pages: what waits for a person, what is at work and what was recorded, of all projects of one user, in a
// browser.
//
// A page may do what a command of a person may do, by the same call of the node and with the same record. It reaches a node over its
// socket only. A node that ends does not end the pages, and a page that cannot reach a node changes nothing.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/audit/index"
	"mycelium/internal/node/failure"
	"mycelium/internal/state"
	"mycelium/internal/web/device"
	"mycelium/internal/web/feed"
)

// DefaultAddr is the address of the pages where nothing else is chosen.
const DefaultAddr = "127.0.0.1:3456"

// Options say whose projects are shown, and where.
type Options struct {
	Root    state.Root
	Runtime string // $XDG_RUNTIME_DIR, or ""
	Version string
	// Records returns recorded calls of a project, the newest first.
	Records func(ctx context.Context, p state.Paths, q index.Query) ([]index.Entry, error)
	Tell    func(line string) // tells the person at the terminal what happens; nil: nobody
	Now     func() time.Time  // nil: time.Now
}

// Server is the page server of one user.
type Server struct {
	o        Options
	listener net.Listener
	lock     *atomicfile.Lock // this process is the page server of the user
	addr     string           // host:port, as links name it
	port     string
	devices  *device.Book
	attempts device.Attempts
	feed     *feed.Feed
	pages    *pages
	ended    context.Context // done when the server ends: streams end then
	end      context.CancelFunc

	mu      sync.Mutex // guards what follows
	readers int        // streams that are open
	unwatch context.CancelFunc
	watched chan struct{} // closed when the watch has ended
}

// Loopback returns an error unless addr is an address of this machine itself.
func Loopback(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return failure.Usagef("web: address %q: it is HOST:PORT, for example %s", addr, DefaultAddr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return failure.Usagef("web: %q is no port: --addr and DASHBOARD_PORT want a number from 0 to 65535", port)
	}
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return nil
	}
	return failure.New(failure.Usage, fmt.Errorf("web: address %q is not one of this machine alone: the pages have no TLS, so whoever "+
		"listens on the way could answer in your name", addr),
		"listen on "+DefaultAddr+", and reach it from elsewhere by ssh -L 3456:"+DefaultAddr)
}

// Listen opens the server at an address of this machine. The caller runs or closes it. The error is [ErrRuns] if the user has one.
func Listen(ctx context.Context, addr string, o Options) (*Server, error) {
	if err := Loopback(addr); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	shown, err := parsePages()
	if err != nil {
		return nil, err
	}
	lock, err := claim(o.Root)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		_ = lock.Unlock()
		return nil, failure.Hint(fmt.Errorf("web: listen on %s: %w", addr, err),
			"another program listens there; --addr 127.0.0.1:PORT or DASHBOARD_PORT chooses another port")
	}
	s := &Server{o: o, listener: l, lock: lock, addr: l.Addr().String(), devices: device.Open(o.Root, o.Now), feed: feed.New(), pages: shown}
	_, s.port, _ = net.SplitHostPort(s.addr)
	s.ended, s.end = context.WithCancel(context.Background())
	if err := s.note(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Addr is where the server listens, as HOST:PORT.
func (s *Server) Addr() string { return s.addr }

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
	m.HandleFunc("GET /health", s.health)
	m.HandleFunc("GET /assets/{name}", asset)
	m.HandleFunc("GET /sign-in", s.signInPage)
	m.HandleFunc("POST /sign-in", s.signIn)
	m.Handle("POST /sign-out", s.signedIn(s.signOut))
	m.Handle("GET /{$}", s.signedIn(s.home))
	m.Handle("GET /inbox", s.signedIn(s.inbox))
	m.Handle("POST /inbox/{project}/{id}", s.signedIn(s.answer))
	m.Handle("GET /log", s.signedIn(s.log))
	m.Handle("GET /events", s.signedIn(s.events))
	m.Handle("GET /api/status", s.signedIn(s.apiStatus))
	m.Handle("GET /api/approvals", s.signedIn(s.apiApprovals))
	m.Handle("/", s.signedIn(func(w http.ResponseWriter, r *http.Request, _ device.Device) {
		s.fail(w, r, http.StatusNotFound, errors.New("there is no page at this address"))
	}))
	return s.guarded(http.NewCrossOriginProtection().Handler(m))
}

// ours reports whether HOST:PORT is a name of this server: a name that somebody made point here (DNS rebinding, T2) is not.
func (s *Server) ours(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil || port != s.port {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.IsLoopback()
}
