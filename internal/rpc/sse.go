package rpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Event is one server-sent event.
type Event struct {
	ID    string // of this event; unlike in browsers, the id of an earlier event does not carry over
	Event string
	Data  []byte        // may be empty: such an event only sets the id to resume from
	Retry time.Duration // delay before a reconnect; 0: not given
}

// ErrEventTooLong reports an event over the limit. The rest of the stream cannot be read.
var ErrEventTooLong = errors.New("server-sent event too large")

// Events reads an SSE stream. It calls yield for each event until yield returns false, the stream ends or ctx is done. limit bounds the
// bytes of one event (0: MaxMessage). A stream that ends after the last line of an event still yields the event. If ctx ends during a
// blocked read, Events closes r if it can; otherwise the read must end by itself.
//
// The error is nil after a regular end or if yield returned false, else that of ctx, ErrEventTooLong or that of the reader.
func Events(ctx context.Context, r io.Reader, limit int, yield func(Event) bool) error {
	if limit <= 0 {
		limit = MaxMessage
	}
	if c, ok := r.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer stop()
	}
	p := eventReader{r: bufio.NewReaderSize(r, lineBuffer), limit: limit}
	if bom, err := p.r.Peek(3); err == nil && bytes.Equal(bom, []byte("\xEF\xBB\xBF")) {
		_, _ = p.r.Discard(3)
	}
	for ctx.Err() == nil {
		e, ok, err := p.next()
		if ctx.Err() != nil {
			break
		}
		if ok && !yield(e) {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read event stream: %w", err)
		}
	}
	return ctx.Err()
}

type eventReader struct {
	r      *bufio.Reader
	limit  int
	skipLF bool // the last line ended in CR: a following LF belongs to it
	line   []byte
}

// next reads one event. ok is false if there was no event before the error.
func (p *eventReader) next() (e Event, ok bool, err error) {
	data, size := []byte(nil), 0
	for {
		line, err := p.readLine()
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			e.Data = data
			return e, ok && errors.Is(err, io.EOF), err
		}
		if len(line) == 0 {
			if ok {
				e.Data = data
				return e, true, nil
			}
			continue
		}
		if size += len(line) + 1; size > p.limit+len("data: ")+1 {
			return Event{}, false, ErrEventTooLong
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
			if data == nil {
				data = []byte{}
			}
			ok = true
		case "event":
			e.Event, ok = string(value), true
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				e.ID, ok = string(value), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.Retry, ok = time.Duration(ms)*time.Millisecond, true
			}
		}
	}
}

// readLine returns a line without its end: LF, CR or CR LF. After a CR it does not wait for an LF, which could delay the event.
func (p *eventReader) readLine() ([]byte, error) {
	if p.line = p.line[:0]; cap(p.line) > keptBuffer { // not kept for a stream that may be silent for long
		p.line = nil
	}
	for {
		if _, err := p.r.Peek(1); err != nil {
			return p.line, err
		}
		chunk, _ := p.r.Peek(p.r.Buffered())
		if p.skipLF {
			p.skipLF = false
			if chunk[0] == '\n' {
				_, _ = p.r.Discard(1)
				continue
			}
		}
		n := bytes.IndexAny(chunk, "\r\n")
		if n < 0 {
			p.line = append(p.line, chunk...)
			_, _ = p.r.Discard(len(chunk))
			if len(p.line) > p.limit+len("data: ") {
				return nil, ErrEventTooLong
			}
			continue
		}
		p.line = append(p.line, chunk[:n]...)
		p.skipLF = chunk[n] == '\r'
		_, _ = p.r.Discard(n + 1)
		return p.line, nil
	}
}

// AppendEvent appends an event in SSE form. It drops line breaks in ID and Event, which the form cannot carry.
func AppendEvent(b []byte, e Event) []byte {
	if e.Event != "" {
		b = appendField(b, "event: ", e.Event)
	}
	if e.ID != "" {
		b = appendField(b, "id: ", e.ID)
	}
	if e.Retry > 0 {
		b = append(b, "retry: "...)
		b = strconv.AppendInt(b, e.Retry.Milliseconds(), 10)
		b = append(b, '\n')
	}
	if e.Data != nil || (e.Event == "" && e.ID == "" && e.Retry == 0) {
		rest := e.Data
		for {
			n := bytes.IndexAny(rest, "\r\n")
			b = append(b, "data: "...)
			if n < 0 {
				b = append(append(b, rest...), '\n')
				break
			}
			b = append(append(b, rest[:n]...), '\n')
			if rest[n] == '\r' && n+1 < len(rest) && rest[n+1] == '\n' {
				n++
			}
			rest = rest[n+1:]
		}
	}
	return append(b, '\n')
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	for i := 0; i < len(value); i++ {
		if c := value[i]; c != '\n' && c != '\r' && c != 0 {
			b = append(b, c)
		}
	}
	return append(b, '\n')
}
