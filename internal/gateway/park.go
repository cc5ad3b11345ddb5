package gateway

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
)

// maxParked bounds the calls of one session that wait, here, for their client.
const maxParked = 64

var (
	errTooManyParked = errors.New("too many calls of this session wait for their client already")
	errGone          = errors.New("the client went away")
)

// parked is a call of a modern client whose server asks in the old way: while it asks, the request that made the call is answered
// with input_required, and the client's retry brings the answers. Between the two the call belongs to no request.
type parked struct {
	server       *Server
	session      *gate.Session
	call         string // its id
	capabilities []byte
	ctx          context.Context // of the call; it outlives the requests
	cancel       context.CancelCauseFunc
	wake         chan struct{} // one value: there are questions to hand out
	done         chan struct{} // closed with reply and err
	reply        gate.Reply
	err          error

	mu      sync.Mutex
	notify  func(method string, params []byte) // of the request at work
	last    int                                // number of the last question
	waiting []*question                        // not handed out yet
	given   []*question                        // handed out, not answered
	round   int                                // of the state that was given out last
	resumed chan struct{}                      // closed when a retry takes a parked call up; nil: a request is at work on it
	counted bool                               // it is among the server's parked calls
}

// question is one request of a server to the client.
type question struct {
	key    string
	method string
	params []byte
	answer chan []byte // one
}

// callAskable makes a call whose server may ask the client, for a modern client that declared so.
func (s *Server) callAskable(ctx context.Context, l link, r gate.Request) (reply gate.Reply, asked []byte, err error) {
	r.ID = gate.NewID()
	p := &parked{
		server: s, session: l.session, call: r.ID, capabilities: passable(l.capabilities, true),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if r.Peer != nil {
		p.notify = r.Peer.Notify
	}
	r.Peer = p
	p.ctx, p.cancel = context.WithCancelCause(s.ctx)
	started := s.start(func() {
		defer close(p.done)
		p.reply, p.err = s.gate.Call(p.ctx, l.session, r)
	})
	if !started {
		p.cancel(errClosed)
		return gate.Reply{}, nil, errClosed
	}
	return p.follow(ctx, &r)
}

// follow waits for the end of the call, or for its questions: then asked is the result that hands them to the client. When the
// request ends, the call ends.
func (p *parked) follow(ctx context.Context, r *gate.Request) (reply gate.Reply, asked []byte, err error) {
	stop := context.AfterFunc(ctx, func() { p.cancel(errGone) })
	defer stop()
	for {
		select {
		case <-p.done:
			p.server.unpark(p)
			return p.reply, nil, p.err
		case <-p.wake:
		}
		if asked := p.handOut(ctx, r, stop); asked != nil {
			return gate.Reply{}, asked, nil
		}
	}
}

// handOut parks the call and makes the result with its questions; nil: there are none, or the call cannot be parked.
func (p *parked) handOut(ctx context.Context, r *gate.Request, stop func() bool) []byte {
	if !p.server.park(p) {
		p.mu.Lock()
		for _, q := range p.waiting {
			q.answer <- nil
		}
		p.waiting = nil
		p.mu.Unlock()
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 || ctx.Err() != nil || !stop() {
		return nil // nothing is asked any more, or the request ends and the call with it
	}
	p.given = append(p.given, p.waiting...)
	p.waiting = nil
	p.round++
	p.notify = nil
	p.resumed = make(chan struct{})
	p.wait(p.resumed)
	b := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, q := range p.given {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, rawjson.Quote(q.key)...), `:{"method":`...)
		b = append(b, rawjson.Quote(q.method)...)
		if q.params != nil {
			b = append(append(b, `,"params":`...), q.params...)
		}
		b = append(b, '}')
	}
	b = append(b, `},"requestState":`...)
	b = append(b, rawjson.Quote(p.server.sealState(p.session, r, requestState{Call: p.call, Round: p.round}))...)
	return append(b, '}')
}

// wait ends a parked call that nobody takes up.
func (p *parked) wait(resumed <-chan struct{}) {
	p.server.start(func() {
		t := time.NewTimer(gate.Patience)
		defer t.Stop()
		select {
		case <-resumed:
			return
		case <-t.C:
			p.cancel(errNoAnswer)
		case <-p.session.Done():
			p.cancel(errEnded)
		case <-p.ctx.Done():
		}
		<-p.done
		p.server.unpark(p)
	})
}

// takeUp makes a retry's request the one at work on the call; false: the state is not of its last round, or another retry was first.
func (p *parked) takeUp(round int, notify func(method string, params []byte)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.resumed == nil || p.round != round {
		return false
	}
	close(p.resumed)
	p.resumed = nil
	p.notify = notify
	return true
}

// settle hands over the answers that a retry brought. What was not answered is asked again; what was not asked is passed over.
func (p *parked) settle(answers []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var open []*question
	for _, q := range p.given {
		if a := rawjson.Member(answers, q.key); isObject(a) {
			q.answer <- a
		} else {
			open = append(open, q)
		}
	}
	p.given = nil
	if p.waiting = append(open, p.waiting...); len(p.waiting) > 0 {
		p.signal()
	}
}

func (p *parked) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Capabilities are what the client declared.
func (p *parked) Capabilities() []byte { return p.capabilities }

// Notify passes on what the client of the moment asked for.
func (p *parked) Notify(method string, params []byte) {
	p.mu.Lock()
	notify := p.notify
	p.mu.Unlock()
	if notify != nil {
		notify(method, params)
	}
}

// Ask puts a question into the next result that goes to the client, and waits for the retry that answers it.
func (p *parked) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	if refusal := undeclared(p.capabilities, method, params); refusal != nil {
		return nil, refusal.Raw(), nil
	}
	q := &question{method: method, params: params, answer: make(chan []byte, 1)}
	p.mu.Lock()
	if len(p.waiting)+len(p.given) >= maxAsks {
		p.mu.Unlock()
		return nil, nil, errBusy
	}
	p.last++
	q.key = "ask" + strconv.Itoa(p.last)
	p.waiting = append(p.waiting, q)
	p.signal()
	p.mu.Unlock()
	defer p.withdraw(q)
	select {
	case a := <-q.answer:
		if a == nil {
			return nil, nil, errTooManyParked
		}
		return a, nil, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	case <-p.ctx.Done():
		return nil, nil, context.Cause(p.ctx)
	}
}

// withdraw forgets a question that nobody waits for any more.
func (p *parked) withdraw(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	without := func(from []*question) []*question {
		kept := from[:0:0]
		for _, o := range from {
			if o != q {
				kept = append(kept, o)
			}
		}
		return kept
	}
	p.waiting, p.given = without(p.waiting), without(p.given)
}

// park counts a call among those of its session that wait; false: there are too many.
func (s *Server) park(p *parked) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.counted {
		return true
	}
	if s.waiting[p.session.ID] >= maxParked || s.ctx.Err() != nil {
		return false
	}
	s.waiting[p.session.ID]++
	s.parked[p.call], p.counted = p, true
	return true
}

// unpark forgets a call that is over.
func (s *Server) unpark(p *parked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.counted {
		p.counted = false
		delete(s.parked, p.call)
		if s.waiting[p.session.ID]--; s.waiting[p.session.ID] == 0 {
			delete(s.waiting, p.session.ID)
		}
	}
	p.cancel(nil)
}

// continueParked serves the retry that takes a parked call up again: it is decided anew, and the answers go to the server that waits.
func (s *Server) continueParked(ctx context.Context, l link, r gate.Request, st requestState, answers []byte) (reply gate.Reply, asked []byte, err error) {
	s.mu.Lock()
	p := s.parked[st.Call]
	s.mu.Unlock()
	var notify func(method string, params []byte)
	if r.Peer != nil {
		notify = r.Peer.Notify
	}
	if p == nil || p.session.ID != l.session.ID || !p.takeUp(st.Round, notify) {
		r.Invalid = gate.NotOpen
		reply, err = s.gate.Call(ctx, l.session, r) // refused there, and recorded
		return reply, nil, err
	}
	r.Continues, r.Peer = p.call, nil
	if err := s.gate.Continue(ctx, l.session, r); err != nil {
		p.cancel(err)
		<-p.done
		s.unpark(p)
		return gate.Reply{}, nil, err
	}
	p.settle(answers)
	return p.follow(ctx, &r)
}
