package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rpc"
)

// helloMethod is answered by every owner. Its answer tells a client that its connection was taken, not only queued.
const helloMethod = "daemon/hello"

// askMethod is answered by every owner as the method that its params name, with a greeting: for a client that asks one thing.
const askMethod = "daemon/ask"

// The bounds of serving.
const (
	maxAtOnce  = 64              // calls of one connection that run at once; more wait unread
	farewell   = 2 * time.Second // for the last writes of a connection, once serving ends
	acceptRest = 50 * time.Millisecond
)

// Server is what the owner answers.
type Server struct {
	Methods map[string]func(ctx context.Context, c Caller, params []byte) (result any, err *rpc.Error)
	Streams map[string]Stream
	Idle    time.Duration // end after this long without a client (0: never); Busy may veto
	Busy    func() bool   // true counts as use: the idle time begins anew. nil: never
	Logger  *slog.Logger  // nil: discard
}

// Caller is the process at the other end, as the kernel tells.
type Caller struct{ PID, UID int }

// Stream takes a connection over. It first returns the answer (or an error) and a function that then owns the connection: nothing
// that the client sent behind its request is lost. The connection is closed when the function returns; when serving ends,
// the context is done and reading fails.
type Stream func(ctx context.Context, c Caller, params []byte) (result any, serve func(ctx context.Context, conn net.Conn) error, err *rpc.Error)

// Serve answers until ctx is done or it is idle; it returns when every connection is gone. Only the own user is answered. The
// result is nil in both cases; an error means that accepting failed for good. Serve may be called once.
func (o *Owner) Serve(ctx context.Context, s Server) error {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &serving{Server: s, lock: o.paths.Lock, conns: map[*net.UnixConn]struct{}{}, idle: make(chan struct{})}
	v.timer = time.AfterFunc(max(s.Idle, time.Hour), v.expire)
	v.rest()
	defer v.timer.Stop()
	failed := make(chan error, 1)
	var loops sync.WaitGroup
	accept := func(l *net.UnixListener) {
		loops.Go(func() {
			if err := v.accept(ctx, l); err != nil {
				select {
				case failed <- err:
				default: // one is enough
				}
			}
		})
	}
	accept(o.listener)
	loops.Go(func() { o.tend(ctx, s.Logger, accept) })
	o.signal(readyByte)
	var err error
	select {
	case <-ctx.Done():
	case <-v.idle:
	case err = <-failed:
	}
	cancel()
	if cerr := o.stopListening(); cerr != nil {
		s.Logger.Warn("close the socket", "error", cerr)
	}
	loops.Wait()
	v.end()
	v.wg.Wait()
	return err
}

// serving is one run of Serve.
type serving struct {
	Server
	lock string         // the path of the owner's lock file
	wg   sync.WaitGroup // one per connection
	idle chan struct{}  // closed when nobody came for long enough

	mu    sync.Mutex // guards what follows
	conns map[*net.UnixConn]struct{}
	timer *time.Timer
	ended bool
}

// rest starts the idle time, if there is one.
func (v *serving) rest() {
	if v.Idle > 0 {
		v.timer.Reset(v.Idle)
	} else {
		v.timer.Stop()
	}
}

// expire runs when the idle time is over. Busy is asked without the mutex: it may take locks of its own.
func (v *serving) expire() {
	busy := v.Busy != nil && v.Busy()
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.ended, v.Idle <= 0, len(v.conns) > 0:
	case busy:
		v.rest()
	default:
		v.ended = true // from here on a new connection is closed unanswered, and its client starts the next owner
		close(v.idle)
	}
}

// add notes a connection; false when serving has ended.
func (v *serving) add(c *net.UnixConn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return false
	}
	v.timer.Stop()
	v.conns[c] = struct{}{}
	return true
}

func (v *serving) remove(c *net.UnixConn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.conns, c)
	if len(v.conns) == 0 && !v.ended {
		v.rest()
	}
}

// end stops all reading at once and lets writes go on for a moment.
func (v *serving) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	for c := range v.conns {
		_ = c.SetReadDeadline(time.Unix(1, 0))
		_ = c.SetWriteDeadline(time.Now().Add(farewell))
	}
}

func (v *serving) accept(ctx context.Context, l *net.UnixListener) error {
	for {
		c, err := l.AcceptUnix()
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil //nolint:nilerr // closed because serving ends
		case !passing(err):
			return fmt.Errorf("accept a connection: %w", err)
		default:
			v.Logger.Error("accept a connection", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(acceptRest):
			}
			continue
		}
		who, err := peer(c)
		if err != nil || !own(who) {
			v.Logger.Warn("refused a connection that is not this user's", "pid", who.PID, "uid", who.UID, "error", err)
			_ = c.Close()
			continue
		}
		if ctx.Err() != nil || !v.add(c) { // closed unanswered: its client looks for the next owner
			_ = c.Close()
			continue
		}
		v.wg.Go(func() {
			defer v.remove(c)
			defer func() { _ = c.Close() }()
			if err := v.serve(ctx, c, who); err != nil && ctx.Err() == nil {
				v.Logger.Debug("a connection ended", "pid", who.PID, "error", err)
			}
		})
	}
}

// passing reports whether an error of accept(2) is one that goes away by itself, like too many open files.
func passing(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// link is one connection while it speaks in calls.
type link struct {
	v     *serving
	who   Caller
	calls sync.WaitGroup
	slots chan struct{}

	mu   sync.Mutex // one writer at a time
	conn *net.UnixConn
}

func (v *serving) serve(ctx context.Context, c *net.UnixConn, who Caller) error {
	ctx, cancel := context.WithCancel(ctx)
	l := &link{v: v, who: who, conn: c, slots: make(chan struct{}, maxAtOnce)}
	defer l.calls.Wait()
	defer cancel()
	return l.read(ctx, cancel, rpc.NewLines(c, maxMessage))
}

// read reads requests and has them answered, until the connection ends.
func (l *link) read(ctx context.Context, cancel context.CancelFunc, lines *rpc.Lines) error {
	for {
		line, err := lines.Next()
		if errors.Is(err, rpc.ErrTooLong) {
			l.refuse(nil, rpc.ErrTooLong)
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		m, bad := rpc.Parse(append([]byte(nil), line...))
		if bad != nil {
			l.refuse(m.ID, bad)
			continue
		}
		if !m.IsRequest() {
			continue // a notification, or an answer to a question that was not asked
		}
		if m.Method == askMethod { // whoever has read it answers it, since it takes time to wake another; the other reads on
			l.calls.Go(func() {
				defer cancel() // the client is gone
				_ = l.read(ctx, cancel, lines)
			})
			l.call(ctx, m)
			return nil
		}
		if open, ok := l.v.Streams[m.Method]; ok {
			l.calls.Wait() // their answers come before the stream's first line
			if taken, err := l.stream(ctx, m, open, lines); taken {
				return err
			}
			continue
		}
		l.slots <- struct{}{}
		l.calls.Go(func() {
			defer func() { <-l.slots }()
			l.call(ctx, m)
		})
	}
}

// call answers one request.
func (l *link) call(ctx context.Context, m rpc.Message) {
	result, e := l.do(ctx, m)
	if e != nil {
		l.refuse(m.ID, e)
		return
	}
	l.answer(m.ID, result)
}

// do runs a method. A panic is a bug of ours; it ends that call and not the sessions of everybody else.
func (l *link) do(ctx context.Context, m rpc.Message) (result any, e *rpc.Error) {
	defer l.recovered(m.Method, &e)
	if m.Method == helloMethod {
		return hello{PID: os.Getpid(), Lock: l.v.lock}, nil
	}
	if m.Method == askMethod {
		var a question
		if err := json.Unmarshal(m.Params, &a); err != nil {
			return nil, &rpc.Error{Code: rpc.CodeInvalidParams, Message: "parameters: " + err.Error()}
		}
		m.Method, m.Params = a.Method, a.Params
		defer func() { result = greeting{l.v.lock, result} }()
	}
	method, ok := l.v.Methods[m.Method]
	if !ok {
		return nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "the daemon has no method " + m.Method + "; is it of another version? `myc stop` ends it"}
	}
	return method(ctx, l.who, m.Params)
}

// question is the params of askMethod.
type question struct {
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// greeting is the answer to askMethod.
type greeting struct {
	Lock   string `json:"lock"`
	Result any    `json:"result"`
}

// hello is the answer to helloMethod: who answers, and for which project.
type hello struct {
	PID  int    `json:"pid"`
	Lock string `json:"lock"`
}

func (l *link) recovered(method string, e **rpc.Error) {
	if r := recover(); r != nil {
		l.v.Logger.Error("panic", "method", method, "panic", r, "stack", string(debug.Stack()))
		*e = &rpc.Error{Code: rpc.CodeInternal, Message: "internal error in the daemon; its log says more"}
	}
}

// stream opens a stream and serves it; false when it was refused and the connection goes on.
func (l *link) stream(ctx context.Context, m rpc.Message, open Stream, lines *rpc.Lines) (taken bool, err error) {
	result, serve, e := l.open(ctx, m, open)
	if e != nil {
		l.refuse(m.ID, e)
		return false, nil
	}
	if !l.answer(m.ID, result) {
		return true, nil
	}
	defer func() {
		if r := recover(); r != nil {
			l.v.Logger.Error("panic", "stream", m.Method, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic in stream %s", m.Method)
		}
	}()
	return true, serve(ctx, &streamConn{Conn: l.conn, r: lines.Rest()})
}

func (l *link) open(ctx context.Context, m rpc.Message, open Stream) (result any, serve func(context.Context, net.Conn) error, e *rpc.Error) {
	defer l.recovered(m.Method, &e)
	result, serve, e = open(ctx, l.who, m.Params)
	if e == nil && serve == nil {
		e = &rpc.Error{Code: rpc.CodeInternal, Message: "the daemon opened no stream"}
	}
	return result, serve, e
}

func (l *link) refuse(id []byte, e *rpc.Error) {
	if id == nil {
		id = []byte("null")
	}
	l.write(rpc.Message{ID: id, Error: e.Raw()})
}

// answer sends a result; false when the connection is gone.
func (l *link) answer(id []byte, result any) bool {
	raw, err := json.Marshal(result)
	if err != nil {
		l.v.Logger.Error("write an answer as JSON", "error", err)
		l.refuse(id, &rpc.Error{Code: rpc.CodeInternal, Message: "the daemon's answer cannot be written as JSON"})
		return false
	}
	return l.write(rpc.Message{ID: id, Result: raw})
}

func (l *link) write(m rpc.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.conn.Write(append(m.Append(nil), '\n'))
	return err == nil
}

// streamConn is a connection that was read in lines up to now: what the line reader holds already comes first.
type streamConn struct {
	net.Conn
	r io.Reader
}

func (c *streamConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// CloseWrite tells the other side that nothing more comes, and keeps reading.
func (c *streamConn) CloseWrite() error {
	if u, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return u.CloseWrite()
	}
	return errors.ErrUnsupported
}
