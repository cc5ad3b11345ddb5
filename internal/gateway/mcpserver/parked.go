package mcpserver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/gate/session"
	"mycelium/internal/rawjson"
)

// maxParked bounds the parked calls of one session.
const maxParked = 64

var errTooManyParked = errors.New("too many calls of this session wait for their client already")

// parkedCalls are the calls that wait for a retry.
type parkedCalls struct {
	mu        sync.Mutex
	byID      map[string]*parked
	bySession map[string]int
}

// add notes a call. It returns false if its session has too many.
func (c *parkedCalls) add(p *parked) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[p.call] != nil {
		return true
	}
	if c.bySession[p.session.ID] >= maxParked || p.server.work.Context().Err() != nil {
		return false
	}
	if c.byID == nil {
		c.byID, c.bySession = map[string]*parked{}, map[string]int{}
	}
	c.byID[p.call] = p
	c.bySession[p.session.ID]++
	return true
}

// remove forgets a call that is over.
func (c *parkedCalls) remove(p *parked) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[p.call] != nil {
		delete(c.byID, p.call)
		if c.bySession[p.session.ID]--; c.bySession[p.session.ID] == 0 {
			delete(c.bySession, p.session.ID)
		}
	}
	p.cancel(nil)
}

func (c *parkedCalls) find(call string) *parked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[call]
}

// parked is a call of a modern client to a server that may ask it during the call, as servers did in the old era. A question becomes
// an input_required result: it answers the request that made the call, and the client's retry brings the answers. Between the two,
// the call belongs to no request.
type parked struct {
	server       *Server
	session      *session.Session
	call         string // its id
	capabilities []byte
	ctx          context.Context // of the call; it outlives the requests
	cancel       context.CancelCauseFunc
	wake         chan struct{} // has a value when there are questions to hand out
	done         chan struct{} // closed when reply and err are set
	reply        gate.Reply
	err          error

	mu      sync.Mutex
	notify  func(method string, params []byte) // of the request at work
	last    int                                // the number of the last question
	waiting []*question                        // not handed out yet
	given   []*question                        // handed out, not answered
	round   int                                // of the last state that was handed out
	resumed chan struct{}                      // closed when a retry resumes the parked call; nil: a request is at work on it
}

// question is one request of a server to the client.
type question struct {
	key    string
	method string
	params []byte
	answer chan []byte // of capacity one; nil: the call cannot be parked
}

// callAskable makes a call whose server may ask the client, for a modern client that declared that it can be asked.
func (s *Server) callAskable(ctx context.Context, l Link, r gate.Request) (reply gate.Reply, asked []byte, err error) {
	r.ID = gate.NewID()
	p := &parked{
		server: s, session: l.session, call: r.ID, capabilities: passable(l.capabilities, true),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if r.Peer != nil {
		p.notify = r.Peer.Notify
	}
	r.Peer = p
	p.ctx, p.cancel = context.WithCancelCause(s.work.Context())
	started := s.work.Go(func() {
		defer close(p.done)
		p.reply, p.err = s.gate.Call(p.ctx, l.session, r)
	})
	if !started {
		p.cancel(ErrClosed)
		return gate.Reply{}, nil, ErrClosed
	}
	return p.follow(ctx, &r)
}

// follow waits until the call ends or has questions: then asked is the result that hands them to the client. When the request ends,
// the call ends.
func (p *parked) follow(ctx context.Context, r *gate.Request) (reply gate.Reply, asked []byte, err error) {
	stop := context.AfterFunc(ctx, func() { p.cancel(errGone) })
	defer stop()
	for {
		select {
		case <-p.done:
			p.server.parked.remove(p)
			return p.reply, nil, p.err
		case <-p.wake:
		}
		if asked := p.handOut(ctx, r, stop); asked != nil {
			return gate.Reply{}, asked, nil
		}
	}
}

// handOut parks the call and returns the result with its questions, or nil if there are no questions or the call cannot be parked.
func (p *parked) handOut(ctx context.Context, r *gate.Request, stop func() bool) []byte {
	if !p.server.parked.add(p) {
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
		return nil // the questions were withdrawn, or the request ends and the call with it
	}
	p.given = append(p.given, p.waiting...)
	p.waiting = nil
	p.round++
	p.notify = nil
	p.resumed = make(chan struct{})
	p.endUnlessResumed(p.resumed)
	requests := []byte("{}")
	for _, q := range p.given {
		request := rawjson.Set(rawjson.Set(nil, "method", rawjson.Quote(q.method)), "params", q.params)
		requests = rawjson.Set(requests, q.key, request)
	}
	state := p.server.sealer.sealState(p.session, r, requestState{Call: p.call, Round: p.round})
	return rawjson.Set(inputRequired(requests), "requestState", rawjson.Quote(state))
}

// endUnlessResumed ends a parked call if no retry resumes it.
func (p *parked) endUnlessResumed(resumed <-chan struct{}) {
	p.server.work.Go(func() {
		t := time.NewTimer(gate.Patience)
		defer t.Stop()
		select {
		case <-resumed:
			return
		case <-t.C:
			p.cancel(errNoAnswer)
		case <-p.session.Done():
			p.cancel(ErrEnded)
		case <-p.ctx.Done():
		}
		<-p.done
		p.server.parked.remove(p)
	})
}

// resume makes a retry's request the one at work on the call. It returns false if the state is not of the last round, or if another
// retry was first.
func (p *parked) resume(round int, notify func(method string, params []byte)) bool {
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

// settle hands over the answers that a retry brought. Questions without an answer are asked again; answers without a question are ignored.
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

// Notify passes a notice to the request that is at work on the call.
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
	if len(p.waiting)+len(p.given) >= maxQuestions {
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

// withdraw removes a question that nobody waits for any more.
func (p *parked) withdraw(q *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	without := func(from []*question) []*question {
		return slices.DeleteFunc(slices.Clone(from), func(o *question) bool { return o == q })
	}
	p.waiting, p.given = without(p.waiting), without(p.given)
}

// continueParked serves the retry that resumes a parked call. The gate decides anew, and the answers go to the server that waits.
func (s *Server) continueParked(
	ctx context.Context, l Link, r gate.Request, st requestState, answers []byte,
) (reply gate.Reply, asked []byte, err error) {
	p := s.parked.find(st.Call)
	var notify func(method string, params []byte)
	if r.Peer != nil {
		notify = r.Peer.Notify
	}
	if p == nil || p.session.ID != l.session.ID || !p.resume(st.Round, notify) {
		r.Invalid = gate.NotOpen
		reply, err = s.gate.Call(ctx, l.session, r) // the gate refuses and records it
		return reply, nil, err
	}
	r.Continues, r.Peer = p.call, nil
	if err := s.gate.Continue(ctx, l.session, r); err != nil {
		p.cancel(err)
		<-p.done
		s.parked.remove(p)
		return gate.Reply{}, nil, err
	}
	p.settle(answers)
	return p.follow(ctx, &r)
}
