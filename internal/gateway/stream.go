package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mycelium/internal/rpc"
)

const (
	ringSize     = 256              // events of one stream that can be sent again
	writeTimeout = 30 * time.Second // for one write to a stream's client
	comeBack     = time.Minute      // for a client that lost the stream on which it was asked something
	heartbeat    = 30 * time.Second // between comments on a silent stream, so that a dead connection is noticed
)

// stream is the messages of one HTTP exchange in order: those of one POST, or those of a legacy link that belong to none. Whoever
// has something to say pushes and never waits; the HTTP handler of the moment writes. A stream with an id keeps its last
// events after they were written, so that a client that lost its connection can ask for them again.
type stream struct {
	id string // empty: not resumable

	mu      sync.Mutex
	events  [][]byte
	size    int // bytes of events
	base    int // index of events[0]; indices start at 0
	done    bool
	changed chan struct{} // closed by every push
	holder  chan struct{} // closed when another handler takes the stream over

	deserted chan struct{} // closed when nobody came back for it
	grace    *time.Timer   // runs while nobody follows it

	followers int // handlers at work on it
}

func newStream(id string) *stream {
	return &stream{id: id, changed: make(chan struct{}), deserted: make(chan struct{})}
}

// joined notes a handler that follows the stream, left that it is gone. A client that does not come back within the grace will not
// answer what it was asked there.
func (t *stream) joined() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followers++
	if t.grace != nil && t.grace.Stop() {
		t.grace = nil
	}
}

func (t *stream) left() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.followers--; t.followers == 0 && !t.done && t.grace == nil {
		t.grace = time.AfterFunc(comeBack, func() { close(t.deserted) })
	}
}

// push appends an event; after the last one the stream is done. When the ring is full, by the number of its events or by their bytes
// (maxNotices and one event: a server chooses how long they are), the oldest is dropped: never the last one, which is the answer.
func (t *stream) push(data []byte, last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return
	}
	for len(t.events) > 0 && (len(t.events) >= ringSize || t.size >= maxNotices) {
		t.size -= len(t.events[0])
		t.events[0] = nil
		t.events = t.events[1:]
		t.base++
	}
	t.events = append(t.events, data)
	t.size += len(data)
	if t.done = last; last && t.grace != nil {
		t.grace.Stop()
	}
	t.signal()
}

// finish ends the stream without a last event.
func (t *stream) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done = true
	t.signal()
}

func (t *stream) signal() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// notice pushes a notification.
func (t *stream) notice(method string, params []byte) {
	t.push(rpc.Message{Method: method, Params: params}.Append(nil), false)
}

// send pushes a request of ours, or its end.
func (t *stream) send(m rpc.Message) bool {
	t.push(m.Append(nil), false)
	return true
}

// read returns the events from index next on, the index of the first of them, whether there will be more, and a channel that
// closes when there are.
func (t *stream) read(next int) (events [][]byte, first int, done bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first = max(next, t.base)
	n := min(max(first-t.base, 0), len(t.events))
	events = slices.Clone(t.events[n:]) // whoever pushes meanwhile drops from the ring
	if t.id == "" {                     // what was read is not needed again
		t.base += len(t.events)
		t.events, t.size = nil, 0
	}
	return events, first, t.done, t.changed
}

// first waits for the first event, but no longer than clients and proxies wait for a header; false: ctx ended before. If the
// first event is also the last one, it is returned.
func (t *stream) first(ctx context.Context) (only []byte, ok bool) {
	patience := time.NewTimer(heartbeat)
	defer patience.Stop()
	for {
		t.mu.Lock()
		events, done, changed := t.events, t.done, t.changed
		t.mu.Unlock()
		switch {
		case done && len(events) == 1:
			return events[0], true
		case len(events) > 0 || done:
			return nil, true
		}
		select {
		case <-changed:
		case <-patience.C:
			return nil, true
		case <-ctx.Done():
			return nil, false
		}
	}
}

// over reports whether nothing more will come.
func (t *stream) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// has reports whether everything after index last can still be sent.
func (t *stream) has(last int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return last+1 >= t.base && last < t.base+len(t.events)
}

// take makes the caller the only handler of the stream: the channel closes when another one takes it.
func (t *stream) take() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holder != nil {
		close(t.holder)
	}
	t.holder = make(chan struct{})
	return t.holder
}

// eventID names an event of a stream that can be resumed.
func eventID(stream string, i int) string {
	if stream == "" {
		return ""
	}
	return stream + "_" + strconv.Itoa(i)
}

func parseEventID(s string) (stream string, i int, ok bool) {
	stream, n, found := strings.Cut(s, "_")
	i, err := strconv.Atoi(n)
	return stream, i, found && err == nil && i >= 0 && stream != ""
}

// eventWriter writes a stream as server-sent events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begun   bool
	buf     []byte
}

func newEventWriter(w http.ResponseWriter) *eventWriter {
	return &eventWriter{w: w, control: http.NewResponseController(w)}
}

// begin sends the header, so that the client knows that the stream stands.
func (e *eventWriter) begin() {
	if e.begun {
		return
	}
	e.begun = true
	h := e.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	e.w.WriteHeader(http.StatusOK)
}

// flush writes what is in buf. A client that does not read for too long loses its connection.
func (e *eventWriter) flush() error {
	e.begin()
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder in a test has none
	if _, err := e.w.Write(e.buf); err != nil {
		return err
	}
	e.buf = e.buf[:0]
	return e.control.Flush()
}

// end gives the connection back without our deadline.
func (e *eventWriter) end() { _ = e.control.SetWriteDeadline(time.Time{}) }

// pump writes a stream's events from index next on until the stream is done, another handler takes it, or ctx ends. It returns
// the index after the last event that was written.
func (e *eventWriter) pump(ctx context.Context, t *stream, next int) int {
	taken := t.take()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		events, first, done, changed := t.read(next)
		for i, data := range events {
			e.buf = rpc.AppendEvent(e.buf, rpc.Event{ID: eventID(t.id, first+i), Event: "message", Data: data})
		}
		if len(e.buf) == 0 && !e.begun { // a proxy may hold the header back until there is something to send
			e.buf = append(e.buf, ": stream\n\n"...)
		}
		if len(e.buf) > 0 {
			if e.flush() != nil {
				return next
			}
		}
		next = first + len(events)
		if done {
			return next
		}
		select {
		case <-changed:
		case <-beat.C:
			e.buf = append(e.buf, ": \n\n"...)
		case <-taken:
			return next
		case <-ctx.Done():
			return next
		}
	}
}
