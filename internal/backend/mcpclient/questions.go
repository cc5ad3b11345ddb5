package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The requests of a server that a client answers.
const (
	methodElicit = "elicitation/create"
	methodSample = "sampling/createMessage"
	methodRoots  = "roots/list"
)

// DefaultAskLimit is how long a client may take for a question of a server, where the configuration says nothing: a person answers.
const DefaultAskLimit = 10 * time.Minute

// maxAsks bounds the questions that are open for one connection. More are refused: each holds a goroutine, and a person's attention.
const maxAsks = 64

// question is a request of a server during a call.
type question struct {
	id     []byte // the server's, raw
	method string
	params []byte
	ctx    context.Context // ends when the server withdraws it
	cancel context.CancelFunc
}

func newQuestion(m rpc.Message) *question {
	q := &question{id: bytes.Clone(m.ID), method: m.Method, params: bytes.Clone(m.Params)}
	q.ctx, q.cancel = context.WithCancel(context.Background())
	return q
}

// errNoCall answers a question that belongs to no call, or to one of several.
var errNoCall = &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "nobody can be asked: no call waits on this connection to which the request can only belong"}

// ask enters a question at the call that it belongs to; an error says why not. Many servers ask for roots at their start, and keep what
// they got for everybody: until the catalog is learned, and where each call has its stream (streams) and this is not on one, roots are
// nobody's, whoever may be calling at that moment.
func (c *calls) ask(q *question, of *pending, streams bool) *rpc.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := of
	if p == nil {
		if p = c.callOfTask(q.params); p == nil && (q.method != methodRoots || !streams && c.learned.Load()) {
			p = c.soleCall()
		}
	}
	if p == nil || p.Peer == nil {
		return errNoCall
	}
	if _, twice := c.asked[string(q.id)]; twice {
		return &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "a request with this id is still open"}
	}
	if e := missingCapability(p.declared, q.method, q.params); e != nil {
		return e
	}
	if len(c.asked) >= maxAsks {
		return &rpc.Error{Code: rpc.CodeInternal, Message: fmt.Sprintf("too many requests at once: %d wait for clients", maxAsks)}
	}
	if !c.post(p, event{question: q}) {
		return errNoCall
	}
	c.asked[string(q.id)] = q
	if q.method == methodElicit {
		c.rememberPeer(p, elicitationKey, rawjson.Member(q.params, "elicitationId"))
	}
	return nil
}

// cancelQuestion ends a question because the server does not want its answer any more.
func (c *calls) cancelQuestion(id []byte) {
	c.mu.Lock()
	q := c.asked[string(id)]
	c.mu.Unlock()
	if q != nil {
		q.cancel()
	}
}

// removeQuestion takes a question out.
func (c *calls) removeQuestion(q *question) {
	c.mu.Lock()
	delete(c.asked, string(q.id))
	c.mu.Unlock()
	q.cancel()
}

// missingCapability is the error of a client that did not declare what a question needs; nil: it did.
func missingCapability(capabilities []byte, method string, params []byte) *rpc.Error {
	has := func(path ...string) bool { return catalog.Object(rawjson.Path(capabilities, path...)) != nil }
	switch method {
	case methodRoots:
		if has("roots") {
			return nil
		}
	case methodSample:
		if has("sampling", "tools") || has("sampling") && rawjson.Member(params, "tools") == nil && rawjson.Member(params, "toolChoice") == nil {
			return nil
		}
		if has("sampling") {
			return &rpc.Error{Code: rpc.CodeInvalidParams, Message: "this client does not have the capability sampling.tools"}
		}
	case methodElicit:
		mode, given := rawjson.Text(rawjson.Member(params, "mode"))
		if !given {
			mode = "form"
		}
		// An empty capability is that of the form, as it was before there were others.
		if has("elicitation", mode) || mode == "form" && has("elicitation") && !has("elicitation", "url") {
			return nil
		}
		if has("elicitation") {
			return &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf("this client does not have the capability elicitation.%.20s", mode)}
		}
	}
	return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "Method not found: this client does not have the capability for " + method}
}

// questions is the questions of one call that are open.
type questions struct {
	ctx    context.Context // ends with the call; nil: nothing was asked yet
	cancel context.CancelFunc
	open   int
	ended  chan struct{} // one for each that ended
	wg     sync.WaitGroup
}

// begin asks the client of p. It does not wait.
func (a *questions) begin(ctx context.Context, c *Conn, p *pending, q *question) {
	if a.ctx == nil {
		a.ctx, a.cancel = context.WithCancel(ctx)
		a.ended = make(chan struct{}, maxAsks)
	}
	a.open++
	a.wg.Go(func() {
		c.askPeer(a.ctx, p.Peer, q)
		a.ended <- struct{}{}
	})
}

// end withdraws what is open and waits until the client knows.
func (a *questions) end() {
	if a.ctx != nil {
		a.cancel()
		a.wg.Wait()
	}
}

// askPeer asks the client one question and sends its answer to the server. A question that the server withdrew is not answered.
func (c *Conn) askPeer(ctx context.Context, peer Peer, q *question) {
	defer c.calls.removeQuestion(q)
	askLimit := c.AskLimit()
	limited, cancel := context.WithTimeout(q.ctx, askLimit)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	result, rpcErr, err := peer.Ask(limited, q.method, q.params)
	switch {
	case q.ctx.Err() != nil:
		return
	case err == nil && (result != nil || rpcErr != nil):
		c.transport.respond(rpc.Message{ID: q.id, Result: result, Error: rpcErr})
		return
	case ctx.Err() != nil:
		err = errEnded
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it did not answer within %v", askLimit)
	case err == nil:
		err = errors.New("it gave no answer")
	}
	c.transport.respond(rpc.Message{ID: q.id, Error: unasked(err)})
}

var errEnded = errors.New("its call has ended")

// unasked is the error for a question that no client answered.
func unasked(err error) []byte {
	return (&rpc.Error{Code: rpc.CodeInternal, Message: "the client cannot be asked: " + err.Error()}).Raw()
}
