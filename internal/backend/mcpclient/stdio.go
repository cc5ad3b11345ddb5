package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/backend/flow"
	"mycelium/internal/backend/redact"
	"mycelium/internal/keeper"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// writeTimeout is how long a server may leave its standard input unread while a message is written. After that the stream is broken in
// the middle of a message, and the server has to be started again.
const writeTimeout = 10 * time.Second

// maxOutbox bounds the answers and cancellations that wait to be written. More are dropped.
const maxOutbox = 64

// stdioTransport speaks JSON lines with a process.
type stdioTransport struct {
	proc       *keeper.Process
	stderr     *redact.Tail
	in         *inbox
	outbox     chan []byte
	stderrRead chan struct{} // closed when stderr was read to its end
	dead       chan struct{} // closed when the stream ended or broke
	once       sync.Once
	wg         sync.WaitGroup

	lock chan struct{} // holds one while somebody writes
	out  []byte
}

// newStdio takes a process over and starts to read.
func newStdio(proc *keeper.Process, c *Conn, o Options) *stdioTransport {
	l := &stdioTransport{
		proc: proc, stderr: redact.NewTail(c.secrets),
		outbox: make(chan []byte, maxOutbox), stderrRead: make(chan struct{}), dead: make(chan struct{}), lock: make(chan struct{}, 1),
	}
	l.in = &inbox{calls: c.calls, memory: o.Memory, received: &c.received, odd: c.odd, reply: func(m rpc.Message) { l.post(m) }, notice: c.notice}
	l.wg.Go(func() {
		defer close(l.stderrRead)
		to := io.Writer(l.stderr)
		if o.Stderr != nil {
			defer o.Stderr.Close()
			to = io.MultiWriter(l.stderr, o.Stderr)
		}
		_, _ = io.Copy(to, flow.New(proc.Stderr, l.dead, flow.StderrRate, flow.StderrBurst))
	})
	l.wg.Go(func() { l.read(o.Memory, "server "+o.Name) })
	l.wg.Go(l.drain)
	l.wg.Go(l.watch)
	return l
}

// exitReadTime is how long the output of a process is still read after its exit, if another process holds the pipe open.
const exitReadTime = 300 * time.Millisecond

// watch ends the reading when the process has exited.
func (l *stdioTransport) watch() {
	select {
	case <-l.proc.Exited:
		until := time.Now().Add(exitReadTime)
		_ = l.proc.Stdout.SetReadDeadline(until)
		_ = l.proc.Stderr.SetReadDeadline(until)
	case <-l.dead:
	}
}

// read handles lines until the stream ends. The memory of a line counts as the holder's until it is known whose it is.
func (l *stdioTransport) read(memory *rpc.Memory, holder string) {
	throttle := flow.New(l.proc.Stdout, l.dead, flow.UnaskedRate, flow.UnaskedBurst)
	lines := rpc.NewLines(throttle, MaxAnswer)
	lines.Charge(memory, holder)
	for {
		line, held, err := lines.Take()
		switch {
		case errors.Is(err, rpc.ErrTooLong):
			l.in.lost(rpc.PartialID(lines.TooLong()), nil, errTooLong)
		case errors.Is(err, rpc.ErrBusy):
			l.in.lost(rpc.PartialID(lines.TooLong()), nil, err)
		case err != nil:
			l.fail(l.exitError())
			return
		default:
			throttle.Account(l.in.handle(line, nil), len(line))
			held.Release() // the call that it answers holds it now
		}
	}
}

// exitError says how the process ended. It waits a short time for the exit and for the end of stderr, which come a moment after the end
// of standard output.
func (l *stdioTransport) exitError() error {
	how := "it closed its standard output"
	wait := time.NewTimer(time.Second)
	defer wait.Stop()
	select {
	case <-l.proc.Exited:
		how = "it ended (" + l.proc.Status() + ")"
		select { // the end of its stderr
		case <-l.stderrRead:
		case <-wait.C:
		}
	case <-wait.C:
	}
	err := l.explain(how)
	if l.proc.KeeperDied() {
		return &keeperError{err}
	}
	return err
}

// keeperError is the end of a server whose keeper died.
type keeperError struct{ error }

func (e *keeperError) Unwrap() error { return e.error }

// IsKeeperFailure reports whether a connection ended because the keeper of its server died, which is not the server's fault.
func IsKeeperFailure(err error) bool {
	var e *keeperError
	return errors.As(err, &e)
}

// explain adds the end of stderr to the text of an error.
func (l *stdioTransport) explain(how string) error {
	if said := l.stderr.String(); said != "" {
		return fmt.Errorf("%s; its stderr ends with: %s", how, said)
	}
	return errors.New(how)
}

// fail ends the transport: every call fails with err.
func (l *stdioTransport) fail(err error) {
	l.once.Do(func() {
		l.in.calls.failAll(err)
		close(l.dead)
	})
}

// drain writes the messages that nobody waits for.
func (l *stdioTransport) drain() {
	for {
		select {
		case b := <-l.outbox:
			_ = l.write(b)
		case <-l.dead:
			return
		}
	}
}

func (l *stdioTransport) post(m rpc.Message) {
	select {
	case l.outbox <- append(m.Append(nil), '\n'):
	default:
	}
}

// write writes one line. It waits while another write is under way.
func (l *stdioTransport) write(line []byte) error {
	select {
	case l.lock <- struct{}{}:
	case <-l.dead:
		return ErrClosed
	}
	defer func() { <-l.lock }()
	return l.writeLocked(line)
}

func (l *stdioTransport) writeLocked(line []byte) error {
	if err := l.proc.Stdin.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return ErrClosed
	}
	_, err := l.proc.Stdin.Write(line)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = l.explain(fmt.Sprintf("it did not read its standard input for %v", writeTimeout))
		l.fail(err)
		return err
	}
	// The process closed its input or has exited. Its standard output ends now or soon, and read then gives the reason.
	select {
	case <-l.dead:
	case <-time.After(2 * time.Second):
		l.fail(l.explain("it closed its standard input"))
	}
	return ErrClosed
}

func (l *stdioTransport) send(p *pending, method string, params []byte) error {
	select {
	case l.lock <- struct{}{}:
	case <-l.dead:
		return ErrClosed
	}
	defer func() { <-l.lock }()
	m := rpc.Message{ID: strconv.AppendInt(nil, p.id, 10), Method: method, Params: params}
	if cap(l.out) > 256<<10 { // do not keep the memory of one large request
		l.out = nil
	}
	l.out = append(m.Append(l.out[:0]), '\n')
	return l.writeLocked(l.out)
}

func (l *stdioTransport) cancel(p *pending, reason string) {
	l.post(rpc.Message{Method: "notifications/cancelled", Params: cancelParams(p.id, reason)})
}

func cancelParams(id int64, reason string) []byte {
	return []byte(`{"requestId":` + strconv.FormatInt(id, 10) + `,"reason":` + string(rawjson.Quote(reason)) + `}`)
}

func (l *stdioTransport) respond(m rpc.Message) { _ = l.write(append(m.Append(nil), '\n')) }

func (l *stdioTransport) respondAsync(m rpc.Message) { l.post(m) }

func (l *stdioTransport) notify(_ context.Context, method string, params []byte) error {
	return l.write(append(rpc.Message{Method: method, Params: params}.Append(nil), '\n'))
}

func (l *stdioTransport) setVersion(string) {}

func (l *stdioTransport) setTools([][]byte) {}

func (l *stdioTransport) done() <-chan struct{} { return l.dead }

// close ends the process as MCP asks: it closes the input, then the group gets SIGTERM, then SIGKILL.
func (l *stdioTransport) close(grace time.Duration) {
	l.fail(ErrClosed)
	_ = l.proc.Stdin.Close()
	l.proc.Stop(grace)
	// A grandchild that left the group may hold the pipes open.
	_ = l.proc.Stdout.Close()
	_ = l.proc.Stderr.Close()
	l.wg.Wait()
}
