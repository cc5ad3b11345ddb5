package gateway

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"mycelium/internal/rpc"
)

// maxNotices bounds the bytes of notices and questions that wait for a client that does not read. Further ones are dropped; answers
// never are.
const maxNotices = 1 << 20

// outbox writes to one client, one write per message. A notice is only queued, because the goroutine that reads a backend sends it,
// and a client that does not read must not stop the others. Queued notices go out before the next answer, so that order is kept.
type outbox struct {
	w    io.Writer
	wake chan struct{}

	wmu sync.Mutex // held while writing
	buf []byte

	mu      sync.Mutex
	notices []byte
}

func newOutbox(w io.Writer) *outbox { return &outbox{w: w, wake: make(chan struct{}, 1)} }

// send writes one message, after the queued notices.
func (o *outbox) send(m rpc.Message) error {
	o.wmu.Lock()
	defer o.wmu.Unlock()
	o.buf = append(m.Append(o.take()), '\n')
	_, err := o.w.Write(o.buf)
	if cap(o.buf) > maxCopied { // it is not kept for a client that may be silent for long
		o.buf = nil
	}
	return err
}

// take moves the queued notices into the write buffer. The caller holds wmu.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = append(o.buf[:0], o.notices...)
	o.notices = o.notices[:0]
	return o.buf
}

// notice queues a notification.
func (o *outbox) notice(method string, params []byte) {
	o.queue(rpc.Message{Method: method, Params: params})
}

// queue queues a notice or a question. It returns false if it dropped the message because the queue is full.
func (o *outbox) queue(m rpc.Message) bool {
	o.mu.Lock()
	fits := len(o.notices) < maxNotices
	if fits {
		o.notices = append(m.Append(o.notices), '\n')
	}
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return fits
}

// flushNotices writes queued notices until ctx ends.
func (o *outbox) flushNotices(ctx context.Context, failed context.CancelCauseFunc) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
		if err := o.flush(); err != nil {
			failed(fmt.Errorf("write to client: %w", err))
			return
		}
	}
}

func (o *outbox) flush() error {
	o.wmu.Lock()
	defer o.wmu.Unlock()
	if o.buf = o.take(); len(o.buf) == 0 {
		return nil
	}
	_, err := o.w.Write(o.buf)
	return err
}

// interrupt ends a write that blocks, if the writer can be interrupted.
func (o *outbox) interrupt() {
	if d, ok := o.w.(interface{ SetWriteDeadline(time.Time) error }); ok && d.SetWriteDeadline(time.Unix(1, 0)) == nil {
		return
	}
	if c, ok := o.w.(*io.PipeWriter); ok {
		_ = c.Close()
	}
}
