package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// writeTimeout is how long a server may leave its standard input unread while a message is written. After it the stream is
// broken in the middle of a message, so that the server has to be started anew.
const writeTimeout = 10 * time.Second

// maxOutbox bounds the answers and cancellations that wait to be written; more are dropped.
const maxOutbox = 64

// stdioLink speaks lines with a process. It has its own reading loop instead of an rpc.Conn because the request's id is its
// progress token here, an answer may name a call on an HTTP stream (one table for both transports), and because a server
// that does not read must not hold a writer for ever.
type stdioLink struct {
	proc   *process
	stderr *tail
	in     *inbox
	outbox chan []byte
	said   chan struct{} // closed when stderr was read to its end
	dead   chan struct{} // closed when the stream ended or broke
	once   sync.Once
	wg     sync.WaitGroup

	lock chan struct{} // holds one token: who has it writes
	out  []byte
}

// newStdioLink takes over a process and starts reading.
func newStdioLink(proc *process, c *conn, secrets redactor) *stdioLink {
	l := &stdioLink{
		proc: proc, stderr: &tail{secrets: secrets},
		outbox: make(chan []byte, maxOutbox), said: make(chan struct{}), dead: make(chan struct{}), lock: make(chan struct{}, 1),
	}
	l.in = &inbox{calls: c.calls, heard: &c.pulse.heard, reply: func(m rpc.Message) { l.post(m) }, notice: c.notice}
	l.wg.Go(func() {
		defer close(l.said)
		kept := newLogLines(c.log, secrets)
		defer kept.end()
		_, _ = io.Copy(io.MultiWriter(l.stderr, kept), newFlow(proc.stderr, l.dead, stderrRate, stderrBurst))
	})
	l.wg.Go(l.read)
	l.wg.Go(l.drain)
	l.wg.Go(l.watch)
	return l
}

// lastWords is how long the output of a process that ended is still read, where something that it left behind holds it open.
const lastWords = 300 * time.Millisecond

// watch ends reading when the process is gone.
func (l *stdioLink) watch() {
	select {
	case <-l.proc.exited:
		until := time.Now().Add(lastWords)
		_ = l.proc.stdout.SetReadDeadline(until)
		_ = l.proc.stderr.SetReadDeadline(until)
	case <-l.dead:
	}
}

// read takes lines until the stream ends.
func (l *stdioLink) read() {
	flow := newFlow(l.proc.stdout, l.dead, chatterRate, chatterBurst)
	lines := rpc.NewLines(flow, maxAnswer)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, rpc.ErrTooLong):
			l.tooLong(rpc.PartialID(lines.TooLong()))
		case err != nil:
			l.broken(l.epitaph())
			return
		default:
			flow.asked(l.in.take(line, nil), len(line))
		}
	}
}

// tooLong ends the call whose answer was too long. If the answer does not say at its beginning or end which one that is, it is known only
// where one call waits; else they run into their time-out.
func (l *stdioLink) tooLong(id []byte) {
	err := fmt.Errorf("its answer is longer than %d MiB", maxAnswer>>20)
	if id != nil {
		l.in.calls.settle(id, answer{err: err})
	} else if p := l.in.calls.only(); p != nil {
		l.in.calls.end(p, err)
	}
}

// epitaph says how the process ended. Its exit and the last of its stderr are waited for, shortly: they come a moment after the
// end of its standard output.
func (l *stdioLink) epitaph() error {
	how := "it closed its standard output"
	wait := time.NewTimer(time.Second)
	defer wait.Stop()
	select {
	case <-l.proc.exited:
		how = "it ended (" + l.proc.how() + ")"
		select { // the last of its stderr
		case <-l.said:
		case <-wait.C:
		}
	case <-wait.C:
	}
	return l.proc.verdict(l.explain(how))
}

// explain adds the end of stderr to an error.
func (l *stdioLink) explain(how string) error {
	if said := l.stderr.String(); said != "" {
		return fmt.Errorf("%s; its stderr ends with: %s", how, said)
	}
	return errors.New(how)
}

// broken ends the link: every call fails with err.
func (l *stdioLink) broken(err error) {
	l.once.Do(func() {
		l.in.calls.fail(err)
		close(l.dead)
	})
}

// drain writes what must not be waited for.
func (l *stdioLink) drain() {
	for {
		select {
		case b := <-l.outbox:
			_ = l.write(b)
		case <-l.dead:
			return
		}
	}
}

func (l *stdioLink) post(m rpc.Message) {
	select {
	case l.outbox <- append(m.Append(nil), '\n'):
	default:
	}
}

// write writes one whole line. Who writes while another write is stuck waits as long as that one.
func (l *stdioLink) write(line []byte) error {
	select {
	case l.lock <- struct{}{}:
	case <-l.dead:
		return errClosed
	}
	defer func() { <-l.lock }()
	return l.writeLocked(line)
}

func (l *stdioLink) writeLocked(line []byte) error {
	if err := l.proc.stdin.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return errClosed
	}
	_, err := l.proc.stdin.Write(line)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = l.explain(fmt.Sprintf("it did not read its standard input for %v", writeTimeout))
		l.broken(err)
		return err
	}
	// The process closed its input or is gone: its standard output ends now or soon, and that tells why.
	select {
	case <-l.dead:
	case <-time.After(2 * time.Second):
		l.broken(l.explain("it closed its standard input"))
	}
	return errClosed
}

func (l *stdioLink) send(p *pending, method string, params []byte) error {
	select {
	case l.lock <- struct{}{}:
	case <-l.dead:
		return errClosed
	}
	defer func() { <-l.lock }()
	m := rpc.Message{ID: strconv.AppendInt(nil, p.id, 10), Method: method, Params: params}
	if cap(l.out) > 256<<10 { // one large request shall not keep its memory
		l.out = nil
	}
	l.out = append(m.Append(l.out[:0]), '\n')
	return l.writeLocked(l.out)
}

func (l *stdioLink) cancel(p *pending, reason string) {
	l.post(rpc.Message{Method: "notifications/cancelled", Params: cancelParams(p.id, reason)})
}

func cancelParams(id int64, reason string) []byte {
	return []byte(`{"requestId":` + strconv.FormatInt(id, 10) + `,"reason":` + string(rawjson.Quote(reason)) + `}`)
}

func (l *stdioLink) respond(m rpc.Message) { _ = l.write(append(m.Append(nil), '\n')) }

func (l *stdioLink) respondSoon(m rpc.Message) { l.post(m) }

func (l *stdioLink) notify(_ context.Context, method string, params []byte) error {
	return l.write(append(rpc.Message{Method: method, Params: params}.Append(nil), '\n'))
}

func (l *stdioLink) speak(string) {}

func (l *stdioLink) knows([][]byte) {}

func (l *stdioLink) gone() <-chan struct{} { return l.dead }

// close ends the process as MCP asks for: its input is closed, then its group is told to end, then killed.
func (l *stdioLink) close(grace time.Duration) {
	l.broken(errClosed)
	_ = l.proc.stdin.Close()
	l.proc.end(grace)
	// A grandchild that left the group may hold the pipes open: nobody reads them any more.
	_ = l.proc.stdout.Close()
	_ = l.proc.stderr.Close()
	l.wg.Wait()
}
