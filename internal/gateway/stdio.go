package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/rpc"
)

// drainTime is how long requests may still run when the client has closed its end.
const drainTime = 3 * time.Second

// movedWithin is how long a relay may take to stop sending requests to a process that leaves.
const movedWithin = 5 * time.Second

// ErrLeft is why Stdio ends with a process that leaves: the client goes on with the next one.
var ErrLeft = errors.New("the client goes on with the next daemon")

// errCancelled is why a request ends that its client has cancelled: it is not answered.
var errCancelled = errors.New("the client cancelled the request")

// everything is the lists of whose changes clients with a handshake are notified.
var everything = mcpserver.Lists{Tools: true, Prompts: true, Resources: true}

// Stdio serves one client over lines until r ends or ctx is done. It returns when every goroutine that it started has returned, except
// for a read of r that cannot be interrupted (see [rpc.Interrupt]). When r ends, requests that still run have three seconds to be
// answered, and none in a session that is bound to a folder. The error is nil if the client ended the stream.
//
// When leaving is closed, Stdio tells the relay at the other end ([rpc.Leaving]), answers every request that this one has sent by then, and
// returns ErrLeft. A nil leaving is of a client without a relay.
//
// A client of one server only is served the tools of that server, under their bare names, and nothing else; empty: what the session sees.
func (s *Server) Stdio(ctx context.Context, sess *session.Session, only string, leaving <-chan struct{}, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &stdioConn{server: s, session: sess, only: only, cancel: cancel, out: newOutbox(w), slots: make(chan struct{}, maxRunning),
		moved: make(chan struct{})}
	c.client = mcpserver.NewClient(sess, surfaceStdio, c.out.notice)
	defer c.client.Close()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	c.listening = listening
	c.work.Go(func() { c.out.flushNotices(ctx, cancel) })
	read := make(chan error, 1)
	lines := rpc.NewLines(r, s.maxBody)
	lines.Charge(s.memory, sess.ID)
	go c.read(ctx, lines, read)
	if leaving != nil {
		c.work.Go(func() { c.leave(ctx, leaving, stop) })
	}
	select {
	case err := <-read:
		stop()
		if sess.Folder == "" { // else its worktree may be another one's now
			c.drain(ctx)
		}
		cancel(nil)
		c.out.interrupt()
		c.work.Wait()
		return err
	case <-sess.Done():
		cancel(mcpserver.ErrEnded)
	case <-s.work.Context().Done():
		cancel(mcpserver.ErrClosed)
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

// leave waits for leaving, tells the relay, and ends the connection when every request that came before [rpc.Moved] is answered. A relay of
// an earlier version says nothing.
func (c *stdioConn) leave(ctx context.Context, leaving <-chan struct{}, stop context.CancelFunc) {
	select {
	case <-leaving:
	case <-ctx.Done():
		return
	}
	c.out.notice(rpc.Leaving, nil)
	t := time.NewTimer(movedWithin)
	defer t.Stop()
	select {
	case <-c.moved:
	case <-t.C:
	case <-ctx.Done():
		return
	}
	stop()
	c.serving.Wait()
	c.cancel(ErrLeft)
}

// drain waits until the open requests are answered, but no longer than drainTime.
func (c *stdioConn) drain(ctx context.Context) {
	answered := make(chan struct{})
	c.work.Go(func() { c.serving.Wait(); close(answered) })
	t := time.NewTimer(drainTime)
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
	session   *session.Session
	only      string            // the server whose tools it is served; empty: all
	client    *mcpserver.Client // in the era with a handshake; modern requests bring their own
	moved     chan struct{}     // closed when the relay sends no request any more
	out       *outbox
	cancel    context.CancelCauseFunc
	listening context.Context // ends when the client closes its end
	requests  requests
	slots     chan struct{}
	work      sync.WaitGroup // every goroutine
	serving   sync.WaitGroup // the goroutines that serve a request
}

// read takes messages until the client's stream ends, and sends the reason to ended. The goroutine that read a request serves it, while
// a new one reads on: if it handed the request over instead, each request would wait until another thread wakes up.
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

// next takes one message. If that is a request that may take time, next returns a function that serves it. At the end of the stream
// err is io.EOF.
func (c *stdioConn) next(ctx context.Context, lines *rpc.Lines) (serve func(), err error) {
	line, held, err := lines.Take()
	defer func() {
		if serve == nil {
			held.Release()
		}
	}()
	switch {
	case errors.Is(err, rpc.ErrTooLong):
		c.unreadable(lines, tooLarge(c.server.maxBody))
		return nil, nil
	case errors.Is(err, rpc.ErrBusy):
		c.unreadable(lines, rpc.ErrBusy)
		return nil, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	case err != nil:
		return nil, fmt.Errorf("read from client: %w", err)
	case ctx.Err() != nil:
		return nil, ctx.Err() // the read could not be interrupted, and returned too late
	}
	var m rpc.Message
	var bad *rpc.Error
	c.server.memory.Work(len(line), func() { m, bad = rpc.Parse(line) })
	switch {
	case bad != nil && m.Method == "" && c.client.CannotUse(m.ID, bad):
	case bad != nil:
		c.say(rpc.Refuse(m.ID, bad))
	case m.IsResponse():
		c.client.Answer(m)
	case m.Method == rpc.Moved && m.ID == nil:
		c.noteMoved()
	case m.ID == nil:
		c.requests.notification(m)
	default:
		return c.request(ctx, m, held), nil
	}
	return nil, nil
}

// noteMoved notes that the relay sends no request any more. The goroutines that read take turns, so only one calls it at a time.
func (c *stdioConn) noteMoved() {
	select {
	case <-c.moved:
	default:
		close(c.moved)
	}
}

// unreadable refuses a line of which only the beginning and the end are known.
func (c *stdioConn) unreadable(lines *rpc.Lines, why *rpc.Error) {
	if head, tail := lines.TooLong(); !c.client.CannotUse(rpc.PartialID(head, tail), why) {
		c.say(rpc.Refuse(rpc.RequestID(head, tail), why))
	}
}

// say writes one answer. If that fails, the connection ends.
func (c *stdioConn) say(m rpc.Message) {
	if err := c.out.send(m); err != nil {
		c.cancel(fmt.Errorf("write to client: %w", err))
	}
}

func tooLarge(limit int) *rpc.Error {
	return rpc.InvalidRequest(fmt.Sprintf("message too large: the limit is %d bytes", limit))
}

// request begins one request, and returns a function that serves it, to be called once, or nil if it is answered. The function releases
// what the request holds.
func (c *stdioConn) request(ctx context.Context, m rpc.Message, held *rpc.Claim) (serve func()) {
	l := mcpserver.Link{Client: c.client, Only: c.only, Notice: c.out.notice, Send: c.out.queue}
	if version, modern := mcpserver.Revision(m); modern {
		client, bad := mcpserver.ModernClient(c.session, surfaceStdio, m, version)
		if bad != nil {
			c.say(rpc.Refuse(m.ID, bad))
			return nil
		}
		l.Client, l.Send = client, nil
	}
	switch m.Method {
	case "initialize":
		c.initialize(ctx, l, m)
		return nil
	case "ping", "logging/setLevel": // at once, so that a new level holds for the next request
		reply, _ := c.server.mcp.Serve(ctx, l, m)
		c.say(reply)
		return nil
	}
	listen := m.Method == "subscriptions/listen"
	if listen {
		ctx = c.listening
	}
	ctx, end := context.WithCancelCause(ctx)
	cancel := func() { end(nil) }
	if bad := c.requests.begin(m.ID, func() { end(errCancelled) }); bad != nil {
		cancel()
		c.say(rpc.Refuse(m.ID, bad))
		return nil
	}
	c.serving.Add(1)
	c.work.Add(1)
	return func() {
		defer c.work.Done()
		defer c.serving.Done()
		defer held.Release()
		defer cancel()
		if !listen {
			select {
			case c.slots <- struct{}{}:
				defer func() { <-c.slots }()
			case <-ctx.Done():
			}
		}
		reply, ok := c.server.mcp.Serve(ctx, l, m)
		c.requests.end(m.ID)
		if !ok || context.Cause(ctx) == errCancelled || ctx.Err() != nil && c.listening.Err() == nil {
			return
		}
		c.say(hold(held, reply))
	}
}

// initialize is served before anything else is read, because what follows depends on it.
func (c *stdioConn) initialize(ctx context.Context, l mcpserver.Link, m rpc.Message) {
	watch := c.server.mcp.Watch(c.client)
	reply, _ := c.server.mcp.Serve(ctx, l, m)
	c.say(reply)
	if reply.Error == nil {
		c.work.Go(func() { watch.Run(c.listening, everything, c.out.notice) })
	}
}
