package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/rawjson"
)

// ErrClosed tells that the connection ended before the answer.
var ErrClosed = io.ErrClosedPipe

// maxInbound bounds the peer's requests that are handled at once; more are answered with an error.
const maxInbound = 1024

// Handler answers what the peer sends. For a request it is called in a goroutine of its own, with a context that ends with the
// connection, and returns a raw result (nil: {}) or an error. For a notification it is called by the reading goroutine,
// one after the other in the order of arrival and before anything that came later is read, so it must return soon and must not wait
// for an answer of the peer; what it returns is ignored. The message is the handler's to keep.
type Handler func(ctx context.Context, m Message) (result []byte, err *Error)

// Conn is a symmetric JSON-RPC peer over lines: it numbers its own requests, matches answers, and hands what comes in to a
// handler. It is used towards stdio backends and between the daemon and its clients. It is safe for concurrent use.
type Conn struct {
	r       io.Reader
	w       io.Writer
	lines   *Lines
	handler Handler

	wmu sync.Mutex // one write per message
	out []byte

	mu      sync.Mutex
	last    int64
	pending map[int64]chan Message
	closed  chan struct{}
}

// NewConn starts nothing yet; Run does the work. A nil handler answers every request with method not found. limit is the limit
// of one incoming message in bytes (0: MaxMessage).
func NewConn(r io.Reader, w io.Writer, limit int, h Handler) *Conn {
	return &Conn{r: r, w: w, lines: NewLines(r, limit), handler: h, pending: map[int64]chan Message{}, closed: make(chan struct{})}
}

// Run reads until the stream ends or ctx is done, and returns when every goroutine of the connection is gone. Calls that still
// wait get ErrClosed. Run may be called once; when it returns, r and w are closed if they can be. It returns nil when the peer
// ended the stream, ctx's error when ctx ended it, and else what reading failed with.
//
// A read that cannot be interrupted (see Interrupt) is the one thing that Run does not wait for.
func (c *Conn) Run(ctx context.Context) error {
	hctx, cancel := context.WithCancel(ctx)
	var handlers sync.WaitGroup
	ended := make(chan error, 1)
	go func() { ended <- c.read(hctx, &handlers) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		c.close() // before the reader goes, so that no call starts that nobody would answer
		// The writer too: a handler may hang in a write that the peer does not read.
		closeOf(c.w)
		if Interrupt(c.r) {
			if late := <-ended; err == nil {
				err = late
			}
		}
	}
	cancel()
	c.close()
	closeOf(c.w)
	closeOf(c.r)
	handlers.Wait()
	return err
}

// Closed is closed when the connection has ended.
func (c *Conn) Closed() <-chan struct{} { return c.closed }

func (c *Conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.closed:
	default:
		close(c.closed)
	}
}

func closeOf(x any) {
	if cl, ok := x.(io.Closer); ok {
		_ = cl.Close()
	}
}

// Interrupt ends a read of r that blocks, now or later, and reports whether that is possible: r takes a deadline, or is a
// closer other than a file that cannot be polled. A process's standard input is such a file unless it was made non-blocking.
func Interrupt(r io.Reader) bool {
	if d, ok := r.(interface{ SetReadDeadline(time.Time) error }); ok {
		if d.SetReadDeadline(time.Unix(1, 0)) == nil {
			return true
		}
		closeOf(r)
		return false
	}
	c, ok := r.(io.Closer)
	return ok && c.Close() == nil
}

func (c *Conn) read(ctx context.Context, handlers *sync.WaitGroup) error {
	slots := make(chan struct{}, maxInbound)
	for {
		line, err := c.lines.Next()
		if errors.Is(err, ErrTooLong) {
			c.refuse(nil, ErrTooLong)
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read message: %w", err)
		}
		m, bad := Parse(bytes.Clone(line))
		if bad != nil {
			c.malformed(line, m, bad)
			continue
		}
		switch {
		case m.IsResponse():
			c.settle(m)
		case m.ID == nil:
			if c.handler != nil {
				_, _ = c.handler(ctx, m)
			}
		default:
			select {
			case slots <- struct{}{}:
				handlers.Go(func() {
					defer func() { <-slots }()
					c.answer(ctx, m)
				})
			default:
				c.refuse(m.ID, &Error{Code: CodeInternal, Message: "too many requests at once"})
			}
		}
	}
}

// malformed handles a line that is no message: the waiting call that it names fails, a request is refused. A line that does not
// even begin like a message is passed over: many a server prints a greeting on its standard output.
func (c *Conn) malformed(line []byte, m Message, bad *Error) {
	if line[0] != '{' && line[0] != '[' {
		return
	}
	if m.ID != nil && rawjson.Member(line, "method") == nil && c.settle(Message{ID: m.ID, Error: bad.Raw()}) {
		return
	}
	c.refuse(m.ID, bad)
}

func (c *Conn) refuse(id []byte, e *Error) {
	if id == nil {
		id = []byte("null")
	}
	_ = c.write(Message{ID: id, Error: e.Raw()})
}

func (c *Conn) answer(ctx context.Context, m Message) {
	if c.handler == nil {
		c.refuse(m.ID, &Error{Code: CodeMethodNotFound, Message: "method not found"})
		return
	}
	result, e := c.handler(ctx, m)
	if e != nil {
		c.refuse(m.ID, e)
		return
	}
	if result == nil {
		result = []byte("{}")
	}
	_ = c.write(Message{ID: m.ID, Result: result})
}

// settle hands an answer to the call that waits for it.
func (c *Conn) settle(m Message) bool {
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	wait, ok := c.pending[id]
	if ok {
		delete(c.pending, id)
		wait <- m
	}
	return ok
}

// write sends one message in one write.
func (c *Conn) write(m Message) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	if cap(c.out) > keptBuffer {
		c.out = nil
	}
	c.out = append(m.Append(c.out[:0]), '\n')
	if _, err := c.w.Write(c.out); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// Call sends a request and waits. The reply's Result or Error is set, byte for byte; err tells of the transport (ErrClosed, ctx).
func (c *Conn) Call(ctx context.Context, method string, params []byte) (Message, error) {
	_, wait, err := c.Start(method, params)
	if err != nil {
		return Message{}, err
	}
	return wait(ctx)
}

// Start is Call in two steps: it returns the integer id that was used, and a function that waits for the answer and must be
// called once. After its context has ended a late answer is dropped; telling the peer is up to the caller.
func (c *Conn) Start(method string, params []byte) (id int64, wait func(context.Context) (Message, error), err error) {
	answer := make(chan Message, 1)
	c.mu.Lock()
	c.last++
	id = c.last
	c.pending[id] = answer
	c.mu.Unlock()
	if err := c.write(Message{ID: strconv.AppendInt(nil, id, 10), Method: method, Params: params}); err != nil {
		c.forget(id)
		return id, nil, err
	}
	return id, func(ctx context.Context) (Message, error) {
		select {
		case m := <-answer:
			return m, nil
		case <-ctx.Done():
		case <-c.closed:
		}
		c.forget(id)
		select {
		case m := <-answer: // it came at the same moment
			return m, nil
		default:
		}
		if err := ctx.Err(); err != nil {
			return Message{}, err
		}
		return Message{}, ErrClosed
	}, nil
}

func (c *Conn) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params []byte) error {
	return c.write(Message{Method: method, Params: params})
}
