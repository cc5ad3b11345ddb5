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

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

const (
	maxLinks    = 4096 // legacy HTTP links at once
	keptStreams = 8    // finished streams of a link that can still be resumed
)

// httpLink is a client of the era with a handshake, over HTTP: it ends by DELETE, by being idle, with its session or with us. The
// session itself goes on.
type httpLink struct {
	client
	id     string
	caller caller
	ctx    context.Context
	end    context.CancelFunc
	notes  *stream // what belongs to no request: the client's GET reads it

	mu      sync.Mutex
	running map[string]context.CancelFunc // requests by id
	streams []*stream                     // of POSTs that were answered with events, oldest first
	count   int                           // streams so far
	written int                           // events of notes that some GET has written
	active  int                           // HTTP requests at work
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
		k.asks.settle(m)
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		if m.Method == "notifications/cancelled" {
			k.cancelRequest(rawjson.Member(m.Params, "requestId"))
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		s.requestLegacy(w, r, k, m, a)
	}
}

// requestLegacy serves a request. A client that goes away does not cancel it: it may come back for the answer.
func (s *Server) requestLegacy(w http.ResponseWriter, r *http.Request, k *httpLink, m rpc.Message, a accept) {
	ctx, cancel := context.WithCancel(k.ctx)
	if bad := k.begin(m.ID, cancel); bad != nil {
		cancel()
		s.answer(w, refuse(m.ID, bad), a, http.StatusOK)
		return
	}
	l := link{client: &k.client}
	if !a.events || l.wants(m) == nil && !k.askedBy(m.Method) {
		reply, ok := s.serve(ctx, l, m)
		k.finish(m.ID)
		cancel()
		if !ok {
			reply = gone(m.ID)
		}
		s.answer(w, reply, a, http.StatusOK)
		return
	}
	t := k.stream()
	l.notice, l.send, l.gone = t.notice, t.send, t.deserted
	started := s.start(func() {
		defer cancel()
		s.serveStream(ctx, l, m, t)
		k.finish(m.ID)
	})
	if !started {
		cancel()
		t.push(gone(m.ID).Append(nil), true)
	}
	t.joined()
	defer t.left()
	s.follow(r.Context(), w, t, a, false)
}

// initializeHTTP makes a link.
func (s *Server) initializeHTTP(w http.ResponseWriter, r *http.Request, who caller, m rpc.Message, a accept) {
	if r.Header.Get(headerSession) != "" {
		fail(w, http.StatusBadRequest, m.ID, invalidRequest("already initialized: "+headerSession+" does not belong to initialize"))
		return
	}
	k := &httpLink{id: rand.Text(), caller: who, notes: newStream("0"), running: map[string]context.CancelFunc{}}
	k.session, k.surface, k.told = who.session, surfaceHTTP, k.notes.notice
	v := s.look(who.session)
	reply, ok := s.serve(r.Context(), link{client: &k.client}, m)
	if !ok {
		return
	}
	if reply.Error == nil {
		if !s.open(k, v) {
			fail(w, http.StatusServiceUnavailable, m.ID, &rpc.Error{Code: rpc.CodeInternal, Message: "too many links"})
			return
		}
		w.Header().Set(headerSession, k.id)
	}
	s.answer(w, reply, a, http.StatusOK)
}

// open registers a link and starts what watches over it.
func (s *Server) open(k *httpLink, v *watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.links) >= maxLinks || s.ctx.Err() != nil {
		return false
	}
	k.ctx, k.end = context.WithCancel(s.ctx)
	k.idle = time.AfterFunc(s.idle, k.end)
	s.links[k.id] = k
	v.subs = &k.subs
	s.work.Go(func() {
		defer k.subs.end()
		v.watch(k.ctx, kinds{true, true, true}, func(method string) { k.notes.notice(method, nil) })
		k.end() // the session has ended, if it was not the link
		k.idle.Stop()
		s.mu.Lock()
		delete(s.links, k.id)
		s.mu.Unlock()
		k.notes.finish()
	})
	return true
}

// enter finds the link of a request and keeps it from being idle; false: the request was refused. A link of another credential is
// no link.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, who caller, id []byte) (*httpLink, bool) {
	name := r.Header.Get(headerSession)
	if name == "" {
		fail(w, http.StatusBadRequest, id, invalidRequest(headerSession+" is missing: initialize first"))
		return nil, false
	}
	s.mu.Lock()
	k := s.links[name]
	s.mu.Unlock()
	if k == nil || k.ctx.Err() != nil || k.caller.session != who.session ||
		subtle.ConstantTimeCompare(k.caller.credential[:], who.credential[:]) != 1 {
		// Plain text, because clients take a JSON-RPC error for the answer to their request and would not initialize again.
		http.Error(w, "session not found", http.StatusNotFound)
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.active++
	k.idle.Stop()
	return k, true
}

// leave undoes enter.
func (k *httpLink) leave(idle time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active--; k.active == 0 && k.ctx.Err() == nil {
		k.idle.Reset(idle)
	}
}

func (k *httpLink) begin(id []byte, cancel context.CancelFunc) *rpc.Error {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := idKey(id)
	if k.running[key] != nil {
		return invalidRequest("a request with this id is still open")
	}
	if len(k.running) >= maxQueued {
		return &rpc.Error{Code: rpc.CodeInternal, Message: "too many open requests"}
	}
	k.running[key] = cancel
	return nil
}

func (k *httpLink) finish(id []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.running, idKey(id))
}

func (k *httpLink) cancelRequest(id []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if cancel := k.running[idKey(id)]; cancel != nil {
		cancel()
	}
}

// stream makes the stream of one POST. The oldest finished ones are forgotten.
func (k *httpLink) stream() *stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	t := newStream(strconv.Itoa(k.count))
	late := len(k.streams) - keptStreams
	i := -1
	k.streams = slices.DeleteFunc(k.streams, func(old *stream) bool {
		i++
		return i <= late && old.over()
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

// get serves the stream of a link: its notices, or what a lost connection left unsaid.
func (s *Server) get(w http.ResponseWriter, r *http.Request, who caller) {
	if r.Header.Get(headerVersion) >= v20260728 {
		w.Header().Set("Allow", "POST")
		fail(w, http.StatusMethodNotAllowed, nil, invalidRequest("this revision has no GET: use subscriptions/listen"))
		return
	}
	if !accepts(r.Header).events {
		fail(w, http.StatusNotAcceptable, nil, invalidRequest("Accept must allow text/event-stream"))
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
	if last := r.Header.Get(headerLast); last != "" {
		id, i, ok := parseEventID(last)
		if t = k.find(id); !ok || t == nil || !t.has(i) {
			// Not 404, which would say that the link is gone.
			fail(w, http.StatusBadRequest, nil, invalidRequest("what followed "+headerLast+" is no longer kept"))
			return
		}
		next = i + 1
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(k.ctx, cancel)()
	e := newEventWriter(w)
	defer e.end()
	t.joined()
	defer t.left()
	if next = e.pump(ctx, t, next); t == k.notes {
		k.mu.Lock()
		k.written = max(k.written, next)
		k.mu.Unlock()
	}
}

// delete ends a link.
func (s *Server) delete(w http.ResponseWriter, r *http.Request, who caller) {
	if r.Header.Get(headerVersion) >= v20260728 {
		w.Header().Set("Allow", "POST")
		fail(w, http.StatusMethodNotAllowed, nil, invalidRequest("this revision has no sessions to delete"))
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
