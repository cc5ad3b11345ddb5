// Package gateway is the MCP face: stdio and Streamable HTTP, revisions 2024-11-05 to 2026-07-28.
//
// It parses messages strictly, finds the session of the credential (HTTP) or of the connection (stdio), and carries answers and
// notices to the client. What a method does is in mcpserver; the access tokens of other issuers are checked in resource.
package gateway

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/gateway/resource"
	"mycelium/internal/gateway/work"
	"mycelium/internal/rpc"
)

// Options of a gateway.
type Options struct {
	Gate      *gate.Gate
	Version   string           // of the program, for serverInfo
	MaxBody   int              // bytes of one message; 0: rpc.MaxMessage
	Anonymous *session.Session // the session of loopback callers without a token; nil: they are refused
	Hosts     []string         // accepted Host names besides loopback ones
	OAuth     *resource.Config // access tokens that are accepted besides ours; nil: only ours
	Idle      time.Duration    // idle time of a legacy HTTP link; 0: 30 min
	Memory    *rpc.Memory      // for the messages of all clients; nil: a bound of its own, rpc.DefaultMemory
	Logger    *slog.Logger     // nil: discard
}

// Server serves MCP.
type Server struct {
	gate      *gate.Gate
	mcp       *mcpserver.Server
	oauth     *resource.Server // nil: only our own tokens are accepted
	anonymous atomic.Pointer[session.Session]
	hosts     hosts
	maxBody   int
	idle      time.Duration
	log       *slog.Logger
	buffers   sync.Pool
	work      *work.Group // links and requests that outlive their HTTP exchange
	memory    *rpc.Memory
	places    places
	links     links
}

// defaultIdle is how long a legacy HTTP link may be unused.
const defaultIdle = 30 * time.Minute

// The surfaces, for the record.
const (
	surfaceStdio = "mcp-stdio"
	surfaceHTTP  = "mcp-http"
)

// New makes a server.
func New(o Options) *Server {
	s := &Server{
		gate: o.Gate, maxBody: o.MaxBody, idle: o.Idle, log: o.Logger, hosts: hosts{},
		work: work.New(), memory: o.Memory,
	}
	s.anonymous.Store(o.Anonymous)
	if s.memory == nil {
		s.memory = rpc.NewMemory(rpc.DefaultMemory)
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
		s.hosts.add(h)
	}
	if o.OAuth != nil {
		s.oauth = resource.New(*o.OAuth, o.Gate, s.log)
		s.hosts.add(s.oauth.Host())
	}
	s.mcp = mcpserver.New(o.Gate, o.Version, s.work, s.log)
	s.buffers.New = func() any { return new([]byte) }
	return s
}

// Close ends all links. It returns when every goroutine of the server has returned.
func (s *Server) Close() {
	s.work.Close()
	if s.oauth != nil {
		s.oauth.Close()
	}
}

// Handler serves Streamable HTTP at the path where it is mounted.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

// Metadata serves the protected-resource metadata (see [resource.Server.ServeHTTP]). Without OAuth there is none.
func (s *Server) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.hosts.accept(r):
			fail(w, http.StatusForbidden, nil, errHost)
		case s.oauth == nil:
			http.NotFound(w, r)
		default:
			s.oauth.ServeHTTP(w, r)
		}
	})
}

// Local passes on the requests whose Host and Origin are accepted, for handlers that are served beside the gateway.
func (s *Server) Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hosts.accept(r) {
			http.Error(w, "this Host or Origin may not be used here (server.hosts)", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
