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

	memory *Memory // nil: no bound but limit
	holder string
	claim  *Claim // of buf; nil without memory
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

// Charge has the memory of long lines count as the holder's. A line for which there is none is skipped, and Next returns ErrBusy. A nil
// memory has no bound.
func (l *Lines) Charge(m *Memory, holder string) { l.memory, l.holder = m, holder }

// Take is Next for a caller that keeps the line. The claim holds the line's memory; the caller releases it.
func (l *Lines) Take() ([]byte, *Claim, error) {
	line, err := l.Next()
	if err != nil {
		return nil, nil, err
	}
	if claim := l.claim; claim != nil { // the line is in buf, which is the caller's now
		l.buf, l.claim = nil, nil
		return line, claim, nil
	}
	claim := l.memory.Claim(l.holder)
	if err := claim.Hold(len(line)); err != nil {
		l.buf, l.tail = append(l.buf[:0], line...), append(l.tail[:0], line...)
		return nil, nil, err
	}
	return bytes.Clone(line), claim, nil
}

// Next returns the next non-empty line without its line end. The line is valid until the following call. Next skips a line over the limit
// and returns ErrTooLong, or ErrBusy (see Charge). It returns io.EOF at the end.
// A last line without a newline counts.
func (l *Lines) Next() ([]byte, error) {
	if l.memory != nil { // the line before is over: its memory is not kept for a client that may be silent now
		l.claim.Release()
		l.buf, l.tail, l.claim = nil, nil, nil
	}
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

// TooLong returns the beginning and the end of the line of the last ErrTooLong or ErrBusy, at most 32 KiB each. They overlap if the line is
// shorter than both. They are valid until the following call of Next.
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

// long reads a line that is longer than the reader's buffer. Of a line that is too long, or for which there is no memory, it keeps the
// beginning and the end.
func (l *Lines) long(head []byte) ([]byte, error) {
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	l.claim = l.memory.Claim(l.holder)
	l.buf, l.tail = l.buf[:0], l.tail[:0]
	var refused error
	for part, err := head, error(bufio.ErrBufferFull); ; part, err = l.r.ReadSlice('\n') {
		if refused == nil {
			refused = l.lengthen(part)
		} else {
			l.tail = append(l.tail, part...)
			l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-lineBuffer):]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil // the next call reports the end
		}
		if refused != nil && err == nil {
			return nil, refused
		}
		line, err := l.ended(l.buf, err)
		if errors.Is(err, ErrTooLong) {
			l.tail = append(l.tail, l.buf[max(0, len(l.buf)-lineBuffer):]...)
		}
		return line, err
	}
}

// lengthen appends a part to the long line. If it cannot, buf keeps the beginning of the line, and tail what came last.
func (l *Lines) lengthen(part []byte) error {
	err := error(ErrTooLong)
	if len(l.buf)+len(part) <= l.limit+2 { // two more for the line end
		var longer []byte
		if longer, err = reserve(l.buf, len(part), l.limit+2, l.claim); err == nil {
			l.buf = longer
			l.buf = append(l.buf, part...)
			return nil
		}
	}
	l.tail = append(append(l.tail[:0], l.buf[max(0, len(l.buf)-lineBuffer):]...), part...)
	l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-lineBuffer):]...)
	if len(l.buf) == 0 {
		l.buf = append(l.buf, part...)
	}
	l.buf = bytes.Clone(l.buf[:min(len(l.buf), lineBuffer)]) // the rest of the memory is free again
	l.claim.Release()
	l.claim = nil
	return err
}
