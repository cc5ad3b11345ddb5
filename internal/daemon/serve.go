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
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"mycelium/internal/op"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The methods of every owner.
const (
	helloMethod = "daemon/hello" // the answer tells a client that its connection was accepted, not only queued
	proveMethod = "daemon/prove" // a notification: the client's proof, which precedes its first call
	askMethod   = "daemon/ask"   // calls the method that its params name: for a client with a single question
)

// The bounds of serving.
const (
	maxAtOnce     = 64                    // calls of one connection that run at once; more wait unread
	finalWrites   = 2 * time.Second       // time for the last writes of a connection, once serving ends
	acceptBackoff = 50 * time.Millisecond // after a transient error of accept(2)
)

// Server is the methods and streams that an owner serves.
type Server struct {
	Methods map[string]func(ctx context.Context, c op.Caller, params []byte) (result any, err *rpc.Error)
	Streams map[string]Stream
	Guests  []string      // streams whose clients are none for Idle
	Idle    time.Duration // serving ends after this time without a client; 0: never
	Busy    func() bool   // true prevents that: the idle time begins anew. nil: never busy
	Memory  *rpc.Memory   // for the requests; nil: no bound but that of each one
	Logger  *slog.Logger  // nil: discard
}

// Stream takes over a connection. It returns the answer, or an error, and a function that then owns the connection, with everything
// that the client sent after its request. The connection is closed when the function returns. When serving ends, the context is done
// and reading fails.
type Stream func(ctx context.Context, c op.Caller, params []byte) (
	result any, serve func(ctx context.Context, conn net.Conn) error, err *rpc.Error)

// Serve answers this user's processes until ctx is done, the idle time is over, or it has answered everybody after Leave. It returns nil
// when every connection is closed, or an error if accepting connections failed. Serve may be called once.
func (o *Owner) Serve(ctx context.Context, s Server) error {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := &serving{Server: s, key: o.key, conns: map[*net.UnixConn]*work{}, idle: make(chan struct{})}
	v.timer = time.AfterFunc(max(s.Idle, time.Hour), v.expire)
	v.startIdle()
	defer v.timer.Stop()
	failed := make(chan error, 1)
	var loops sync.WaitGroup
	accept := func(l *net.UnixListener) {
		loops.Go(func() {
			if err := v.accept(ctx, l); err != nil {
				select {
				case failed <- err:
				default: // the first error is reported
				}
			}
		})
	}
	accept(o.listener)
	loops.Go(func() { o.maintain(ctx, s.Logger, accept) })
	o.signal(readyByte)
	var err error
	select {
	case <-ctx.Done():
	case <-v.idle:
	case <-o.leaving:
		o.endListening(s.Logger)
		v.drain(ctx)
	case err = <-failed:
	}
	cancel()
	o.endListening(s.Logger)
	loops.Wait()
	v.end()
	v.wg.Wait()
	return err
}

// serving is one run of Serve.
type serving struct {
	Server
	key  key
	wg   sync.WaitGroup // one per connection
	idle chan struct{}  // closed when the idle time is over

	mu     sync.Mutex // guards what follows
	conns  map[*net.UnixConn]*work
	silent []*net.UnixConn // those that have not proved themselves, oldest first
	timer  *time.Timer
	full   bool // no connection is taken any more
	ended  bool // nothing is read any more
}

// startIdle starts the idle time, if there is one.
func (v *serving) startIdle() {
	if v.Idle > 0 {
		v.timer.Reset(v.Idle)
	} else {
		v.timer.Stop()
	}
}

// expire runs when the idle time is over. It calls Busy without the mutex, because Busy may take locks of its own.
func (v *serving) expire() {
	busy := v.Busy != nil && v.Busy()
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.ended, v.Idle <= 0, !v.alone():
	case busy:
		v.startIdle()
	default:
		v.ended = true // from now on new connections are closed unanswered, and their clients start the next owner
		close(v.idle)
	}
}

// add notes a connection. It returns false if serving has ended.
func (v *serving) add(c *net.UnixConn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.full || v.ended {
		return false
	}
	v.timer.Stop()
	v.conns[c] = &work{since: time.Now()}
	v.begin(c)
	return true
}

func (v *serving) remove(c *net.UnixConn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.conns, c)
	v.forget(c)
	if v.alone() && !v.ended {
		v.startIdle()
	}
}

// alone reports whether there is no client but guests. The lock is held.
func (v *serving) alone() bool {
	for _, w := range v.conns {
		if !w.guest {
			return false
		}
	}
	return true
}

// invite notes that a connection carries a stream from now on.
func (v *serving) invite(c *net.UnixConn, method string) {
	v.at(c, func(w *work) { w.stream, w.guest = true, slices.Contains(v.Guests, method) })
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.alone() && !v.ended {
		v.startIdle()
	}
}

// end stops all reading at once, and all writing after finalWrites.
func (v *serving) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	for c := range v.conns {
		_ = c.SetReadDeadline(time.Unix(1, 0))
		_ = c.SetWriteDeadline(time.Now().Add(finalWrites))
	}
}

func (v *serving) accept(ctx context.Context, l *net.UnixListener) error {
	for {
		c, err := l.AcceptUnix()
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil //nolint:nilerr // closed because serving ends
		case !transient(err):
			return fmt.Errorf("accept a connection: %w", err)
		default:
			v.Logger.Error("accept a connection", "error", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(acceptBackoff):
			}
			continue
		}
		who, err := peer(c)
		if err != nil || !own(who) {
			v.Logger.Warn("refused the connection of another user", "pid", who.PID, "uid", who.UID, "error", err)
			_ = c.Close()
			continue
		}
		if ctx.Err() != nil || !v.add(c) { // closed unanswered: the client looks for the next owner
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

// transient reports whether an error of accept(2) is transient, such as too many open files.
func transient(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// link is one connection that carries calls.
type link struct {
	v     *serving
	who   op.Caller
	calls sync.WaitGroup
	slots chan struct{}

	// Used by the goroutine that reads.
	expected string // the client's proof; "" before a greeting
	proved   bool   // the client has sent it

	mu   sync.Mutex // one writer at a time
	conn *net.UnixConn
}

// notify sends the client a notification.
func (l *link) notify(method string, params any) bool {
	raw, err := l.encode(params)
	return err == nil && l.write(rpc.Message{Method: method, Params: raw})
}

func (v *serving) serve(ctx context.Context, c *net.UnixConn, who op.Caller) error {
	ctx, cancel := context.WithCancel(ctx)
	l := &link{v: v, who: who, conn: c, slots: make(chan struct{}, maxAtOnce)}
	l.who.Notify = l.notify
	defer l.calls.Wait()
	defer cancel()
	lines := rpc.NewLines(c, maxMessage)
	lines.Charge(v.Memory, fmt.Sprintf("process %d", who.PID))
	return l.read(ctx, cancel, lines)
}

// read reads requests until the connection ends, and starts a goroutine for each.
func (l *link) read(ctx context.Context, cancel context.CancelFunc, lines *rpc.Lines) error {
	for {
		line, held, err := lines.Take()
		switch {
		case errors.Is(err, rpc.ErrTooLong):
			l.refuse(rpc.RequestID(lines.TooLong()), rpc.ErrTooLong)
			continue
		case errors.Is(err, rpc.ErrBusy):
			l.refuse(rpc.RequestID(lines.TooLong()), rpc.ErrBusy)
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if over, err := l.take(ctx, cancel, lines, line, held); over {
			return err
		}
	}
}

// take serves one line, and releases the memory that it holds. over reports that the connection is not read any more, or not by us.
func (l *link) take(ctx context.Context, cancel context.CancelFunc, lines *rpc.Lines, line []byte, held *rpc.Claim) (over bool, err error) {
	release := held.Release
	defer func() { release() }()
	m, bad := rpc.Parse(line)
	if bad != nil {
		l.refuse(m.ID, bad)
		return false, nil
	}
	switch {
	case m.Method == proveMethod:
		if l.proved = l.proved || l.expected != "" && same(rawjson.TextAt(m.Params, "proof"), l.expected); l.proved {
			l.v.proved(l.conn)
		}
		return false, nil
	case !m.IsRequest():
		return false, nil // another notification, or an answer to a question that was not asked
	case m.Method == helloMethod:
		l.greet(m)
		return false, nil
	case m.Method == askMethod: // this goroutine answers it while a new one reads on: waking another first would delay the answer
		l.calls.Go(func() {
			defer cancel() // the client is gone
			_ = l.read(ctx, cancel, lines)
		})
		l.ask(ctx, m)
		return true, nil
	case !l.proved:
		l.refuse(m.ID, errUnproved)
		return false, nil
	}
	if open, ok := l.v.Streams[m.Method]; ok {
		l.calls.Wait() // the answers of calls come before the stream's first line
		return l.stream(ctx, m, open, lines)
	}
	release = func() {} // the call does
	l.slots <- struct{}{}
	l.calls.Go(func() {
		defer func() { <-l.slots }()
		defer held.Release()
		l.call(ctx, m)
	})
	return false, nil
}

// greet answers a greeting with our proof, and notes the proof that the client owes us.
func (l *link) greet(m rpc.Message) {
	theirs := rawjson.TextAt(m.Params, "nonce")
	ours, err := newNonce()
	if err != nil {
		l.refuse(m.ID, &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()})
		return
	}
	owner, client := processes(os.Getpid(), l.who.PID)
	l.expected = l.v.key.prove(clientRole, nil, theirs, ours, owner, client)
	l.answer(m.ID, hello{ours, l.v.key.prove(daemonRole, nil, theirs, ours, owner, client)})
}

// ask answers a question, which has its proof with it.
func (l *link) ask(ctx context.Context, m rpc.Message) {
	q, ok := parseQuestion(m.Params)
	if !ok || !same(q.proof, q.proofOf(l.v.key, l.who.PID)) {
		l.refuse(m.ID, errUnproved)
		return
	}
	l.v.proved(l.conn)
	result, e := l.do(ctx, rpc.Message{Method: q.method, Params: q.params})
	answer := rawjson.Field{Name: "result"}
	if e == nil {
		answer.Value, e = l.encode(result)
	}
	if e != nil {
		answer = rawjson.Field{Name: "error", Value: e.Raw()}
	}
	l.write(rpc.Message{ID: m.ID, Result: q.proved(l.v.key, l.who.PID, rawjson.Object(answer))})
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

// do runs a method. A panic, which is a bug of ours, ends that call only.
func (l *link) do(ctx context.Context, m rpc.Message) (result any, e *rpc.Error) {
	l.v.at(l.conn, func(w *work) { w.calls++ })
	defer l.v.at(l.conn, func(w *work) { w.calls--; w.since = time.Now() })
	defer l.recovered(m.Method, &e)
	method, ok := l.v.Methods[m.Method]
	if !ok {
		return nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "the daemon has no method " + m.Method +
			"; is it of another version? `myc stop` ends it"}
	}
	return method(ctx, l.who, m.Params)
}

func (l *link) recovered(method string, e **rpc.Error) {
	if r := recover(); r != nil {
		l.v.Logger.Error("panic", "method", method, "panic", r, "stack", string(debug.Stack()))
		*e = &rpc.Error{Code: rpc.CodeInternal, Message: "internal error in the daemon; see its log"}
	}
}

// stream opens a stream and serves it. taken is false if the stream was refused: then the connection goes on with calls.
func (l *link) stream(ctx context.Context, m rpc.Message, open Stream, lines *rpc.Lines) (taken bool, err error) {
	result, serve, e := l.open(ctx, m, open)
	if e != nil {
		l.refuse(m.ID, e)
		return false, nil
	}
	l.v.invite(l.conn, m.Method)
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

func (l *link) open(ctx context.Context, m rpc.Message, open Stream) (
	result any, serve func(context.Context, net.Conn) error, e *rpc.Error,
) {
	defer l.recovered(m.Method, &e)
	result, serve, e = open(ctx, l.who, m.Params)
	if e == nil && serve == nil {
		e = &rpc.Error{Code: rpc.CodeInternal, Message: "the daemon opened no stream"}
	}
	return result, serve, e
}

func (l *link) refuse(id []byte, e *rpc.Error) { l.write(rpc.Refuse(id, e)) }

// answer sends a result. It returns false if there is none, or the connection is gone.
func (l *link) answer(id []byte, result any) bool {
	raw, e := l.encode(result)
	if e != nil {
		l.refuse(id, e)
		return false
	}
	return l.write(rpc.Message{ID: id, Result: raw})
}

// encode returns a result as JSON.
func (l *link) encode(result any) ([]byte, *rpc.Error) {
	raw, err := json.Marshal(result)
	if err != nil {
		l.v.Logger.Error("write an answer as JSON", "error", err)
		return nil, &rpc.Error{Code: rpc.CodeInternal, Message: "the daemon's answer cannot be written as JSON"}
	}
	return raw, nil
}

func (l *link) write(m rpc.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.conn.Write(append(m.Append(nil), '\n'))
	return err == nil
}

// streamConn is a connection whose first lines were read by a line reader: reading begins with what the line reader has buffered.
type streamConn struct {
	net.Conn
	r io.Reader
}

func (c *streamConn) Read(b []byte) (int, error) { return c.r.Read(b) }

// CloseWrite closes the writing side only.
func (c *streamConn) CloseWrite() error {
	if u, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return u.CloseWrite()
	}
	return errors.ErrUnsupported
}
