package mcpserver

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"mycelium/internal/gate"
	"mycelium/internal/rpc"
)

// maxQuestions bounds the open questions to one client, and those within one parked call.
const maxQuestions = 32

// The reasons why links, calls and questions end early.
var (
	ErrClosed = errors.New("the gateway is closed")
	ErrEnded  = errors.New("the session has ended")

	errNobody   = errors.New("this client cannot be asked")
	errBusy     = errors.New("the client has too many questions open")
	errNotSent  = errors.New("the client does not read, so it cannot be asked")
	errNoAnswer = errors.New("the client did not answer in time")
	errGone     = errors.New("the client went away")
)

// questions are the open questions to one client. Only here is an answer matched by its id: the answer of one client never settles
// a question to another.
type questions struct {
	mu   sync.Mutex
	last int64
	open map[string]chan rpc.Message
}

func (q *questions) begin() (id []byte, answer <-chan rpc.Message, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.open) >= maxQuestions {
		return nil, nil, errBusy
	}
	if q.open == nil {
		q.open = map[string]chan rpc.Message{}
	}
	q.last++
	id = strconv.AppendInt(nil, q.last, 10)
	c := make(chan rpc.Message, 1)
	q.open[string(id)] = c
	return id, c, nil
}

// end forgets a question: a late answer settles nothing.
func (q *questions) end(id []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, string(id))
}

// settle hands an answer to whoever waits for it. Only the first answer counts.
func (q *questions) settle(m rpc.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c, ok := q.open[string(m.ID)]; ok {
		delete(q.open, string(m.ID))
		c <- m
	}
}

// fail ends a question whose answer cannot be used. It reports whether somebody waits for it.
func (q *questions) fail(id []byte, why *rpc.Error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c, ok := q.open[string(id)]
	if ok {
		delete(q.open, string(id))
		e := &rpc.Error{Code: rpc.CodeInternal, Message: "the client's answer cannot be used: " + why.Message}
		c <- rpc.Message{Error: e.Raw()}
	}
	return ok
}

// Ask sends a request of ours to a client of the era with a handshake, and waits for the answer.
func (l Link) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	if refusal := undeclared(l.capabilities, method, params); refusal != nil {
		return nil, refusal.Raw(), nil
	}
	id, answer, err := l.questions.begin()
	if err != nil {
		return nil, nil, err
	}
	defer l.questions.end(id)
	ctx, cancel := context.WithTimeoutCause(ctx, gate.Patience, errNoAnswer)
	defer cancel()
	if !l.Send(rpc.Message{ID: id, Method: method, Params: params}) {
		return nil, nil, errNotSent
	}
	select {
	case m := <-answer:
		return m.Result, m.Error, nil
	case <-l.Gone:
		return nil, nil, errGone
	case <-ctx.Done():
		reason := append([]byte(`{"requestId":`), id...)
		l.Send(rpc.Message{Method: "notifications/cancelled", Params: append(reason, '}')})
		return nil, nil, context.Cause(ctx)
	}
}

// peer is the client of one call, as the gate and the backend see it. notify is nil if the client asked for no notices, ask if it
// cannot be asked.
type peer struct {
	capabilities []byte
	notify       func(method string, params []byte)
	ask          func(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error)
}

// peer returns the client of one request as servers may reach it, or nil if it declared nothing and asked for no notices.
func (l Link) peer(m rpc.Message) gate.Peer {
	p := peer{capabilities: passable(l.capabilities, l.Send != nil || l.Modern())}
	if wanted := l.wanted(m); wanted != nil && l.Notice != nil {
		p.notify = func(method string, params []byte) {
			if wanted(method, params) {
				l.Notice(method, params)
			}
		}
	}
	if l.Send != nil {
		p.ask = l.Ask
	}
	if p.capabilities == nil && p.notify == nil {
		return nil
	}
	return p
}

// Capabilities are what the client declared, as far as it reaches through us.
func (p peer) Capabilities() []byte { return p.capabilities }

// Notify passes on what the client asked for.
func (p peer) Notify(method string, params []byte) {
	if p.notify != nil {
		p.notify(method, params)
	}
}

// Ask asks the client.
func (p peer) Ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte, err error) {
	if p.ask == nil {
		if refusal := undeclared(p.capabilities, method, params); refusal != nil {
			return nil, refusal.Raw(), nil
		}
		return nil, nil, errNobody
	}
	return p.ask(ctx, method, params)
}
