package proxy

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"

	"mycelium/internal/text"
)

// serveHTTP answers the requests of one connection until it is closed or taken over.
func serveHTTP(conn net.Conn, h http.Handler) {
	done := make(chan struct{})
	end := sync.OnceFunc(func() { close(done) })
	var taken sync.WaitGroup
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			taken.Add(1) // a handler that takes the connection over is waited for
			defer taken.Done()
			h.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: headerTime, IdleTimeout: headerTime, MaxHeaderBytes: maxHeader,
		ErrorLog: quiet(),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed || state == http.StateHijacked {
				end()
			}
		},
	}
	_ = s.Serve(&single{conn: conn, done: done})
	taken.Wait()
}

// quiet is a log that nobody reads: what goes wrong with a connection is the command's to say.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// single is a listener that has one connection.
type single struct {
	conn net.Conn
	done <-chan struct{}
}

// Accept returns the connection once, and waits for its end the second time.
func (s *single) Accept() (net.Conn, error) {
	if c := s.conn; c != nil {
		s.conn = nil
		return c, nil
	}
	<-s.done
	return nil, net.ErrClosed
}

// Close does nothing: the connection has its own end.
func (s *single) Close() error { return nil }

// Addr is nobody's.
func (s *single) Addr() net.Addr { return &net.TCPAddr{} }

// plain answers a request to the proxy itself: CONNECT, or one whose URL names a host.
func (p *Proxy) plain(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodConnect:
		t, err := parseTarget(r.Host, httpsPort)
		if err != nil {
			p.say(w, p.refuse(text.Visible(r.Host), err.Error()))
			return
		}
		p.connect(w, r, t)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		t, err := parseTarget(r.URL.Host, httpPort)
		if err != nil {
			p.say(w, p.refuse(text.Visible(r.URL.Host), err.Error()))
			return
		}
		p.forward(w, r, "http", t)
	default:
		http.Error(w, "Mycelium: this is the proxy of the sandbox: the request must name a host (http://HOST/…), or be CONNECT",
			http.StatusBadRequest)
	}
}

// connect opens a tunnel.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request, t target) {
	up, err := p.openTunnel(r, t)
	if err != nil {
		p.say(w, err)
		return
	}
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, buf, err := h.Hijack()
	if err != nil {
		closeAll(up)
		return
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		closeAll(up)
		return
	}
	p.tunnel(buffered{conn, buf.Reader}, up, t)
}

// forward sends a request to its host, and the answer back. What leaves names the host of the URL, whatever the header Host said (RFC 9112,
// section 3.2.2). A redirect is an answer as every other: the command asks anew, and that is decided anew.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, scheme string, t target) {
	if p.isRegistry(t) {
		p.say(w, p.refuse(t.String(), "packages are fetched from a registry over TLS"))
		return
	}
	if err := p.allows(t); err != nil {
		p.say(w, err)
		return
	}
	masks := p.masksFor(t, scheme)
	to := &httputil.ReverseProxy{
		Transport:     p.transport,
		FlushInterval: -1, // events are passed on when they come
		ErrorLog:      quiet(),
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.URL.User, pr.Out.Host = scheme, t.String(), nil, t.header(scheme)
			unmask(pr.Out.Header, masks)
		},
		ModifyResponse: func(answer *http.Response) error { return hide(answer, masks) },
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, err error) { p.say(w, err) },
	}
	to.ServeHTTP(w, r)
}

// header is the value of the header Host: without the port where it is the scheme's own.
func (t target) header(scheme string) string {
	if scheme == "http" && t.port == httpPort || scheme == "https" && t.port == httpsPort {
		if t.addr.Is6() {
			return "[" + t.name + "]"
		}
		return t.name
	}
	return t.String()
}

// say tells the command why there is no answer.
func (p *Proxy) say(w http.ResponseWriter, err error) {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		http.Error(w, "Mycelium: "+text.Visible(err.Error()), http.StatusBadGateway)
		return
	}
	http.Error(w, p.words(refusal), http.StatusForbidden)
}

// words are a refusal, and what can be done.
func (p *Proxy) words(r *Refusal) string { return fmt.Sprintf("Mycelium: %s. %s", r, p.asks) }

// inTunnel answers the requests inside of a tunnel, which are for the tunnel's host only.
func (p *Proxy) inTunnel(scheme string, t target) http.Handler {
	port := uint16(httpPort)
	if scheme == "https" {
		port = httpsPort
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := parseTarget(r.Host, port)
		if err != nil || asked != t || r.URL.Host != "" && r.URL.Host != r.Host || r.Method == http.MethodConnect {
			p.say(w, p.refuse(text.Visible(r.Host), "the tunnel is to "+t.String()))
			return
		}
		if scheme == "https" && p.isRegistry(t) {
			p.fetch(w, r, t)
			return
		}
		p.forward(w, r, scheme, t)
	})
}
