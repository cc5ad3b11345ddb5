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

// DefaultAskLimit is how long a client may take for the answer to a question of a server, if the configuration sets no other time. A
// person answers.
const DefaultAskLimit = 10 * time.Minute

// maxAsks bounds the open questions of one connection. More are refused: each holds a goroutine and the attention of a person.
const maxAsks = 64

// question is a request of a server during a call.
type question struct {
	id     []byte // of the server, raw
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

// errNoCall answers a question that cannot be attributed to one call.
var errNoCall = &rpc.Error{
	Code: rpc.CodeInvalidRequest, Message: "no client can be asked: the request cannot be attributed to one call on this connection",
}

// ask queues a question for the call that it belongs to. The error says why that is not possible. Many servers ask for roots at their
// start, and use the answer for every client. So a question for roots belongs to no call until the catalog is learned; nor does it
// where each call has a stream of its own (streams) and the question did not come on one.
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

// cancelQuestion ends a question that the server has cancelled.
func (c *calls) cancelQuestion(id []byte) {
	c.mu.Lock()
	q := c.asked[string(id)]
	c.mu.Unlock()
	if q != nil {
		q.cancel()
	}
}

// removeQuestion removes a question from the table.
func (c *calls) removeQuestion(q *question) {
	c.mu.Lock()
	delete(c.asked, string(q.id))
	c.mu.Unlock()
	q.cancel()
}

// missingCapability is the error of a client that did not declare the capability for a question; nil: it did.
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
		// An empty capability means forms: older revisions have no other mode.
		if has("elicitation", mode) || mode == "form" && has("elicitation") && !has("elicitation", "url") {
			return nil
		}
		if has("elicitation") {
			return &rpc.Error{Code: rpc.CodeInvalidParams, Message: fmt.Sprintf("this client does not have the capability elicitation.%.20s", mode)}
		}
	}
	return &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "Method not found: this client does not have the capability for " + method}
}

// questions are the open questions of one call.
type questions struct {
	ctx    context.Context // ends with the call; nil: no question was asked yet
	cancel context.CancelFunc
	open   int
	ended  chan struct{} // gets one for each question that ended
	wg     sync.WaitGroup
}

// begin asks the client of p a question. It does not wait for the answer.
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

// end cancels the open questions and waits until the client knows.
func (a *questions) end() {
	if a.ctx != nil {
		a.cancel()
		a.wg.Wait()
	}
}

// askPeer asks the client one question and sends its answer to the server. A question that the server cancelled is not answered.
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
		err = errCallEnded
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it did not answer within %v", askLimit)
	case err == nil:
		err = errors.New("it gave no answer")
	}
	c.transport.respond(rpc.Message{ID: q.id, Error: noAnswer(err)})
}

var errCallEnded = errors.New("its call has ended")

// noAnswer is the raw error for a question that no client answered.
func noAnswer(err error) []byte {
	return (&rpc.Error{Code: rpc.CodeInternal, Message: "the client cannot be asked: " + err.Error()}).Raw()
}
