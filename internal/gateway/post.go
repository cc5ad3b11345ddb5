package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.hosts.accept(r) {
		fail(w, http.StatusForbidden, nil, errHost)
		return
	}
	switch r.Method {
	case http.MethodPost, http.MethodGet, http.MethodDelete:
	default:
		w.Header().Set("Allow", "POST, GET, DELETE")
		fail(w, http.StatusMethodNotAllowed, nil, rpc.InvalidRequest("use POST, GET or DELETE"))
		return
	}
	if r.Method == http.MethodPost && !isJSON(r.Header) {
		fail(w, http.StatusUnsupportedMediaType, nil, rpc.InvalidRequest("Content-Type must be application/json, without a content encoding"))
		return
	}
	who, err := s.authenticate(r)
	if err != nil {
		s.unauthorized(w, r, err)
		return
	}
	held := s.memory.Claim(who.session.ID)
	defer held.Release()
	switch r.Method {
	case http.MethodPost:
		s.post(w, r, who, held)
	case http.MethodGet:
		leave, ok := s.admit(r.Context(), w, who, held, nil)
		if !ok {
			return
		}
		defer leave()
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
	_, _ = w.Write(rpc.Refuse(id, e).Append(nil)) // #nosec G705 -- it is JSON, and its header says so
}

// body reads the request body as it comes. It returns false if it refused the request.
func (s *Server) body(w http.ResponseWriter, r *http.Request, held *rpc.Claim) ([]byte, bool) {
	b, err := []byte(nil), error(rpc.ErrTooLong)
	if r.ContentLength <= int64(s.maxBody) {
		b, err = rpc.ReadAll(r.Body, r.ContentLength, s.maxBody, held)
	}
	switch {
	case err == nil:
		return b, true
	case errors.Is(err, rpc.ErrTooLong):
		w.Header().Set("Connection", "close") // the rest is not read
		fail(w, http.StatusRequestEntityTooLarge, nil, tooLarge(s.maxBody))
	case errors.Is(err, rpc.ErrBusy):
		w.Header().Set("Connection", "close")
		busy(w, nil, rpc.ErrBusy)
	case errors.Is(err, os.ErrDeadlineExceeded):
		fail(w, http.StatusRequestTimeout, nil, &rpc.Error{Code: rpc.CodeParse, Message: "parse error: the body did not come in time"})
	default:
		fail(w, http.StatusBadRequest, nil, &rpc.Error{Code: rpc.CodeParse, Message: "parse error: the body ended early"})
	}
	return nil, false
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, who caller, held *rpc.Claim) {
	a := accepts(r.Header)
	if !a.json && !a.events {
		fail(w, http.StatusNotAcceptable, nil, rpc.InvalidRequest("Accept must allow application/json and text/event-stream"))
		return
	}
	b, ok := s.body(w, r, held)
	if !ok {
		return
	}
	var m rpc.Message
	var bad *rpc.Error
	s.memory.Work(len(b), func() { m, bad = rpc.Parse(b) })
	if bad != nil {
		if k := s.links.find(r.Header.Get(headerSession)); m.Method == "" && k != nil && k.owns(who) {
			k.CannotUse(m.ID, bad)
		}
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	if version, modern := mcpserver.Revision(m); modern && m.IsRequest() {
		leave, ok := s.admit(r.Context(), w, who, held, m.ID)
		if ok {
			defer leave()
			s.postModern(w, r, who, m, version, a, held)
		}
		return
	}
	if header := r.Header.Get(headerVersion); mcpserver.IsModern(header) {
		if m.IsRequest() {
			fail(w, http.StatusBadRequest, m.ID, rpc.InvalidParams(fmt.Sprintf(`_meta needs %q, as the %s header says %q`,
				mcpserver.MetaVersion, headerVersion, header)))
			return
		}
		// A notification of the modern era changes nothing: to cancel, the client closes the stream.
		w.WriteHeader(http.StatusAccepted)
		return
	} else if header != "" && !mcpserver.Legacy(header) {
		fail(w, http.StatusBadRequest, m.ID, mcpserver.Unsupported(header))
		return
	}
	s.postLegacy(w, r, who, m, a, held)
}

// postModern serves a request of the modern era, whose link is this POST.
func (s *Server) postModern(
	w http.ResponseWriter, r *http.Request, who caller, m rpc.Message, version string, a accept, held *rpc.Claim,
) {
	if bad := checkHeaders(r.Header, m, version); bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	client, bad := mcpserver.ModernClient(who.session, surfaceHTTP, m, version)
	if bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	if bad := s.checkParams(who.session, r.Header, m); bad != nil {
		fail(w, http.StatusBadRequest, m.ID, bad)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.work.Context(), cancel)()
	l := mcpserver.Link{Client: client}
	listen := m.Method == "subscriptions/listen"
	if listen {
		var over context.CancelFunc
		ctx, over = who.bound(ctx)
		defer over()
	}
	if listen && !a.events {
		fail(w, http.StatusNotAcceptable, m.ID, rpc.InvalidRequest("Accept must allow text/event-stream"))
		return
	}
	if !a.events || !listen && !l.Streams(m) {
		reply, ok := s.mcp.Serve(ctx, l, m)
		if !ok {
			reply = cancelled(m.ID)
		}
		reply = hold(held, reply)
		s.answer(w, reply, a, statusOf(reply))
		return
	}
	t := newStream("", held)
	l.Notice = t.notice
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.serveStream(ctx, l, m, t)
	}()
	s.follow(r.Context(), w, t, a, true)
	cancel() // the client is gone, or everything is written
	<-served
}

// serveStream serves a request whose notices and answer go to a stream.
func (s *Server) serveStream(ctx context.Context, l mcpserver.Link, m rpc.Message, t *stream) {
	reply, ok := s.mcp.Serve(ctx, l, m)
	if !ok {
		reply = cancelled(m.ID)
	}
	t.answer(reply)
}

// cancelled is the answer to a request that ended while its client still waits.
func cancelled(id []byte) rpc.Message {
	return rpc.Refuse(id, &rpc.Error{Code: rpc.CodeInternal, Message: "the request was cancelled"})
}

// follow writes the stream of a POST: as plain JSON if there is only the answer, else as events.
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
		_, _ = w.Write(only) // #nosec G705 -- it is JSON, and its header says so
		return
	}
	e := newEventWriter(w)
	defer e.end()
	e.pump(ctx, t, 0)
}

// answer writes one reply.
func (s *Server) answer(w http.ResponseWriter, reply rpc.Message, a accept, status int) {
	h := w.Header()
	if !a.json || a.eventsFirst && reply.Error == nil { // a client that reads both prefers the first that it names
		e := newEventWriter(w)
		_ = e.event("", reply.Append(nil))
		_ = e.flush()
		e.end()
		return
	}
	h.Set("Content-Type", "application/json")
	if len(reply.Result) > maxCopied { // without a copy of it
		head, tail := reply.Around()
		h.Set("Content-Length", strconv.Itoa(len(head)+len(reply.Result)+len(tail)))
		w.WriteHeader(status)
		for _, part := range [][]byte{head, reply.Result, tail} {
			if _, err := w.Write(part); err != nil { // #nosec G705 -- it is JSON, and its header says so
				return
			}
		}
		return
	}
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	b := reply.Append((*buf)[:0])
	*buf = b
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // #nosec G705 -- it is JSON, and its header says so
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
	case rpc.CodeInvalidParams, rpc.CodeInvalidRequest, rpc.CodeVersion, rpc.CodeHeaderMismatch, mcpserver.CodeMissingCapability:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
