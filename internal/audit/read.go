package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Position is a place between two lines of the log. The zero position is its beginning.
type Position struct {
	Segment string
	Offset  int64
}

// tailInterval is how often a reader that follows looks for new lines.
const tailInterval = 100 * time.Millisecond

// Read yields the lines of the log from a position on, oldest first, with their places; what is not a record is an error and
// ends it. It does not check seals: that is what Verify does. A last line without its newline is being written, and is left for
// later. With follow it waits for further lines until ctx is done.
func Read(ctx context.Context, o Options, from Position, follow bool) iter.Seq2[Line, error] {
	return read(ctx, o, from, follow, func(raw []byte) (Line, error) {
		l, err := decode(raw)
		l.Raw = bytes.Clone(raw)
		return l, err
	})
}

// read is Read with another way to read a line; the bytes of the line are good for the time of that call.
func read(ctx context.Context, o Options, from Position, follow bool, parse func(raw []byte) (Line, error)) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var tick *time.Ticker
		if follow {
			tick = time.NewTicker(tailInterval)
			defer tick.Stop()
		}
		r := reader{o: o, at: from, parse: parse}
		for {
			if !r.rest(ctx, yield) || !follow || ctx.Err() != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}

type reader struct {
	o     Options
	at    Position
	parse func(raw []byte) (Line, error)
	long  []byte // a line that does not fit into the buffer
}

// rest yields what there is now and reports whether to go on.
func (r *reader) rest(ctx context.Context, yield func(Line, error) bool) bool {
	names, err := segments(r.o.Dir)
	if err != nil {
		yield(Line{}, err)
		return false
	}
	if r.at.Segment != "" && !slices.Contains(names, r.at.Segment) {
		yield(Line{}, fmt.Errorf("read the audit log: segment %s is gone", r.at.Segment))
		return false
	}
	for _, name := range names {
		if name < r.at.Segment {
			continue
		}
		if name > r.at.Segment {
			r.at = Position{Segment: name}
		}
		if !r.segment(ctx, yield) {
			return false
		}
	}
	return true
}

func (r *reader) segment(ctx context.Context, yield func(Line, error) bool) bool {
	f, err := os.Open(filepath.Join(r.o.Dir, r.at.Segment))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err == nil {
		defer f.Close()
		_, err = f.Seek(r.at.Offset, io.SeekStart)
	}
	if err != nil {
		yield(Line{}, fmt.Errorf("read the audit log: %w", err))
		return false
	}
	b := bufio.NewReaderSize(f, 128<<10)
	for ctx.Err() == nil {
		raw, err := r.next(b)
		if errors.Is(err, io.EOF) {
			return true
		}
		var line Line
		if err == nil {
			line, err = r.parse(raw[:len(raw)-1])
		}
		if err != nil {
			yield(Line{}, fmt.Errorf("read the audit log, %s at byte %d: %w (\"myc audit verify\" says more)", r.at.Segment, r.at.Offset, err))
			return false
		}
		r.at.Offset += int64(len(raw))
		line.Segment, line.Offset, line.length = r.at.Segment, r.at.Offset, len(raw)
		if !yield(line, nil) {
			return false
		}
	}
	return true
}

// next reads one line with its newline, good until the next one is read.
func (r *reader) next(b *bufio.Reader) ([]byte, error) {
	raw, err := b.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return raw, err
	}
	r.long = append(r.long[:0], raw...)
	for errors.Is(err, bufio.ErrBufferFull) {
		raw, err = b.ReadSlice('\n')
		r.long = append(r.long, raw...)
	}
	return r.long, err
}

// macBefore reads the seal of the line that ends at a position; "" where no line of ours ends there.
func macBefore(o Options, p Position) string {
	if p.Segment == "" || p.Offset < int64(sealLen)+1 {
		return ""
	}
	f, err := os.Open(filepath.Join(o.Dir, p.Segment))
	if err != nil {
		return ""
	}
	defer f.Close()
	end := make([]byte, sealLen+1)
	if _, err := f.ReadAt(end, p.Offset-int64(len(end))); err != nil || end[sealLen] != '\n' {
		return ""
	}
	return macOf(end)
}
