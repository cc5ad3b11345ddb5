// Package httpserver makes the HTTP servers of this program. They bound what a client may leave unsaid and how many connections there are,
// and keep descriptors back for everything else: the socket of commands, servers, files.
package httpserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// The deadlines of a connection. A request that is served has none: streams, and calls that wait for an approval, may take as long as
// they like.
const (
	headerTime  = 10 * time.Second // for the header of a request
	bodyTime    = 30 * time.Second // for its body
	idleTime    = 2 * time.Minute  // between two requests
	refusedTime = time.Second      // for the rest of the body of a request that was answered without it
	stallTime   = 30 * time.Second // for a client to take the next writePart of an answer
)

// maxHeader bounds the header of a request, in bytes. Ours need a few hundred; the token of an issuer may have some KiB.
const maxHeader = 64 << 10

// writePart is how many bytes are written under one deadline.
const writePart = 256 << 10

// Server is an [http.Server] with bounds. Make it with [New].
type Server struct {
	*http.Server
	conns conns
}

// New makes a server of a handler. most bounds its connections; 0: the bound of a process that has one such server.
func New(h http.Handler, most int, logger *slog.Logger) *Server {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if most <= 0 {
		most = defaultMost()
	}
	s := &Server{conns: conns{most: most, byAddress: map[string]*address{}}}
	s.Server = &http.Server{
		Handler: serving{h}, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog:    slog.NewLogLogger(logger.Handler(), slog.LevelDebug), // of strangers' mistakes: they could fill the log
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	return s
}

// Serve serves a listener until the server is closed. It always returns an error, as [http.Server.Serve] does.
func (s *Server) Serve(l net.Listener) error { return s.Server.Serve(&listener{l, &s.conns}) }

// Shutdown closes the connections whose clients we wait for, and then does as [http.Server.Shutdown], which waits for those that are
// served. A connection that said nothing so far would keep that one waiting.
func (s *Server) Shutdown(ctx context.Context) error {
	s.conns.close()
	return s.Server.Shutdown(ctx)
}

// connKey is the key of the connection in a request's context: net/http leads a handler to its connection in no other way.
type connKey struct{}

// serving notes for each request whether we wait for its client: until its body has come, and again when it is answered.
type serving struct{ http.Handler }

func (s serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok { // the recorder of a test
		s.Handler.ServeHTTP(w, r)
		return
	}
	if r.Body == nil || r.Body == http.NoBody {
		c.conns.busy(c)
	} else {
		_ = c.SetReadDeadline(time.Now().Add(bodyTime))
		b := &body{ReadCloser: r.Body, conn: c}
		r.Body = b
		defer b.answered()
	}
	defer c.conns.silent(c)
	s.Handler.ServeHTTP(w, r)
}

// body is the body of a request. When it has come, the connection has no deadline any more.
type body struct {
	io.ReadCloser
	conn *conn

	mu    sync.Mutex
	whole bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // net/http returns it as it is
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.whole {
			b.whole = true
			b.conn.conns.busy(b.conn)
			_ = b.conn.SetReadDeadline(time.Time{})
		}
	}
	return n, err
}

// answered limits how long net/http waits for a body that the handler did not want.
func (b *body) answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.whole {
		_ = b.conn.SetReadDeadline(time.Now().Add(refusedTime))
	}
}
