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
	relayMax  = 256 << 20        // bytes of one line; the gateway has a limit of its own, and answers a longer message itself
	steady    = 30 * time.Second // a stream that lived this long, or answered anything, was a good one: failures are counted anew
	giveUp    = 6                // failures in a row after which the relay ends
	firstWait = 100 * time.Millisecond
)

// interrupted is the answer to a request that was on its way when the daemon died.
var interrupted = (&rpc.Error{Code: rpc.CodeInternal, Message: "the gateway stopped before the answer; the call may have run: look into " +
	"the audit"}).Raw()

// Relay copies an MCP client's lines to the daemon's stream and back, and outlives the daemon: when the stream breaks, every
// request on its way is answered with an error, dial attaches again, the client's own initialize is repeated unseen, the client
// is told that its tools may have changed, and the relay goes on. What a client of an old revision had subscribed to is not
// subscribed again.
//
// It returns nil when the client ended its stream and everything was answered, and an error when dial failed the first time (nothing
// was read then) or several times in a row, when writing to the client failed, or when ctx is done. The bytes of a message are
// passed on as they are. A read of in that nothing can interrupt (see rpc.Interrupt) is not waited for.
func Relay(ctx context.Context, in io.Reader, out io.Writer, dial func(context.Context) (net.Conn, error)) error {
	conn, err := dial(ctx)
	if err != nil {
		return fmt.Errorf("attach to the daemon: %w", err)
	}
	r := &relay{out: out, dial: dial, flying: map[string]struct{}{}, asked: map[string]bool{}, conn: conn}
	r.turn = sync.NewCond(&r.mu)
	stop := context.AfterFunc(ctx, func() { r.hangUp() })
	defer stop()
	client := make(chan struct{})
	go func() {
		defer close(client)
		r.fromClient(in)
	}()
	err = r.run(ctx, conn)
	r.hangUp()
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

	outMu sync.Mutex // one line at a time to the client
	out   io.Writer
	line  []byte

	mu          sync.Mutex // guards what follows
	turn        *sync.Cond // told when conn or ended changes
	conn        net.Conn   // nil while there is none
	ended       bool       // nothing is to be sent any more
	clientGone  bool       // the client's stream has ended
	initialize  []byte     // the client's own line, for the next daemon
	initID      string
	initialized []byte
	sending     string              // the request that is just being written; it is judged by its writer
	flying      map[string]struct{} // requests of the client without an answer, by raw id
	asked       map[string]bool     // requests of the daemon without an answer; true: of a daemon that is dead
}

// hangUp ends both directions.
func (r *relay) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if r.conn != nil {
		_ = r.conn.Close()
	}
	r.turn.Broadcast()
}

// run is the daemon's side: it copies until the stream breaks, and attaches again.
func (r *relay) run(ctx context.Context, conn net.Conn) error {
	lines := rpc.NewLines(conn, relayMax)
	for failures := 0; ; {
		began := time.Now()
		answered, werr := r.fromDaemon(lines)
		_ = conn.Close()
		if err := r.broke(); werr != nil || err != nil {
			return errors.Join(werr, err)
		}
		if r.over() {
			return nil
		}
		if answered || time.Since(began) > steady {
			failures = 0
		}
		var err error
		for {
			if conn, lines, err = r.again(ctx); err == nil {
				break
			}
			if failures++; failures >= giveUp || ctx.Err() != nil {
				return fmt.Errorf("attach to the daemon again: %w", err)
			}
			if r.pause(ctx, firstWait<<failures); r.over() {
				return nil
			}
		}
		failures++ // taken back when this stream turns out to be a good one
		if failures >= giveUp {
			_ = conn.Close()
			return errors.New("the daemon ends again and again; its log says more")
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

// over reports whether there is nothing left to attach for.
func (r *relay) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended || (r.clientGone && len(r.flying) == 0 && r.sending == "")
}

// fromDaemon copies until the stream ends, and reports whether the daemon answered anything. Its error is one of writing to the client.
func (r *relay) fromDaemon(lines *rpc.Lines) (answered bool, err error) {
	for {
		line, err := lines.Next()
		if err != nil {
			return answered, nil //nolint:nilerr // however it ended: the daemon is gone
		}
		id := string(rawjson.Member(line, "id"))
		if id != "" {
			request := rawjson.Member(line, "method") != nil
			r.mu.Lock()
			if request {
				r.asked[id] = false
			} else {
				delete(r.flying, id)
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

// broke notes that the stream is gone and answers what was on its way. An initialize on its way is not answered: the next
// daemon does that.
func (r *relay) broke() error {
	r.mu.Lock()
	r.conn = nil
	var lost, cancelled []string
	for id := range r.flying {
		if id != r.sending && (id != r.initID || r.clientGone) {
			lost = append(lost, id)
			delete(r.flying, id)
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
		if err := r.toClient(rpc.Message{ID: []byte(id), Error: interrupted}.Append(nil)); err != nil {
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

// again attaches, repeats what the client said at its beginning, and lets the client's side go on.
func (r *relay) again(ctx context.Context) (net.Conn, *rpc.Lines, error) {
	conn, err := r.dial(ctx)
	if err != nil {
		return nil, nil, err
	}
	lines := rpc.NewLines(conn, relayMax)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r.mu.Lock()
	initialize, initialized, id := r.initialize, r.initialized, r.initID
	_, waits := r.flying[id]
	r.mu.Unlock()
	if initialize != nil && id != "" {
		if err = r.greet(conn, lines, initialize, id, waits); err == nil && initialized != nil {
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
	r.conn = conn
	if r.clientGone {
		closeWrite(conn)
	}
	r.turn.Broadcast()
	return conn, lines, nil
}

// greet repeats initialize. Its answer goes to the client only where the client still waits for one.
func (r *relay) greet(conn net.Conn, lines *rpc.Lines, initialize []byte, id string, waits bool) error {
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
			delete(r.flying, id)
			r.mu.Unlock()
			return r.toClient(line)
		}
		if e := rawjson.Member(line, "error"); e != nil {
			return fmt.Errorf("the new daemon refused the client: %w", rpc.ErrorOf(e))
		}
		return nil
	}
}

// fromClient is the client's side: it copies to whichever daemon there is, and waits while there is none.
func (r *relay) fromClient(in io.Reader) {
	lines := rpc.NewLines(in, relayMax)
	for {
		line, err := lines.Next()
		if errors.Is(err, rpc.ErrTooLong) {
			if r.toClient(rpc.Message{ID: []byte("null"), Error: rpc.ErrTooLong.Raw()}.Append(nil)) == nil {
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
	if r.conn != nil {
		closeWrite(r.conn)
	}
}

// closeWrite tells the daemon that the client sends nothing more; what is on its way is still answered.
func closeWrite(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
		return
	}
	_ = c.Close()
}

// send writes one line to the daemon, to the next one where it could not be written whole: half a line does nothing. False when
// nothing is to be sent any more.
func (r *relay) send(line []byte) bool {
	id := string(rawjson.Member(line, "id"))
	method := rawjson.TextAt(line, "method")
	for {
		r.mu.Lock()
		for r.conn == nil && !r.ended {
			r.turn.Wait()
		}
		if r.ended || (method == "" && r.stale(id)) {
			defer r.mu.Unlock()
			return !r.ended
		}
		conn := r.conn
		if id != "" && method != "" {
			r.flying[id], r.sending = struct{}{}, id
		}
		r.remember(method, id, line)
		r.mu.Unlock()

		n, err := conn.Write(line)
		// Half a line does nothing and may be sent again; a line that lacks only its end is a message to some readers.
		sent := err == nil || n >= len(line)-1
		if lost := r.sent(conn, id, method, sent); lost && r.toClient(rpc.Message{ID: []byte(id), Error: interrupted}.Append(nil)) != nil {
			return false
		}
		if sent || method == "initialize" || method == "notifications/initialized" { // these two every new daemon is told
			return true
		}
	}
}

// sent judges a write. It reports whether the line is a request that went to a daemon which died before it answered, and which
// broke has left to its writer.
func (r *relay) sent(conn net.Conn, id, method string, sent bool) (lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sending = ""
	broken := r.conn != conn
	if !sent && !broken {
		_ = conn.Close() // run sees that, and attaches again
		r.conn = nil
	}
	if id == "" || method == "" || method == "initialize" {
		return false
	}
	_, unanswered := r.flying[id]
	if !sent || broken {
		delete(r.flying, id)
	}
	return sent && broken && unanswered
}

// remember keeps what the next daemon must be told first.
func (r *relay) remember(method, id string, line []byte) {
	switch method {
	case "initialize":
		r.initialize, r.initID = line[:len(line)-1], id
	case "notifications/initialized":
		r.initialized = line[:len(line)-1]
	}
}

// stale takes note of the client's answer to a request of the daemon, and reports whether it was that of a dead one: the
// living one may have given the same id to another request.
func (r *relay) stale(id string) bool {
	old := r.asked[id]
	delete(r.asked, id)
	return old
}
