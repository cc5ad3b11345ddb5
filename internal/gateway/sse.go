package gateway

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/rpc"
)

const (
	writeTimeout = 30 * time.Second // for one write to a client
	heartbeat    = 30 * time.Second // between comments on a silent stream, so that a dead connection is noticed
)

// maxCopied is how long a message may be that is copied in order to be written, in bytes. A buffer that a longer one needs is not kept
// for a client that may be silent for long.
const maxCopied = 64 << 10

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

// begin sends the header, so that the client knows that the stream is open.
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

// event puts an event into the buffer. A long one is written at once, without a copy: data is one line.
func (e *eventWriter) event(id string, data []byte) error {
	if len(data) <= maxCopied {
		e.buf = rpc.AppendEvent(e.buf, rpc.Event{ID: id, Event: "message", Data: data})
		if len(e.buf) > maxCopied {
			return e.flush()
		}
		return nil
	}
	e.buf = rpc.AppendEvent(e.buf, rpc.Event{ID: id, Event: "message"})
	e.buf = append(e.buf[:len(e.buf)-1], "data: "...) // without the empty line that ends the event
	if err := e.flush(); err != nil {
		return err
	}
	if _, err := e.w.Write(data); err != nil { // #nosec G705 -- JSON on one line, in a stream of events
		return err
	}
	e.buf = append(e.buf, "\n\n"...)
	return nil
}

// flush writes what is in buf. A client that does not read for too long loses its connection.
func (e *eventWriter) flush() error {
	e.begin()
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // the recorder of a test has no deadline
	if _, err := e.w.Write(e.buf); err != nil {
		return err
	}
	e.buf = e.buf[:0]
	return e.control.Flush()
}

// end removes our deadline from the connection.
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
			if e.event(eventID(t.id, first+i), data) != nil {
				return next
			}
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
