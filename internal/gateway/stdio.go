package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"mycelium/internal/gate"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

const (
	maxRunning = 256             // requests of one stdio client that are served at once
	maxQueued  = 4096            // requests that it may have open; more are refused
	drain      = 3 * time.Second // what requests have left when the client has closed its end
)

// errClosed is why a link ended that did not end by itself.
var errClosed = errors.New("the gateway is closed")

// errCancelled is why a request ends that its client has cancelled: it is not answered.
var errCancelled = errors.New("the client cancelled the request")

// errEnded is why links end whose session has ended or expired.
var errEnded = errors.New("the session has ended")

// Stdio serves one client over lines until r ends or ctx is done; it returns when everything it started is gone, but for a read of r
// that cannot be interrupted (see [rpc.Interrupt]). When r ends, requests that still run have three seconds to be answered.
// The error is nil when the client ended the stream.
func (s *Server) Stdio(ctx context.Context, sess *gate.Session, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &stdioConn{
		server: s, client: &client{session: sess, surface: surfaceStdio}, cancel: cancel,
		out: newOutbox(w), running: map[string]context.CancelFunc{}, slots: make(chan struct{}, maxRunning),
	}
	c.client.told = c.out.notice
	defer c.client.subs.end()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	c.listening = listening
	c.work.Go(func() { c.out.flushNotices(ctx, cancel) })
	read := make(chan error, 1)
	go c.read(ctx, rpc.NewLines(r, s.maxBody), read)
	select {
	case err := <-read:
		stop()
		c.drain(ctx)
		cancel(nil)
		c.out.interrupt()
		c.work.Wait()
		return err
	case <-sess.Done():
		cancel(errEnded)
	case <-s.ctx.Done():
		cancel(errClosed)
	case <-ctx.Done():
	}
	err := context.Cause(ctx)
	c.out.interrupt()
	if rpc.Interrupt(r) {
		if late := <-read; err == nil {
			err = late
		}
	}
	c.work.Wait()
	return err
}

// drain lets requests be answered whose client has only closed its end.
func (c *stdioConn) drain(ctx context.Context) {
	answered := make(chan struct{})
	c.work.Go(func() { c.requests.Wait(); close(answered) })
	t := time.NewTimer(drain)
	defer t.Stop()
	select {
	case <-answered:
	case <-t.C:
	case <-ctx.Done():
	}
}

// stdioConn is one client on lines.
type stdioConn struct {
	server    *Server
	client    *client // as initialize made it; modern requests bring their own
	out       *outbox
	cancel    context.CancelCauseFunc
	listening context.Context // ends when the client closes its end
	slots     chan struct{}
	work      sync.WaitGroup // every goroutine
	requests  sync.WaitGroup // those that serve a request

	mu      sync.Mutex
	running map[string]context.CancelFunc // by id
}

// read takes messages until the client's stream ends, which it tells to ended. Whoever has read a request serves it, and lets another
// goroutine read on: the other way around each request would wait until some other thread has woken up and fetched it.
func (c *stdioConn) read(ctx context.Context, lines *rpc.Lines, ended chan<- error) {
	for {
		serve, err := c.next(ctx, lines)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			ended <- err
			return
		}
		if serve != nil {
			go c.read(ctx, lines, ended)
			serve()
			return
		}
	}
}

// next takes one message, and returns what serves it where it is a request that may take time. The end of the stream is io.EOF.
func (c *stdioConn) next(ctx context.Context, lines *rpc.Lines) (serve func(), err error) {
	line, err := lines.Next()
	switch {
	case errors.Is(err, rpc.ErrTooLong):
		c.say(refuse(nil, tooLarge(c.server.maxBody)))
		return nil, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read from client: %w", err)
	case ctx.Err() != nil:
		return nil, ctx.Err() // the read could not be interrupted, and has come too late
	}
	m, bad := rpc.Parse(bytes.Clone(line))
	switch {
	case bad != nil:
		c.say(refuse(m.ID, bad))
	case m.IsResponse():
		c.client.asks.settle(m)
	case m.ID == nil:
		c.notification(m)
	default:
		return c.request(ctx, m), nil
	}
	return nil, nil
}

// say writes one answer. A client that cannot be written to is gone.
func (c *stdioConn) say(m rpc.Message) {
	if err := c.out.send(m); err != nil {
		c.cancel(fmt.Errorf("write to client: %w", err))
	}
}

func tooLarge(limit int) *rpc.Error {
	return invalidRequest(fmt.Sprintf("message too large: the limit is %d bytes", limit))
}

func (c *stdioConn) notification(m rpc.Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[idKey(rawjson.Member(m.Params, "requestId"))]; cancel != nil {
		cancel()
	}
}

// idKey makes equal ids equal text.
func idKey(id []byte) string {
	if bytes.IndexByte(id, '\\') >= 0 {
		if text, ok := rawjson.Text(id); ok {
			return string(rawjson.Quote(text))
		}
	}
	return string(id)
}

// request begins one request, and returns what serves it, to be called once; nil: it is answered.
func (c *stdioConn) request(ctx context.Context, m rpc.Message) (serve func()) {
	cl := c.client
	if version, modern := metaOf(m); modern {
		if bad := checkModern(m, version); bad != nil {
			c.say(refuse(m.ID, bad))
			return nil
		}
		cl = modernClient(c.client.session, surfaceStdio, m)
	}
	l := link{client: cl, notice: c.out.notice}
	if !cl.modern() {
		l.send = c.out.queue
	}
	switch m.Method {
	case "initialize":
		c.initialize(ctx, l, m)
		return nil
	case "ping", "logging/setLevel": // at once, so that what follows a new level is served under it
		reply, _ := c.server.serve(ctx, l, m)
		c.say(reply)
		return nil
	}
	listen := m.Method == "subscriptions/listen"
	if listen {
		ctx = c.listening
	}
	ctx, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	if bad := c.begin(m.ID, func() { end(errCancelled) }); bad != nil {
		cancel()
		c.say(refuse(m.ID, bad))
		return nil
	}
	c.requests.Add(1)
	c.work.Add(1)
	return func() {
		defer c.work.Done()
		defer c.requests.Done()
		defer cancel()
		if !listen {
			select {
			case c.slots <- struct{}{}:
				defer func() { <-c.slots }()
			case <-ctx.Done():
			}
		}
		reply, ok := c.server.serve(ctx, l, m)
		c.end(m.ID)
		if !ok || context.Cause(ctx) == errCancelled || ctx.Err() != nil && c.listening.Err() == nil {
			return
		}
		c.say(reply)
	}
}

// initialize is served before anything else is read, because what follows depends on it.
func (c *stdioConn) initialize(ctx context.Context, l link, m rpc.Message) {
	before := l.version
	v := c.server.look(l.session)
	reply, _ := c.server.serve(ctx, l, m)
	c.say(reply)
	if before == "" && reply.Error == nil {
		v.subs = &c.client.subs
		c.work.Go(func() {
			v.watch(c.listening, kinds{true, true, true}, func(method string) { c.out.notice(method, nil) })
		})
	}
}

// begin notes a request, so that it can be cancelled.
func (c *stdioConn) begin(id []byte, cancel context.CancelFunc) *rpc.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := idKey(id)
	if c.running[key] != nil {
		return invalidRequest("a request with this id is still open")
	}
	if len(c.running) >= maxQueued {
		return &rpc.Error{Code: rpc.CodeInternal, Message: "too many open requests"}
	}
	c.running[key] = cancel
	return nil
}

func (c *stdioConn) end(id []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, idKey(id))
}
