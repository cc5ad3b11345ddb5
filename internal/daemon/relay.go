package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// The bounds of a relay.
const (
	maxLine      = 256 << 20        // bytes of one line; the gateway has a lower limit, and answers longer messages itself
	stableAfter  = 30 * time.Second // after a stream that lived this long, or answered anything, failures are counted anew
	maxFailures  = 6                // failures in a row after which the relay ends
	firstBackoff = 100 * time.Millisecond
)

// lostAnswer is the answer to a request that was pending when the daemon died.
var lostAnswer = (&rpc.Error{Code: rpc.CodeInternal, Message: "the gateway stopped before the answer; the call may have run: look into " +
	"the audit"}).Raw()

// maxHeld bounds the requests that a relay keeps for the next daemon, while the one that leaves finishes its calls. Reading the client
// stops at the bound.
const maxHeld = 256

// Relay copies an MCP client's lines to the daemon's stream and back, unchanged, and outlives the daemon. When a daemon says that it leaves
// ([rpc.Leaving]), it answers the requests that it has, and Relay keeps those that come for the next one. When the stream breaks, Relay
// answers every pending request with an error, attaches again with dial, repeats the client's initialize without showing it the answer,
// and tells the client that its tools may have changed. It does not repeat the subscriptions of a client of an old revision.
//
// Relay returns nil when the client has ended its stream and every request was answered. It returns an error when dial fails the first
// time (before anything is read) or several times in a row, when writing to the client fails, or when ctx is done. It does not wait for
// a read of in that cannot be lostAnswer (see [rpc.Interrupt]).
func Relay(ctx context.Context, in io.Reader, out io.Writer, dial func(context.Context) (net.Conn, error)) error {
	conn, err := dial(ctx)
	if err != nil {
		return fmt.Errorf("attach to the daemon: %w", err)
	}
	r := &relay{out: out, dial: dial, pending: map[string]struct{}{}, asked: map[string]bool{}, conn: conn}
	r.changed = sync.NewCond(&r.mu)
	stop := context.AfterFunc(ctx, func() { r.stop() })
	defer stop()
	client := make(chan struct{})
	go func() {
		defer close(client)
		r.fromClient(in)
	}()
	err = r.run(ctx, conn)
	r.stop()
	if rpc.Interrupt(in) {
		<-client
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

type relay struct {
	dial func(context.Context) (net.Conn, error)

	toMu sync.Mutex // one line at a time to the daemon; taken before mu

	outMu sync.Mutex // one line at a time to the client
	out   io.Writer
	line  []byte

	mu          sync.Mutex // guards what follows
	changed     *sync.Cond // signals changes of conn and ended
	conn        net.Conn   // nil while there is no daemon
	ended       bool       // the relay has ended
	leaving     net.Conn   // of a daemon that leaves: it gets answers and cancellations, and no request; conn is nil then
	held        [][]byte   // requests and notifications for the next daemon, oldest first
	clientGone  bool       // the client's stream has ended
	initialize  []byte     // the client's own line, for the next daemon
	initID      string
	initialized []byte
	sending     string              // the request that is being written; the writer, not disconnected, answers it if it is lost
	pending     map[string]struct{} // requests of the client without an answer, by raw id
	asked       map[string]bool     // requests of the daemon without an answer, by raw id; true: that daemon is dead
}

// stop ends both directions.
func (r *relay) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	for _, conn := range []net.Conn{r.conn, r.leaving} {
		if conn != nil {
			_ = conn.Close()
		}
	}
	r.changed.Broadcast()
}

// run copies from the daemon to the client. Whenever the stream breaks, it attaches again.
func (r *relay) run(ctx context.Context, conn net.Conn) error {
	lines := rpc.NewLines(conn, maxLine)
	for failures := 0; ; {
		began := time.Now()
		answered, werr := r.fromDaemon(conn, lines)
		_ = conn.Close()
		if err := r.disconnected(); werr != nil || err != nil {
			return errors.Join(werr, err)
		}
		if r.finished() {
			return nil
		}
		if answered || time.Since(began) > stableAfter {
			failures = 0
		}
		var err error
		for {
			if conn, lines, err = r.reattach(ctx); err == nil {
				break
			}
			if failures++; failures >= maxFailures || ctx.Err() != nil {
				return fmt.Errorf("attach to the daemon again: %w", err)
			}
			if r.pause(ctx, firstBackoff<<failures); r.finished() {
				return nil
			}
		}
		failures++ // reset if this stream is stable
		if failures >= maxFailures {
			_ = conn.Close()
			return fmt.Errorf("the daemon ended %d times in a row; see its log", maxFailures)
		}
	}
}

func (r *relay) pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// finished reports whether the relay has no reason to attach again.
func (r *relay) finished() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended || (r.clientGone && len(r.pending)+len(r.held) == 0 && r.sending == "")
}

// fromDaemon copies until the stream ends, and reports whether the daemon answered anything, or has left as it said. An error is one of
// writing to the client.
func (r *relay) fromDaemon(conn net.Conn, lines *rpc.Lines) (answered bool, err error) {
	for {
		line, err := lines.Next()
		if err != nil {
			return answered, nil //nolint:nilerr // whatever the error: the daemon is gone
		}
		id := string(rawjson.Member(line, "id"))
		if id == "" && rawjson.TextAt(line, "method") == rpc.Leaving {
			r.move(conn)
			answered = true
			continue
		}
		if id != "" {
			request := rawjson.Member(line, "method") != nil
			r.mu.Lock()
			if request {
				r.asked[id] = false
			} else {
				delete(r.pending, id)
				answered = true
			}
			r.mu.Unlock()
		}
		if err := r.toClient(line); err != nil {
			return answered, err
		}
	}
}

func (r *relay) toClient(line []byte) error {
	r.outMu.Lock()
	defer r.outMu.Unlock()
	r.line = append(append(r.line[:0], line...), '\n')
	if _, err := r.out.Write(r.line); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	if cap(r.line) > 1<<20 {
		r.line = nil
	}
	return nil
}

// disconnected notes that the stream is gone, and answers the pending requests, except initialize: the next daemon answers that.
func (r *relay) disconnected() error {
	r.mu.Lock()
	r.conn, r.leaving = nil, nil
	var lost, cancelled []string
	for id := range r.pending {
		if id != r.sending && (id != r.initID || r.clientGone) {
			lost = append(lost, id)
			delete(r.pending, id)
		}
	}
	for id, stale := range r.asked {
		if !stale {
			cancelled = append(cancelled, id)
			r.asked[id] = true
		}
	}
	r.mu.Unlock()
	slices.Sort(lost)
	for _, id := range lost {
		if err := r.toClient(rpc.Message{ID: []byte(id), Error: lostAnswer}.Append(nil)); err != nil {
			return err
		}
	}
	for _, id := range cancelled {
		params := `{"requestId":` + id + `,"reason":"the gateway stopped"}`
		if err := r.toClient(rpc.Message{Method: "notifications/cancelled", Params: []byte(params)}.Append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// reattach attaches to the next daemon, repeats the client's handshake, and wakes the goroutine that reads the client.
func (r *relay) reattach(ctx context.Context) (net.Conn, *rpc.Lines, error) {
	conn, err := r.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	lines := rpc.NewLines(conn, maxLine)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r.mu.Lock()
	initialize, initialized, id := r.initialize, r.initialized, r.initID
	_, waits := r.pending[id]
	r.mu.Unlock()
	if initialize != nil && id != "" {
		if err = r.repeatInitialize(conn, lines, initialize, id, waits); err == nil && initialized != nil {
			_, err = conn.Write(append(slices.Clone(initialized), '\n'))
		}
		if err == nil && initialized != nil {
			err = r.toClient([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
		}
		if err != nil {
			_ = conn.Close()
			return nil, nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		_ = conn.Close()
		return nil, nil, net.ErrClosed
	}
	r.sendHeld(conn)
	r.conn = conn
	if r.clientGone {
		closeWrite(conn)
	}
	r.changed.Broadcast()
	return conn, lines, nil
}

// repeatInitialize repeats initialize. The answer goes to the client only if the client still waits for one.
func (r *relay) repeatInitialize(conn net.Conn, lines *rpc.Lines, initialize []byte, id string, waits bool) error {
	if _, err := conn.Write(append(slices.Clone(initialize), '\n')); err != nil {
		return err
	}
	for {
		line, err := lines.Next()
		if err != nil {
			return err
		}
		if answer := rawjson.Member(line, "method") == nil && string(rawjson.Member(line, "id")) == id; !answer {
			if err := r.toClient(line); err != nil {
				return err
			}
			continue
		}
		if waits {
			r.mu.Lock()
			delete(r.pending, id)
			r.mu.Unlock()
			return r.toClient(line)
		}
		if e := rawjson.Member(line, "error"); e != nil {
			return fmt.Errorf("the new daemon refused the client: %w", rpc.ErrorOf(e))
		}
		return nil
	}
}

// fromClient copies from the client to the daemon, and waits while there is no daemon.
func (r *relay) fromClient(in io.Reader) {
	lines := rpc.NewLines(in, maxLine)
	for {
		line, err := lines.Next()
		if errors.Is(err, rpc.ErrTooLong) {
			if r.toClient(rpc.Refuse(rpc.RequestID(lines.TooLong()), rpc.ErrTooLong).Append(nil)) == nil {
				continue
			}
		}
		if err != nil || !r.send(append(slices.Clone(line), '\n')) {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clientGone = true
	for _, conn := range []net.Conn{r.conn, r.leaving} {
		if conn != nil {
			closeWrite(conn)
		}
	}
}

// move stops sending requests to a daemon that leaves, and tells it so. What it has got by then it answers.
func (r *relay) move(conn net.Conn) {
	r.toMu.Lock()
	defer r.toMu.Unlock()
	r.mu.Lock()
	if r.conn != conn {
		r.mu.Unlock()
		return
	}
	r.conn, r.leaving = nil, conn
	r.mu.Unlock()
	_, _ = conn.Write(append(rpc.Message{Method: rpc.Moved}.Append(nil), '\n')) // if it is gone, run notices
}

// place returns where a line goes: to the daemon, or, while that leaves, to the next one, except for answers and cancellations. nil: the
// line is kept, or dropped. mu is held, and is given back while place waits for a daemon.
func (r *relay) place(method, id string, line []byte) net.Conn {
	for ; !r.ended; r.changed.Wait() {
		conn := r.conn
		if conn == nil && (method == "" || method == "notifications/cancelled") {
			conn = r.leaving
		}
		switch {
		case conn != nil && (method == "" && r.stale(id) || method == "notifications/cancelled" && r.release(line)):
			return nil
		case conn != nil:
			return conn
		case r.leaving != nil && len(r.held) < maxHeld:
			r.held = append(r.held, line)
			return nil
		}
	}
	return nil
}

// sendHeld sends to the next daemon what was kept for it. What could not be sent whole is kept for the one after it. mu is held.
func (r *relay) sendHeld(conn net.Conn) {
	for len(r.held) > 0 {
		line := r.held[0]
		if n, err := conn.Write(line); err != nil && n < len(line)-1 {
			_ = conn.Close() // run notices
			return
		}
		r.held = r.held[1:]
		method, id := rawjson.TextAt(line, "method"), string(rawjson.Member(line, "id"))
		if id != "" {
			r.pending[id] = struct{}{}
		}
		r.remember(method, id, line)
	}
}

// release drops the request that a cancellation names, if it is kept for the next daemon. mu is held.
func (r *relay) release(cancellation []byte) bool {
	id := string(rawjson.Path(cancellation, "params", "requestId"))
	at := slices.IndexFunc(r.held, func(line []byte) bool { return string(rawjson.Member(line, "id")) == id })
	if at < 0 {
		return false
	}
	r.held = slices.Delete(r.held, at, at+1)
	return true
}

// closeWrite tells the daemon that the client has ended its stream. Pending requests are still answered.
func closeWrite(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
		return
	}
	_ = c.Close()
}

// send writes one line to the daemon. A line that could not be written whole goes to the next daemon, because half a line has no effect.
// send returns false if the relay has ended.
func (r *relay) send(line []byte) bool {
	id := string(rawjson.Member(line, "id"))
	method := rawjson.TextAt(line, "method")
	r.toMu.Lock()
	defer r.toMu.Unlock()
	for {
		r.mu.Lock()
		conn := r.place(method, id, line)
		if conn == nil {
			defer r.mu.Unlock()
			return !r.ended
		}
		if id != "" && method != "" {
			r.pending[id], r.sending = struct{}{}, id
		}
		r.remember(method, id, line)
		r.mu.Unlock()

		n, err := conn.Write(line)
		// Half a line has no effect and may be sent again. A line that lacks only its newline is a message to some readers.
		sent := err == nil || n >= len(line)-1
		if lost := r.sent(conn, id, method, sent); lost && r.toClient(rpc.Message{ID: []byte(id), Error: lostAnswer}.Append(nil)) != nil {
			return false
		}
		if sent || method == "initialize" || method == "notifications/initialized" { // reattach repeats these two
			return true
		}
	}
}

// sent notes the end of a write. It reports whether the line is a request to a daemon that died before it answered: disconnected leaves the
// answer to the writer.
func (r *relay) sent(conn net.Conn, id, method string, sent bool) (lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sending = ""
	broken := r.conn != conn && r.leaving != conn
	if !sent && !broken {
		_ = conn.Close() // run notices, and attaches again
		r.conn, r.leaving = nil, nil
	}
	if id == "" || method == "" || method == "initialize" {
		return false
	}
	_, unanswered := r.pending[id]
	if !sent || broken {
		delete(r.pending, id)
	}
	return sent && broken && unanswered
}

// remember keeps the handshake for the next daemon.
func (r *relay) remember(method, id string, line []byte) {
	switch method {
	case "initialize":
		r.initialize, r.initID = line[:len(line)-1], id
	case "notifications/initialized":
		r.initialized = line[:len(line)-1]
	}
}

// stale notes the client's answer to a request of the daemon, and reports whether it answers a dead daemon. The living one may have
// used the same id for another request.
func (r *relay) stale(id string) bool {
	old := r.asked[id]
	delete(r.asked, id)
	return old
}
