// Package gateway is the MCP face: stdio and Streamable HTTP, revisions 2024-11-05 to 2026-07-28, one serve function for all.
//
// It decides nothing. A message is parsed strictly, its session follows from the credential (HTTP) or the connection (stdio),
// and every use of a tool, resource or prompt goes through the gate as raw bytes and comes back as raw bytes. What is different
// from one revision to another is in the links (where answers and notices go) and in the few places that ask for the era.
package gateway

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/rpc"
)

// Options of a gateway.
type Options struct {
	Gate      *gate.Gate
	Version   string        // of the program, for serverInfo
	MaxBody   int           // bytes of one message; 0: rpc.MaxMessage
	Anonymous *gate.Session // the session of loopback callers without a token; nil: refused
	Hosts     []string      // further Host names that are accepted, besides loopback ones
	OAuth     *OAuth        // whose access tokens are taken besides ours; nil: nobody's
	Idle      time.Duration // idle time of a legacy HTTP link; 0: 30 min
	Logger    *slog.Logger  // nil: discard
}

// Server serves MCP.
type Server struct {
	gate      *gate.Gate
	anonymous *gate.Session
	hosts     map[string]bool
	version   string
	maxBody   int
	idle      time.Duration
	log       *slog.Logger
	seal      []byte // key of the list cursors
	oauth     *resource
	idles     func() // closes the connections to issuers that nobody uses
	sealer    sealer
	buffers   sync.Pool

	ctx   context.Context // ends with Close
	close context.CancelFunc
	work  sync.WaitGroup // links and what outlives its HTTP request

	mu      sync.Mutex
	links   map[string]*httpLink // legacy HTTP links by id
	parked  map[string]*parked   // calls that wait for a retry, by id
	waiting map[string]int       // how many of them, by session
}

// defaultIdle is how long a legacy HTTP link may be unused.
const defaultIdle = 30 * time.Minute

// New makes a server.
func New(o Options) *Server {
	s := &Server{
		gate: o.Gate, anonymous: o.Anonymous, version: o.Version, maxBody: o.MaxBody, idle: o.Idle, log: o.Logger,
		hosts: map[string]bool{}, seal: make([]byte, 32), sealer: newSealer(), links: map[string]*httpLink{},
		parked: map[string]*parked{}, waiting: map[string]int{},
	}
	if s.maxBody <= 0 {
		s.maxBody = rpc.MaxMessage
	}
	if s.idle <= 0 {
		s.idle = defaultIdle
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	for _, h := range o.Hosts {
		s.hosts[canonicalHost(h)] = true
	}
	_, _ = rand.Read(s.seal) // never fails
	s.idles = func() {}
	if o.OAuth != nil {
		s.oauth = s.newResource(*o.OAuth)
	}
	s.buffers.New = func() any { return new([]byte) }
	s.ctx, s.close = context.WithCancel(context.Background())
	return s
}

// Close ends all links, and returns when everything that they started is gone.
func (s *Server) Close() {
	s.mu.Lock()
	s.close()
	s.mu.Unlock()
	s.work.Wait()
	s.idles()
}

// start runs f in a goroutine that Close waits for; false: the server is closed.
func (s *Server) start(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.work.Go(f)
	return true
}
