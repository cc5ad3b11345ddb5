package gateway

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/rpc"
)

const (
	maxLinks    = 4096 // legacy HTTP links at once
	keptStreams = 8    // finished streams of a link that can still be resumed
)

// httpLink is a client of the era with a handshake, over HTTP. It ends by DELETE, after an idle time, with its session, or with the
// server. The session itself goes on.
type httpLink struct {
	*mcpserver.Client
	id     string
	caller caller
	ctx    context.Context
	end    context.CancelFunc
	notes  *stream // notices that belong to no request: the client's GET reads them

	requests requests

	mu      sync.Mutex
	streams []*stream // of POSTs that were answered with events, oldest first
	count   int       // streams so far
	written int       // events of notes that were written to a GET
	active  int       // HTTP requests under way
	idle    *time.Timer
}

// postLegacy serves a message of the era with a handshake.
func (s *Server) postLegacy(w http.ResponseWriter, r *http.Request, who caller, m rpc.Message, a accept) {
	if m.Method == "initialize" && m.IsRequest() {
		s.initializeHTTP(w, r, who, m, a)
		return
	}
	k, ok := s.enter(w, r, who, m.ID)
	if !ok {
		return
	}
	defer k.leave(s.idle)
	switch {
	case m.IsResponse():
		k.Answer(m)
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		k.requests.notification(m)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.requestLegacy(w, r, k, m, a)
	}
}

// requestLegacy serves a request. A lost connection does not cancel it, because the client may come back for the answer.
func (s *Server) requestLegacy(w http.ResponseWriter, r *http.Request, k *httpLink, m rpc.Message, a accept) {
	ctx, cancel := context.WithCancel(k.ctx)
	if bad := k.requests.begin(m.ID, cancel); bad != nil {
		cancel()
		s.answer(w, rpc.Refuse(m.ID, bad), a, http.StatusOK)
		return
	}
	l := mcpserver.Link{Client: k.Client}
	if !a.events || !l.Streams(m) {
		reply, ok := s.mcp.Serve(ctx, l, m)
		k.requests.end(m.ID)
		cancel()
		if !ok {
			reply = cancelled(m.ID)
		}
		s.answer(w, reply, a, http.StatusOK)
		return
	}
	t := k.stream()
	l.Notice, l.Send, l.Gone = t.notice, t.send, t.abandoned
	started := s.work.Go(func() {
		defer cancel()
		s.serveStream(ctx, l, m, t)
		k.requests.end(m.ID)
	})
	if !started {
		cancel()
		t.push(cancelled(m.ID).Append(nil), true)
	}
	t.join()
	defer t.leave()
	s.follow(r.Context(), w, t, a, false)
}

// initializeHTTP makes a link.
func (s *Server) initializeHTTP(w http.ResponseWriter, r *http.Request, who caller, m rpc.Message, a accept) {
	if r.Header.Get(headerSession) != "" {
		fail(w, http.StatusBadRequest, m.ID, rpc.InvalidRequest("already initialized: "+headerSession+" does not belong to initialize"))
		return
	}
	k := &httpLink{id: rand.Text(), caller: who, notes: newStream("0")}
	k.Client = mcpserver.NewClient(who.session, surfaceHTTP, k.notes.notice)
	watch := s.mcp.Watch(k.Client)
	reply, ok := s.mcp.Serve(r.Context(), mcpserver.Link{Client: k.Client}, m)
	if !ok {
		return
	}
	if reply.Error == nil {
		if !s.open(k, watch) {
			fail(w, http.StatusServiceUnavailable, m.ID, &rpc.Error{Code: rpc.CodeInternal, Message: "too many links"})
			return
		}
		w.Header().Set(headerSession, k.id)
	}
	s.answer(w, reply, a, http.StatusOK)
}

// open registers a link and starts the watch over its lists. It returns false if there are too many links.
func (s *Server) open(k *httpLink, watch *mcpserver.Watch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) >= maxLinks {
		return false
	}
	k.ctx, k.end = context.WithCancel(s.work.Context())
	k.idle = time.AfterFunc(s.idle, k.end)
	started := s.work.Go(func() {
		defer k.Close()
		watch.Run(k.ctx, everything, k.notes.notice)
		k.end() // also if the session ended
		k.idle.Stop()
		s.mu.Lock()
		delete(s.links, k.id)
		s.mu.Unlock()
		k.notes.finish()
	})
	if !started {
		k.end()
		k.idle.Stop()
		return false
	}
	s.links[k.id] = k
	return true
}

// enter finds the link of a request and stops its idle time. It returns false if it refused the request: the answer for the link of
// another credential is that for one that does not exist.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, who caller, id []byte) (*httpLink, bool) {
	name := r.Header.Get(headerSession)
	if name == "" {
		fail(w, http.StatusBadRequest, id, rpc.InvalidRequest(headerSession+" is missing: initialize first"))
		return nil, false
	}
	s.mu.Lock()
	k := s.links[name]
	s.mu.Unlock()
	if k == nil || k.ctx.Err() != nil || k.caller.session != who.session ||
		subtle.ConstantTimeCompare(k.caller.credential[:], who.credential[:]) != 1 {
		// Plain text: clients take a JSON-RPC error for the answer to their request, and do not initialize again.
		http.Error(w, "session not found", http.StatusNotFound)
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.active++
	k.idle.Stop()
	return k, true
}

// leave ends what enter began.
func (k *httpLink) leave(idle time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active--; k.active == 0 && k.ctx.Err() == nil {
		k.idle.Reset(idle)
	}
}

// stream makes the stream of one POST, and forgets the oldest finished ones.
func (k *httpLink) stream() *stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	t := newStream(strconv.Itoa(k.count))
	late := len(k.streams) - keptStreams
	i := -1
	k.streams = slices.DeleteFunc(k.streams, func(old *stream) bool {
		i++
		return i <= late && old.finished()
	})
	k.streams = append(k.streams, t)
	return t
}

func (k *httpLink) find(id string) *stream {
	if id == k.notes.id {
		return k.notes
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.streams {
		if t.id == id {
			return t
		}
	}
	return nil
}

// get serves the stream of a link: its notices, or the rest of a stream whose connection was lost.
func (s *Server) get(w http.ResponseWriter, r *http.Request, who caller) {
	if mcpserver.IsModern(r.Header.Get(headerVersion)) {
		w.Header().Set("Allow", "POST")
		fail(w, http.StatusMethodNotAllowed, nil, rpc.InvalidRequest("this revision has no GET: use subscriptions/listen"))
		return
	}
	if !accepts(r.Header).events {
		fail(w, http.StatusNotAcceptable, nil, rpc.InvalidRequest("Accept must allow text/event-stream"))
		return
	}
	k, ok := s.enter(w, r, who, nil)
	if !ok {
		return
	}
	defer k.leave(s.idle)
	t := k.notes
	k.mu.Lock()
	next := k.written
	k.mu.Unlock()
	if last := r.Header.Get(headerLastEvent); last != "" {
		id, i, ok := parseEventID(last)
		if t = k.find(id); !ok || t == nil || !t.keeps(i) {
			// Not 404, which would mean that the link is gone.
			fail(w, http.StatusBadRequest, nil, rpc.InvalidRequest("what followed "+headerLastEvent+" is no longer kept"))
			return
		}
		next = i + 1
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(k.ctx, cancel)()
	e := newEventWriter(w)
	defer e.end()
	t.join()
	defer t.leave()
	if next = e.pump(ctx, t, next); t == k.notes {
		k.mu.Lock()
		k.written = max(k.written, next)
		k.mu.Unlock()
	}
}

// delete ends a link.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, who caller) {
	if mcpserver.IsModern(r.Header.Get(headerVersion)) {
		w.Header().Set("Allow", "POST")
		fail(w, http.StatusMethodNotAllowed, nil, rpc.InvalidRequest("this revision has no sessions to delete"))
		return
	}
	k, ok := s.enter(w, r, who, nil)
	if !ok {
		return
	}
	defer k.leave(s.idle)
	k.end()
	w.WriteHeader(http.StatusNoContent)
}
