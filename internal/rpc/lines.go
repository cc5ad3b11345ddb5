package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"mycelium/internal/rawjson"
)

// ErrTooLong reports a line over the limit.
var ErrTooLong = &Error{Code: CodeInvalidRequest, Message: "message too large"}

// Lines reads newline-delimited messages.
type Lines struct {
	r     *bufio.Reader
	limit int
	buf   []byte // for lines longer than r's buffer
	tail  []byte // the end of the last line that was too long
}

// lineBuffer is large enough for most messages; keptBuffer is what stays allocated after a long one.
const (
	lineBuffer = 32 << 10
	keptBuffer = 256 << 10
)

// NewLines returns a reader of the lines of r. A line longer than limit bytes (0: MaxMessage) is an error, after which reading continues
// with the next line.
func NewLines(r io.Reader, limit int) *Lines {
	if limit <= 0 {
		limit = MaxMessage
	}
	return &Lines{r: bufio.NewReaderSize(r, lineBuffer), limit: limit}
}

// Next returns the next non-empty line without its line end. The line is valid until the following call. Next skips a line over the limit
// and returns ErrTooLong. It returns io.EOF at the end. A last line without a newline counts.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = rawjson.Trim(line); len(line) > 0 {
			return line, nil
		}
	}
}

// TooLong returns the beginning and the end of the line of the last ErrTooLong, at most 32 KiB each. They overlap if the line is shorter
// than both. They are valid until the following call of Next.
func (l *Lines) TooLong() (head, tail []byte) {
	return l.buf[:min(len(l.buf), lineBuffer)], l.tail
}

// Rest returns a reader of everything that Next has not returned yet, for a connection that changes its protocol.
func (l *Lines) Rest() io.Reader { return l.r }

func (l *Lines) line() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.long(line)
	}
	whole, err := l.ended(line, err)
	if errors.Is(err, ErrTooLong) {
		l.buf, l.tail = append(l.buf[:0], line...), append(l.tail[:0], line...)
	}
	return whole, err
}

// ended handles the end of a read.
func (l *Lines) ended(line []byte, err error) ([]byte, error) {
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, err
	}
	if len(bytes.TrimRight(line, "\r\n")) > l.limit {
		return nil, ErrTooLong
	}
	return line, nil
}

// long reads a line that is longer than the reader's buffer.
func (l *Lines) long(head []byte) ([]byte, error) {
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	l.buf, l.tail = append(l.buf[:0], head...), l.tail[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf) <= l.limit+2 { // two more for the line end
			l.buf = append(l.buf, part...)
			if len(l.buf) > l.limit {
				l.tail = append(l.tail[:0], l.buf[max(0, len(l.buf)-lineBuffer):]...)
			}
		} else {
			l.tail = append(l.tail, part...)
			l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-lineBuffer):]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = nil // the next call reports the end
			}
			return l.ended(l.buf, err)
		}
	}
}
