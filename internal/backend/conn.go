package backend

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The protocol revisions. The first four begin with initialize; the modern one has no handshake and says everything in each
// request.
const (
	modernVersion = "2026-07-28"
	latestLegacy  = "2025-11-25"
)

var legacyVersions = []string{latestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}

// The names of the modern revision under _meta.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaLevel        = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// link is a transport: it carries requests whose answers go to the table of calls.
type link interface {
	// send sends a request. Its answer, or the failure to get one, goes to p.
	send(p *pending, method string, params []byte) error
	// cancel tells the server that nobody waits for p any more. It does not wait.
	cancel(p *pending, reason string)
	// respond sends an answer to a request of the server. It may wait, for a bounded time.
	respond(m rpc.Message)
	// respondSoon is respond without waiting; the answer is dropped where too many wait already.
	respondSoon(m rpc.Message)
	// notify sends a notification.
	notify(ctx context.Context, method string, params []byte) error
	// speak sets the revision that was agreed on.
	speak(version string)
	// knows tells the definitions of the server's tools, which the modern revision needs for its headers.
	knows(tools [][]byte)
	// broken ends the connection: every call fails with err.
	broken(err error)
	// gone is closed when the connection cannot be used any more.
	gone() <-chan struct{}
	// close ends it and returns when everything that it started is gone: politely, and after grace by force.
	close(grace time.Duration)
}

// capabilities are those of a server's that we act upon.
type capabilities struct {
	Tools     *listCapability `json:"tools"`
	Prompts   *listCapability `json:"prompts"`
	Resources *listCapability `json:"resources"`
	Logging   *struct{}       `json:"logging"`
}

type listCapability struct {
	ListChanged bool `json:"listChanged"`
	Subscribe   bool `json:"subscribe"` // of resources
}

// conn is a server that we can talk to: a link after its handshake.
type conn struct {
	link    link
	calls   *calls
	client  []byte // our clientInfo, raw
	version string
	modern  bool
	caps    capabilities
	said    About // what it said of itself, as it came
	secrets redactor
	stderr  func(string) error // adds what a process said to an error; nil: there is none

	patience func() time.Duration // how long a client may take for a question
	updated  func(params []byte)  // takes what the server tells of a resource; never waits; nil: nobody listens
	missed   func()               // is told when the stream on which that comes is open again; never waits; nil: nobody listens
	tuning   chan struct{}        // holds one while the log level is set

	log      *serverLog      // what its stderr is kept in; nil: nothing is kept
	pulse    *pulse          // of its life
	hears    atomic.Bool     // the stream of notices was open at least once
	heard    chan struct{}   // closed then, or when it is known that there is none
	dirty    chan struct{}   // a list changed; holds one
	wishes   chan chan error // who wants the catalog learned anew
	first    chan struct{}   // closed when it was learned, or not, for the first time
	firstErr error           // good after first
}

// open makes the link to a server.
func (c *conn) open(l *launch, s spawner) error {
	if l.url != nil && l.old {
		c.link = newSSELink(l, c)
		return nil
	}
	if l.url != nil {
		c.link = newHTTPLink(l, c)
		return nil
	}
	proc, err := s.spawn(l.argv, l.env, l.dir)
	if err != nil {
		return err
	}
	link := newStdioLink(proc, c, l.secrets)
	c.link, c.stderr = link, link.explain
	return nil
}

// explain makes an error of a text, with what the process said.
func (c *conn) explain(text string) error {
	if c.stderr == nil {
		return errors.New(text)
	}
	return c.stderr(text)
}

// request sends one request and waits for its answer: the raw result or the raw error object, byte for byte. When ctx or the call's limit
// ends first (errLate), the server is told. The clock of the limit stands while the client is asked something.
func (c *conn) request(ctx context.Context, r call) (result, rpcErr []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	meta := rawjson.Member(r.params, "_meta")
	token := rawjson.Member(meta, "progressToken")
	p, err := c.calls.add(r, token, levelOf(rawjson.Member(meta, metaLevel)))
	if err != nil {
		return nil, nil, &notSentError{err}
	}
	if err := c.link.send(p, r.method, c.address(p, meta)); err != nil {
		c.calls.end(p, err)
	}
	var a asking
	defer a.end()
	return c.await(ctx, p, &a)
}

var errLate = errors.New("no answer in time")

// await serves a request until it has its answer.
func (c *conn) await(ctx context.Context, p *pending, a *asking) (result, rpcErr []byte, err error) {
	late := startWatch(p.limit)
	defer late.stop()
	for {
		select {
		case <-p.wake:
			for _, n := range c.calls.read(p) {
				if n.question == nil {
					p.peer.Notify(n.method, n.params)
					continue
				}
				late.stop()
				a.begin(ctx, c, p, n.question)
			}
		case <-a.ended:
			if a.open--; a.open == 0 {
				late.start()
			}
		case got := <-p.answer:
			return c.finish(p, got)
		case <-late.c:
			return c.giveUp(p, errLate)
		case <-ctx.Done():
			return c.giveUp(p, ctx.Err())
		}
	}
}

// giveUp ends a request that nobody waits for any more.
func (c *conn) giveUp(p *pending, why error) (result, rpcErr []byte, err error) {
	if !c.calls.abandon(p) {
		return c.finish(p, <-p.answer)
	}
	if p.stop != nil {
		defer p.stop()
	}
	if p.method != "initialize" { // which must not be cancelled
		c.link.cancel(p, "the caller went away")
	}
	_, _, _ = c.finish(p, answer{})
	return nil, nil, why
}

// finish passes on what was said before the answer. Nothing is added any more.
func (c *conn) finish(p *pending, a answer) (result, rpcErr []byte, err error) {
	for _, n := range c.calls.read(p) {
		if n.question == nil {
			p.peer.Notify(n.method, n.params)
			continue
		}
		c.calls.answered(n.question)
		c.link.respondSoon(rpc.Message{ID: n.question.id, Error: unasked(errEnded)})
	}
	return a.msg.Result, a.msg.Error, a.err
}

// address makes a caller's params ours: our progress token, and the modern revision's fields set or removed. What a client
// says of itself never reaches a server, but for what it can be asked.
func (c *conn) address(p *pending, meta []byte) []byte {
	if meta == nil && !c.modern {
		return p.params
	}
	if meta != nil && meta[0] != '{' { // not an object: the server shall judge it
		return p.params
	}
	if p.token != nil {
		meta = rawjson.Set(meta, "progressToken", strconv.AppendInt(nil, p.id, 10))
	}
	if c.modern {
		declared := object(p.declared)
		if declared == nil {
			declared = []byte("{}")
		}
		meta = rawjson.Set(meta, metaVersion, []byte(`"`+modernVersion+`"`))
		meta = rawjson.Set(meta, metaClient, c.client)
		meta = rawjson.Set(meta, metaCapabilities, declared)
	} else {
		meta = rawjson.Set(meta, metaVersion, nil)
		meta = rawjson.Set(meta, metaClient, nil)
		meta = rawjson.Set(meta, metaCapabilities, nil)
		meta = rawjson.Set(meta, metaLevel, nil)
	}
	return rawjson.Set(p.params, "_meta", meta)
}

// notice takes what a server tells that concerns no call.
func (c *conn) notice(method string, params []byte) {
	switch method {
	case noticeUpdated:
		if c.updated != nil {
			c.updated(params)
		}
		return
	case noticeListening:
		if !c.modern && c.missed != nil {
			c.missed()
		}
		if !c.hears.Swap(true) {
			close(c.heard)
			return // the first lesson is under way or done
		}
		// The stream was lost for a while: what changed then was not heard.
	}
	select {
	case c.dirty <- struct{}{}:
	default:
	}
}

// notSentError is a request that never reached the server, so that it may be sent again elsewhere.
type notSentError struct{ err error }

func (e *notSentError) Error() string { return e.err.Error() }
func (e *notSentError) Unwrap() error { return e.err }

func isNotSent(err error) bool {
	var e *notSentError
	return errors.As(err, &e)
}

// excerpt shortens what a server said for an error text.
func excerpt(b []byte) string {
	const most = 300
	s := printable(string(b))
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
