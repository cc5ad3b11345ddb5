// Package mcpclient is a connection to one MCP server: over stdio, Streamable HTTP, or the HTTP transport of 2024, in the revisions with a
// handshake and in the modern one. It pairs requests with their answers, and passes the notifications and questions of the server to the
// client that they concern. Results are passed on byte for byte.
package mcpclient

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"mycelium/internal/backend/catalog"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/backend/redact"
	"mycelium/internal/keeper"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The protocol revisions. Legacy revisions begin with initialize. The modern one has no handshake: each request says everything.
const (
	ModernVersion = "2026-07-28"
	LatestLegacy  = "2025-11-25"
)

// LegacyVersions are the revisions with a handshake, the newest first.
var LegacyVersions = []string{LatestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}

// MaxAnswer bounds one message of a server, in bytes. It is four times what a client may send us, because results carry files and
// pictures in base64 while requests only name them. A larger message would be held in memory twice per call.
const MaxAnswer = 4 * rpc.MaxMessage

// The names of the modern revision under _meta.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaLevel        = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// transport carries requests. Their answers go to the table of calls.
type transport interface {
	// send sends a request. Its answer, or the failure to get it, goes to p.
	send(p *pending, method string, params []byte) error
	// cancel tells the server that nobody waits for p any more. It does not wait.
	cancel(p *pending, reason string)
	// respond sends an answer to a request of the server. It may wait, for a bounded time.
	respond(m rpc.Message)
	// respondAsync is respond without waiting. The answer is dropped if too many wait already.
	respondAsync(m rpc.Message)
	// notify sends a notification.
	notify(ctx context.Context, method string, params []byte) error
	// setVersion sets the revision that was agreed on.
	setVersion(version string)
	// setTools sets the definitions of the server's tools, which the modern revision needs for its headers.
	setTools(tools [][]byte)
	// fail ends the connection: every call fails with err.
	fail(err error)
	// done is closed when the connection cannot be used any more.
	done() <-chan struct{}
	// close ends the connection and returns when everything that it started is gone: politely, and by force after grace.
	close(grace time.Duration)
}

// capabilities are the capabilities of a server that we act upon.
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

// Target is what is needed to reach a server: a program to start, or an address.
type Target struct {
	Argv []string // absolute program first; nil: the server is reached by its URL
	Env  []string
	Dir  string

	URL       *url.URL
	SSE       bool // it speaks the HTTP transport of 2024
	Headers   map[string]string
	Authority *oauth.Authority // gets tokens for it; nil: no token is sent

	Secrets redact.Redactor // what must not be shown to anybody
}

// Options of a connection.
type Options struct {
	ClientInfo []byte // ours, raw JSON
	Now        func() time.Time
	AskLimit   func() time.Duration // how long a client may take for the answer to a request of the server
	Stderr     io.WriteCloser       // gets the stderr of a process; nil: it is only kept for errors
	Memory     *rpc.Memory          // for what the server sends; nil: no bound but MaxAnswer
	Name       string               // of the server, whose share of Memory holds what is not known to be the answer to a call

	Changed func()              // a list of the server changed, or may have; must not wait
	Updated func(params []byte) // a resource was updated; must not wait; nil: nobody is interested
	Odd     func(what string)   // an answer reached no call; must not wait; nil: nobody is interested
	Missed  func()              // updates of resources may have been missed; must not wait; nil: nobody is interested
}

// Conn is a connection to one server.
type Conn struct {
	Options
	transport transport
	calls     *calls
	secrets   redact.Redactor
	stderr    func(string) error // adds what a process wrote to its stderr to an error; nil: there is no process

	version string
	modern  bool
	caps    capabilities
	about   catalog.About // what the server said of itself, as it came

	levelLock    chan struct{} // holds one while the log level is set
	received     atomic.Int64  // messages of the server
	listed       atomic.Bool   // its lists were asked for at least once
	wasListening atomic.Bool   // the stream of notices was open at least once, or there is none
	listening    chan struct{} // closed then
	listenSent   chan struct{} // closed when the request for that stream was sent, or could not be sent
}

// Open makes the transport to a server. The handshake is still to come.
func Open(t *Target, s keeper.Spawner, o Options) (*Conn, error) {
	c := &Conn{
		Options: o, calls: newCalls(o.Now), secrets: t.Secrets, levelLock: make(chan struct{}, 1),
		listening: make(chan struct{}), listenSent: make(chan struct{}),
	}
	switch {
	case t.URL != nil && t.SSE:
		c.transport = newSSE(t, c)
	case t.URL != nil:
		c.transport = newHTTP(t, c)
	default:
		proc, err := s.Spawn(t.Argv, t.Env, t.Dir)
		if err != nil {
			return nil, err
		}
		st := newStdio(proc, c, o)
		c.transport, c.stderr = st, st.explain
	}
	return c, nil
}

// Version is the protocol revision that was agreed on.
func (c *Conn) Version() string { return c.version }

// Done is closed when the connection cannot be used any more.
func (c *Conn) Done() <-chan struct{} { return c.transport.done() }

// Err says why the connection ended; nil: it stands.
func (c *Conn) Err() error { return c.calls.closedBy() }

// Fail ends the connection: every call fails with err.
func (c *Conn) Fail(err error) { c.transport.fail(err) }

// Close ends the connection and returns when everything that it started is gone: politely, and by force after grace.
func (c *Conn) Close(grace time.Duration) { c.transport.close(grace) }

// SetTools takes the definitions of the server's tools, which the modern revision needs for its headers.
func (c *Conn) SetTools(definitions [][]byte) { c.transport.setTools(definitions) }

// Busy counts the calls that the server is at work on.
func (c *Conn) Busy() int { return c.calls.busy() }

// Received counts the messages that came from the server.
func (c *Conn) Received() int64 { return c.received.Load() }

// Explain makes an error of a text, with the end of what the process wrote to its stderr.
func (c *Conn) Explain(text string) error {
	if c.stderr == nil {
		return errors.New(text)
	}
	return c.stderr(text)
}

// Request sends one request and waits for its answer: the raw result or the raw error object, byte for byte. When ctx or the call's limit
// ends first (ErrTimeout), the server is told. The limit does not run while the client is asked a question.
func (c *Conn) Request(ctx context.Context, r Call) (result, rpcErr []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if r.Answer == nil { // a request of our own
		r.Answer = c.claim()
		defer r.Answer.Release()
	}
	meta := rawjson.Member(r.Params, "_meta")
	token := rawjson.Member(meta, "progressToken")
	p, err := c.calls.add(r, token, levelOf(rawjson.Member(meta, metaLevel)))
	if err != nil {
		return nil, nil, &notSentError{err}
	}
	if err := c.transport.send(p, r.Method, c.rewriteMeta(p, meta)); err != nil {
		c.calls.failOne(p, err)
	}
	var a questions
	defer a.end()
	return c.await(ctx, p, &a)
}

// claim begins a claim of the server itself.
func (c *Conn) claim() *rpc.Claim { return c.Memory.Claim("server " + c.Name) }

// ErrTimeout means that the limit of a call is over.
var ErrTimeout = errors.New("no answer in time")

// timeoutError is ErrTimeout of a call during which an answer came that reached no call.
type timeoutError struct{ came string }

func (e *timeoutError) Error() string        { return ErrTimeout.Error() + "; " + e.came }
func (e *timeoutError) Is(target error) bool { return target == ErrTimeout }

// CameMeanwhile returns the answer that reached no call while a call ran into its time-out, in words; empty: none did.
func CameMeanwhile(err error) string {
	var e *timeoutError
	if errors.As(err, &e) {
		return e.came
	}
	return ""
}

// odd reports an answer that reached no call. Its text comes from the server.
func (c *Conn) odd(what string) {
	if c.Odd != nil {
		c.Odd(c.secrets.Text(what))
	}
}

// await handles the events of a request until the answer comes.
func (c *Conn) await(ctx context.Context, p *pending, a *questions) (result, rpcErr []byte, err error) {
	late := startStopwatch(p.Limit)
	defer late.stop()
	for {
		select {
		case <-p.wake:
			for _, n := range c.calls.takeEvents(p) {
				if n.question == nil {
					p.Peer.Notify(n.method, n.params)
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
			why := ErrTimeout
			if came := c.calls.cameMeanwhile(p); came != "" {
				why = &timeoutError{c.secrets.Text(came)}
			}
			return c.giveUp(p, why)
		case <-ctx.Done():
			return c.giveUp(p, ctx.Err())
		}
	}
}

// giveUp abandons a request whose caller does not wait any more.
func (c *Conn) giveUp(p *pending, why error) (result, rpcErr []byte, err error) {
	if !c.calls.abandon(p) {
		return c.finish(p, <-p.answer)
	}
	if p.stop != nil {
		defer p.stop()
	}
	if p.Method != methodInitialize && p.Method != methodDiscover { // the protocol forbids to cancel the first; both are over soon
		c.transport.cancel(p, "the caller went away")
	}
	_, _, _ = c.finish(p, answer{})
	return nil, nil, why
}

// finish passes on the events that came before the answer. No more are added.
func (c *Conn) finish(p *pending, a answer) (result, rpcErr []byte, err error) {
	for _, n := range c.calls.takeEvents(p) {
		if n.question == nil {
			p.Peer.Notify(n.method, n.params)
			continue
		}
		c.calls.removeQuestion(n.question)
		c.transport.respondAsync(rpc.Message{ID: n.question.id, Error: noAnswer(errCallEnded)})
	}
	return a.msg.Result, a.msg.Error, a.err
}

// rewriteMeta puts our progress token into a caller's params, and sets or removes the fields of the modern revision. What a client says
// of itself never reaches a server, except its capabilities.
func (c *Conn) rewriteMeta(p *pending, meta []byte) []byte {
	modern := c.modern || p.Method == methodDiscover
	if meta == nil && !modern {
		return p.Params
	}
	if meta != nil && meta[0] != '{' { // not an object: the server decides what that means
		return p.Params
	}
	if p.token != nil {
		meta = rawjson.Set(meta, "progressToken", strconv.AppendInt(nil, p.id, 10))
	}
	if modern {
		declared := catalog.Object(p.declared)
		switch {
		case declared != nil:
		case p.describes():
			declared = []byte(clientCapabilities)
		default:
			declared = []byte("{}")
		}
		meta = rawjson.Set(meta, metaVersion, []byte(`"`+ModernVersion+`"`))
		meta = rawjson.Set(meta, metaClient, c.ClientInfo)
		meta = rawjson.Set(meta, metaCapabilities, declared)
	} else {
		meta = rawjson.Set(meta, metaVersion, nil)
		meta = rawjson.Set(meta, metaClient, nil)
		meta = rawjson.Set(meta, metaCapabilities, nil)
		meta = rawjson.Set(meta, metaLevel, nil)
	}
	return rawjson.Set(p.Params, "_meta", meta)
}

// notice handles a notification that concerns no call.
func (c *Conn) notice(method string, params []byte) {
	switch method {
	case noticeUpdated:
		if c.Updated != nil {
			c.Updated(params)
		}
		return
	case noticeAcknowledged:
		if !c.modern && c.Missed != nil {
			c.Missed()
		}
		if c.setListening() && !c.listed.Load() {
			return // the first list is still to come
		}
		// A list was asked for before the stream was open, or the stream was closed for a while: changes were missed.
	}
	c.Changed()
}

// setListening records that the stream of notices is open, or that there is none. It reports whether that is new.
func (c *Conn) setListening() bool {
	if c.wasListening.Swap(true) {
		return false
	}
	close(c.listening)
	return true
}

// notSentError is a request that never reached the server. It may be sent again on another connection.
type notSentError struct{ err error }

func (e *notSentError) Error() string { return e.err.Error() }
func (e *notSentError) Unwrap() error { return e.err }

// IsNotSent reports whether a request never reached the server.
func IsNotSent(err error) bool {
	var e *notSentError
	return errors.As(err, &e)
}
