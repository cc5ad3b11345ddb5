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

// keptStreams is how many finished streams of a link can still be resumed.
const keptStreams = 8

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
	used    time.Time // when it was last active
}

// postLegacy serves a message of the era with a handshake.
func (s *Server) postLegacy(w http.ResponseWriter, r *http.Request, who caller, m rpc.Message, a accept, held *rpc.Claim) {
	if m.Method == "initialize" && m.IsRequest() {
		if leave, ok := s.admit(r.Context(), w, who, held, m.ID); ok {
			defer leave()
			s.initializeHTTP(w, r, who, m, a)
		}
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
		if leave, ok := s.admit(r.Context(), w, who, held, m.ID); ok {
			s.requestLegacy(w, r, k, m, a, held, leave)
		}
	}
}

// requestLegacy serves a request. A lost connection does not cancel it, because the client may come back for the answer. leave gives back
// its place when it is over.
func (s *Server) requestLegacy(
	w http.ResponseWriter, r *http.Request, k *httpLink, m rpc.Message, a accept, held *rpc.Claim, leave func(),
) {
	ctx, stop := context.WithCancel(k.ctx)
	cancel := sync.OnceFunc(func() { stop(); leave() })
	if bad := k.requests.begin(m.ID, stop); bad != nil {
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
		s.answer(w, hold(held, reply), a, http.StatusOK)
		return
	}
	claim := s.memory.Claim(k.caller.session.ID)
	_ = claim.Hold(answerRoom) // admit found as much a moment ago
	t := k.stream(claim)
	l.Notice, l.Send, l.Gone = t.notice, t.send, t.abandoned
	started := s.work.Go(func() {
		defer cancel()
		s.serveStream(ctx, l, m, t)
		k.requests.end(m.ID)
	})
	if !started {
		cancel()
		t.answer(cancelled(m.ID))
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
	if !s.links.pace(r.Context(), who.session.ID) {
		busy(w, m.ID, rpc.Busy("this session makes links without end"))
		return
	}
	k := &httpLink{id: rand.Text(), caller: who, notes: newStream("0", s.memory.Claim(who.session.ID))}
	k.Client = mcpserver.NewClient(who.session, surfaceHTTP, k.notes.notice)
	watch := s.mcp.Watch(k.Client)
	reply, ok := s.mcp.Serve(r.Context(), mcpserver.Link{Client: k.Client}, m)
	if !ok {
		return
	}
	if reply.Error == nil {
		if !s.open(k, watch) {
			k.notes.close()
			busy(w, m.ID, rpc.Busy("there are too many links, and each is in use"))
			return
		}
		w.Header().Set(headerSession, k.id)
	}
	s.answer(w, reply, a, http.StatusOK)
}

// open registers a link and starts the watch over its lists. It returns false if there is no place for it.
func (s *Server) open(k *httpLink, watch *mcpserver.Watch) bool {
	k.ctx, k.end = context.WithCancel(s.work.Context())
	k.used = time.Now()
	k.idle = time.AfterFunc(s.idle, k.end)
	if !s.links.add(k) {
		k.end()
		k.idle.Stop()
		return false
	}
	started := s.work.Go(func() {
		defer k.Close()
		watch.Run(k.ctx, everything, k.notes.notice)
		s.close(k) // also if the session ended
	})
	if !started {
		s.close(k)
	}
	return started
}

// close ends a link and gives back what it holds.
func (s *Server) close(k *httpLink) {
	k.end()
	k.idle.Stop()
	s.links.remove(k)
	k.mu.Lock()
	streams := k.streams
	k.streams = nil
	k.mu.Unlock()
	for _, t := range append(streams, k.notes) {
		t.close()
	}
}

// enter finds the link of a request and stops its idle time. It returns false if it refused the request: the answer for the link of
// another credential is that for one that does not exist.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, who caller, id []byte) (*httpLink, bool) {
	name := r.Header.Get(headerSession)
	if name == "" {
		fail(w, http.StatusBadRequest, id, rpc.InvalidRequest(headerSession+" is missing: initialize first"))
		return nil, false
	}
	k := s.links.find(name)
	if k == nil || k.ctx.Err() != nil || !k.owns(who) {
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

// owns reports whether a link was made with the credential of a caller.
func (k *httpLink) owns(who caller) bool {
	return k.caller.session == who.session && subtle.ConstantTimeCompare(k.caller.credential[:], who.credential[:]) == 1
}

// leave ends what enter began.
func (k *httpLink) leave(idle time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.used = time.Now()
	if k.active--; k.active == 0 && k.ctx.Err() == nil {
		k.idle.Reset(idle)
	}
}

// stream makes the stream of one POST, whose events count for the claim, and forgets the oldest finished ones.
func (k *httpLink) stream(claim *rpc.Claim) *stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	t := newStream(strconv.Itoa(k.count), claim)
	late := len(k.streams) - keptStreams
	i := -1
	k.streams = slices.DeleteFunc(k.streams, func(old *stream) bool {
		i++
		if i > late || !old.finished() {
			return false
		}
		old.close()
		return true
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
