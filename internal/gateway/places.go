package gateway

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/rpc"
)

// maxOpen bounds the HTTP requests of one session that are under way at once: calls, also those that wait for an approval, and streams.
const maxOpen = 512

// placeTime is how long a request waits for a place, on average: where a thousand requests wait, they are not all refused, and made again,
// at the same moment. Waiting costs memory only; refusing at once would let their caller take the processor from others.
const placeTime = 5 * time.Second

// answerRoom is the memory that a request needs besides its body before it is served, in bytes: most answers fit. A request for which
// there is none is refused before it does anything.
const answerRoom = 16 << 10

// places are the HTTP requests under way, by session. One more than maxOpen waits for a place, which also slows down a caller that
// does not wait before it tries again.
type places struct {
	mu sync.Mutex
	by map[string]*place
}

type place struct {
	slots chan struct{}
	users int // that hold a slot or wait for one
}

// enter takes a place of a session, which leave gives back. It returns false if there was none in time.
func (p *places) enter(ctx context.Context, session string) (leave func(), ok bool) {
	p.mu.Lock()
	if p.by == nil {
		p.by = map[string]*place{}
	}
	at := p.by[session]
	if at == nil {
		at = &place{slots: make(chan struct{}, maxOpen)}
		p.by[session] = at
	}
	at.users++
	p.mu.Unlock()
	if at.take(ctx) {
		return func() { <-at.slots; p.forget(session, at) }, true
	}
	p.forget(session, at)
	return nil, false
}

func (at *place) take(ctx context.Context) bool {
	select {
	case at.slots <- struct{}{}:
		return true
	default:
	}
	wait := time.NewTimer(placeTime/2 + rand.N(placeTime)) // #nosec G404 -- chance, no secret
	defer wait.Stop()
	select {
	case at.slots <- struct{}{}:
		return true
	case <-wait.C:
	case <-ctx.Done():
	}
	return false
}

func (p *places) forget(session string, at *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.users--; at.users == 0 {
		delete(p.by, session)
	}
}

// admit takes what an HTTP request needs before it is served: a place of its session, and memory for its answer. leave gives the place
// back. ok is false if the request was refused.
func (s *Server) admit(ctx context.Context, w http.ResponseWriter, who caller, held *rpc.Claim, id []byte) (leave func(), ok bool) {
	if err := held.Hold(answerRoom); err != nil {
		busy(w, id, rpc.ErrBusy)
		return nil, false
	}
	if leave, ok = s.places.enter(ctx, who.session.ID); !ok {
		busy(w, id, rpc.Busy(strconv.Itoa(maxOpen)+" requests of this session are under way"))
	}
	return leave, ok
}

// busy answers a request that is refused only for now.
func busy(w http.ResponseWriter, id []byte, e *rpc.Error) {
	w.Header().Set("Retry-After", strconv.Itoa(int(rpc.RetryBusy.Seconds())))
	fail(w, http.StatusServiceUnavailable, id, e)
}

// hold has the claim of a request hold its answer too. If it cannot, the answer is an error instead: the request was served, so this is
// no 503, after which programs try again by themselves.
func hold(held *rpc.Claim, reply rpc.Message) rpc.Message {
	size := len(reply.Result) + len(reply.Error)
	if size <= answerRoom || held.Hold(size-answerRoom) == nil {
		return reply
	}
	e := rpc.Busy("the answer has " + strconv.Itoa(size) + " bytes, and there is no memory for it at the moment. The call did run")
	return rpc.Refuse(reply.ID, e)
}
