package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The headers of Streamable HTTP.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerLast    = "Last-Event-ID"
)

// Handler serves Streamable HTTP at the path where it is mounted.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.local(r) {
		fail(w, http.StatusForbidden, nil, invalidRequest("this Host or Origin may not use the gateway; add it to the accepted hosts if it should"))
		return
	}
	switch r.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		fail(w, http.StatusMethodNotAllowed, nil, invalidRequest("use POST, GET or DELETE"))
		return
	}
	if r.Method == http.MethodPost && !isJSON(r.Header) {
		fail(w, http.StatusUnsupportedMediaType, nil, invalidRequest("Content-Type must be application/json, without a content encoding"))
		return
	}
	who, err := s.authenticate(r)
	if err != nil {
		s.unauthorized(w, r, err)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r, who)
	case http.MethodGet:
		ctx, cancel := who.bound(r.Context())
		defer cancel()
		s.get(w, r.WithContext(ctx), who)
	default:
		s.delete(w, r, who)
	}
}

// fail answers with a status and a JSON-RPC error.
func fail(w http.ResponseWriter, status int, id []byte, e *rpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(refuse(id, e).Append(nil)) // #nosec G705 -- JSON, and said to be nothing else
}

// local reports whether Host and Origin are ours: a page of another site cannot reach us under its own name (DNS rebinding, T2),
// nor a script of it under ours.
func (s *Server) local(r *http.Request) bool {
	if !s.knownHost(r.Host) {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !s.knownHost(u.Host) {
			return false
		}
	}
	return true
}

func (s *Server) knownHost(hostport string) bool {
	host := canonicalHost(hostport)
	if s.hosts[host] {
		return true
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if s.hosts[host] || host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func canonicalHost(h string) string {
	return strings.TrimSuffix(strings.ToLower(strings.TrimSpace(h)), ".")
}

func isJSON(h http.Header) bool {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	encoding := h.Get("Content-Encoding")
	return err == nil && media == "application/json" && (encoding == "" || strings.EqualFold(encoding, "identity"))
}

// caller is who sent an HTTP request.
type caller struct {
	session    *gate.Session
	credential [sha256.Size]byte // hash of the token, or of who holds one; of nothing for the anonymous session
	until      time.Time         // when a token that is not ours expires; zero: with the session
}

// authenticate finds the session. A token that is not good is never taken for none.
func (s *Server) authenticate(r *http.Request) (caller, error) {
	if len(r.Header.Values("Authorization")) > 1 {
		return caller{}, errors.New("more than one Authorization header")
	}
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		token = strings.TrimSpace(token)
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			return caller{}, errors.New("the Authorization header must be: Bearer TOKEN")
		}
		if s.oauth != nil && !gate.OurToken(token) {
			return s.join(r.Context(), token)
		}
		sess, err := s.gate.Authenticate(r.Context(), token)
		if err != nil {
			return caller{}, err
		}
		return caller{session: sess, credential: sha256.Sum256([]byte(token))}, nil
	}
	if s.anonymous == nil || !fromHere(r) {
		return caller{}, errors.New("a token is needed: Authorization: Bearer TOKEN")
	}
	select {
	case <-s.anonymous.Done():
		return caller{}, errEnded
	default:
		return caller{session: s.anonymous}, nil
	}
}

// Local lets the requests through whose Host and Origin are ours: for what else is served beside the gateway.
func (s *Server) Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.local(r) {
			http.Error(w, "this Host or Origin may not be used here (server.hosts)", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// FromHere reports whether a request comes from this machine itself, not through a proxy on it.
func FromHere(r *http.Request) bool { return fromHere(r) }

// fromHere reports whether the request comes from this machine itself, not through a proxy on it: a proxy says so in a header, or
// passes on the name that its own clients asked for.
func fromHere(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	host := canonicalHost(r.Host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return err == nil && loopbackHost(host) && addr.Addr().Unmap().IsLoopback() && r.Header.Get("Forwarded") == "" && r.Header.Get("X-Forwarded-For") == ""
}

// accept is what a client can read.
type accept struct {
	json, events bool
	eventsFirst  bool // it reads both, and named events first
}

// accepts reads the Accept header. The revisions demand both types; without the header, or with only one, we make do.
func accepts(h http.Header) accept {
	values := h.Values("Accept")
	if len(values) == 0 {
		return accept{json: true, events: true}
	}
	var a accept
	for _, part := range strings.Split(strings.Join(values, ","), ",") {
		media, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
		case "application/json", "application/*":
			a.json = true
		case "text/event-stream", "text/*":
			a.eventsFirst = !a.json
			a.events = true
		case "*/*":
			return accept{json: true, events: true}
		}
	}
	return a
}

// body reads the request body; false: it was refused.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if r.ContentLength > int64(s.maxBody) {
		w.Header().Set("Connection", "close") // the rest is not read
		fail(w, http.StatusRequestEntityTooLarge, nil, tooLarge(s.maxBody))
		return nil, false
	}
	r.Body = http.MaxBytesReader(w, r.Body, int64(s.maxBody))
	var b []byte
	var err error
	if r.ContentLength > 0 {
		b = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, b)
	} else {
		b, err = io.ReadAll(r.Body)
	}
	var over *http.MaxBytesError
	if errors.As(err, &over) {
		fail(w, http.StatusRequestEntityTooLarge, nil, tooLarge(s.maxBody))
		return nil, false
	}
	if err != nil {
		fail(w, http.StatusBadRequest, nil, &rpc.Error{Code: rpc.CodeParse, Message: "parse error: the body ended early"})
		return nil, false
	}
	return b, true
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, who caller) {
	a := accepts(r.Header)
	if !a.json && !a.events {
		fail(w, http.StatusNotAcceptable, nil, invalidRequest("Accept must allow application/json and text/event-stream"))
		return
	}
	b, ok := s.body(w, r)
	if !ok {
		return
	}
	m, bad := rpc.Parse(b)
	if bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	if version, modern := metaOf(m); modern && m.IsRequest() {
		s.postModern(w, r, who, m, version, a)
		return
	}
	if header := r.Header.Get(headerVersion); header >= v20260728 {
		if m.IsRequest() {
			fail(w, http.StatusBadRequest, m.ID, invalidParams(`_meta needs "`+metaVersion+`", as the `+headerVersion+` header says `+fmt.Sprintf("%q", header)))
			return
		}
		// A notification of the modern era changes nothing: to cancel, the client closes the stream.
		w.WriteHeader(http.StatusAccepted)
		return
	} else if header != "" && !legacy(header) {
		fail(w, http.StatusBadRequest, m.ID, unsupported(header))
		return
	}
	s.postLegacy(w, r, who, m, a)
}

// postModern serves a request of the modern era: the POST is the whole link.
func (s *Server) postModern(w http.ResponseWriter, r *http.Request, who caller, m rpc.Message, version string, a accept) {
	if bad := checkHeaders(r.Header, m, version); bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	if bad := checkModern(m, version); bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	if bad := s.checkParams(who.session, r.Header, m); bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	l := link{client: modernClient(who.session, surfaceHTTP, m)}
	listen := m.Method == "subscriptions/listen"
	if listen {
		var over context.CancelFunc
		ctx, over = who.bound(ctx)
		defer over()
	}
	if listen && !a.events {
		fail(w, http.StatusNotAcceptable, m.ID, invalidRequest("Accept must allow text/event-stream"))
		return
	}
	if !a.events || !listen && l.wants(m) == nil {
		reply, ok := s.serve(ctx, l, m)
		if !ok {
			reply = gone(m.ID)
		}
		s.answer(w, reply, a, statusOf(reply))
		return
	}
	t := newStream("")
	l.notice = t.notice
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.serveStream(ctx, l, m, t)
	}()
	s.follow(r.Context(), w, t, a, true)
	cancel() // the client is gone, or all is said
	<-served
}

// serveStream serves a request whose answer, and notices before it, go to a stream.
func (s *Server) serveStream(ctx context.Context, l link, m rpc.Message, t *stream) {
	reply, ok := s.serve(ctx, l, m)
	if !ok {
		reply = gone(m.ID)
	}
	t.push(reply.Append(nil), true)
}

// gone is said to a client that is still there when its request was ended from elsewhere.
func gone(id []byte) rpc.Message {
	return refuse(id, &rpc.Error{Code: rpc.CodeInternal, Message: "the request was cancelled"})
}

// follow writes a POST's stream: as plain JSON where the answer is all there is, else as events.
func (s *Server) follow(ctx context.Context, w http.ResponseWriter, t *stream, a accept, modern bool) {
	only, ok := t.first(ctx)
	if !ok {
		return
	}
	if only != nil && a.json {
		status := http.StatusOK
		if modern {
			status = statusOfError(rawjson.Path(only, "error"))
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(only)))
		w.WriteHeader(status)
		_, _ = w.Write(only)
		return
	}
	e := newEventWriter(w)
	defer e.end()
	e.pump(ctx, t, 0)
}

// answer writes one reply.
func (s *Server) answer(w http.ResponseWriter, reply rpc.Message, a accept, status int) {
	buf := s.buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= maxNotices { // an unusually large one is left to the collector
			s.buffers.Put(buf)
		}
	}()
	b := reply.Append((*buf)[:0])
	*buf = b
	if !a.json || a.eventsFirst && reply.Error == nil { // both are right; what a client names first is what it would rather have
		e := newEventWriter(w)
		e.buf = rpc.AppendEvent(nil, rpc.Event{Event: "message", Data: b})
		_ = e.flush()
		e.end()
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// statusOf is the HTTP status of an answer in the modern era (SEP-2575).
func statusOf(reply rpc.Message) int { return statusOfError(reply.Error) }

func statusOfError(object []byte) int {
	if object == nil {
		return http.StatusOK
	}
	switch rpc.ErrorOf(object).Code {
	case rpc.CodeMethodNotFound:
		return http.StatusNotFound
	case rpc.CodeInvalidParams, rpc.CodeInvalidRequest, rpc.CodeVersion, rpc.CodeHeaderMismatch, codeMissingCapability:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// checkHeaders compares what the headers of a modern request say with its body, so that whoever routes by headers and we agree.
func checkHeaders(h http.Header, m rpc.Message, version string) *rpc.Error {
	mismatch := func(header, want string) *rpc.Error {
		values := h.Values(header)
		switch {
		case len(values) == 0:
			return &rpc.Error{Code: rpc.CodeHeaderMismatch, Message: "header mismatch: " + header + " is missing"}
		case len(values) > 1 || values[0] != want && rpc.HeaderText(values[0]) != want:
			return &rpc.Error{Code: rpc.CodeHeaderMismatch, Message: "header mismatch: " + header + " and the body differ"}
		}
		return nil
	}
	if err := mismatch(headerVersion, version); err != nil {
		return err
	}
	if err := mismatch(headerMethod, m.Method); err != nil {
		return err
	}
	key := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		key = "name"
	case "resources/read":
		key = "uri"
	default:
		return nil
	}
	name := rawjson.TextAt(m.Params, key)
	return mismatch(headerName, name)
}
