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

	"github.com/fsnotify/fsnotify"
)

// Position is a place between two lines of the log. The zero Position is its beginning.
type Position struct {
	Segment string
	Offset  int64
}

// Read yields the lines of the log from a position on, oldest first. A line that is not a record is an error and ends the sequence, unless
// a later segment begins a new chain: then the rest of its segment is left out. Read does not check seals; [Verify] does. It skips a last
// line without its newline, which is being written. With follow, Read waits for further lines until ctx is done.
func Read(ctx context.Context, o Options, from Position, follow bool) iter.Seq2[Line, error] {
	return read(ctx, o, from, follow, func(raw []byte) (Line, error) {
		l, err := decode(raw)
		l.Raw = bytes.Clone(raw)
		return l, err
	})
}

// Scan is [Read] for an index. It yields lines with only what an index needs: the links, the place, and what says which call it was and
// how it ended. It is several times as fast as Read, and the yielded lines have no Raw.
func Scan(ctx context.Context, o Options, from Position) iter.Seq2[Line, error] {
	return read(ctx, o, from, false, new(scanner).line)
}

// read yields lines that parse makes of their bytes, which are valid only during that call.
func read(ctx context.Context, o Options, from Position, follow bool, parse func(raw []byte) (Line, error)) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var changes *fsnotify.Watcher
		if follow { // watched before the lines are read, so that no line is written between the two
			var err error
			if changes, err = watch(o.Dir); err != nil {
				yield(Line{}, err)
				return
			}
			defer func() { _ = changes.Close() }()
		}
		r := reader{o: o, at: from, parse: parse}
		for {
			if !r.rest(ctx, yield) || !follow || ctx.Err() != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-changes.Events: // a line was written, or a segment begins; the reader looks for both
			case <-changes.Errors: //nolint:errcheck // events were lost: the reader looks
			}
		}
	}
}

// watch watches the folder of a log, which is made if the log has no line yet.
func watch(dir string) (*fsnotify.Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the audit log: %w", err)
	}
	if err = os.MkdirAll(dir, 0o700); err == nil {
		err = w.Add(dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch the audit log: %w", err), w.Close())
	}
	return w, nil
}

type reader struct {
	o     Options
	at    Position
	parse func(raw []byte) (Line, error)
	long  []byte // memory for a line that is longer than the buffer
}

// rest yields the lines that exist now and reports whether to continue.
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
	f, err := openSegment(r.o, r.at.Segment)
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
		if err != nil && r.replaced() {
			return true
		}
		if err != nil {
			yield(Line{}, fmt.Errorf("read the audit log, %s at byte %d: %w (\"myc audit verify\" says more)", r.at.Segment, r.at.Offset, err))
			return false
		}
		r.at.Offset += int64(len(raw))
		line.Segment, line.Offset, line.Length = r.at.Segment, r.at.Offset, len(raw)
		if !yield(line, nil) {
			return false
		}
	}
	return true
}

// replaced reports whether a later segment begins a new chain, so that what cannot be read here is known damage.
func (r *reader) replaced() bool {
	names, err := segments(r.o.Dir)
	if err != nil {
		return false
	}
	for _, name := range slices.Backward(names) {
		if name <= r.at.Segment {
			return false
		}
		if _, length, err := newChain(r.o, nil, name); err == nil && length > 0 {
			return true
		}
	}
	return false
}

// next reads one line with its newline. The bytes are valid until the next call.
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

// Remaining returns how many bytes the log has after a position.
func Remaining(o Options, from Position) (int64, error) {
	names, err := segments(o.Dir)
	if err != nil {
		return 0, err
	}
	var n int64
	for _, name := range names {
		if name < from.Segment {
			continue
		}
		st, err := os.Stat(filepath.Join(o.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was moved away meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("read the audit log: %w", err)
		}
		n += st.Size()
		if name == from.Segment {
			n -= from.Offset
		}
	}
	return max(n, 0), nil
}

// Back returns the position before the last n lines of the log. It reads from the end.
func Back(o Options, n int) (Position, error) {
	names, err := segments(o.Dir)
	if err != nil {
		return Position{}, err
	}
	at := Position{}
	for _, name := range slices.Backward(names) {
		offset, before, err := back(filepath.Join(o.Dir, name), n)
		if err != nil {
			return Position{}, fmt.Errorf("read the end of the audit log: %w", err)
		}
		at = Position{name, offset}
		if n -= before; n <= 0 {
			break
		}
	}
	return at, nil
}

// back returns where the last n whole lines of a file begin, and how many lines that are if it has fewer.
func back(path string, n int) (offset int64, lines int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	offset, err = lineStart(f, st.Size())
	buf := make([]byte, 64<<10)
	for at := offset; err == nil && lines < n && at > 0; {
		chunk := buf[:min(int64(len(buf)), at)]
		at -= int64(len(chunk))
		_, err = f.ReadAt(chunk, at)
		for i := len(chunk); err == nil && lines < n && i >= 0; {
			i = bytes.LastIndexByte(chunk[:i], '\n')
			if start := at + int64(i) + 1; start < offset && (i >= 0 || at == 0) { // the first line has no newline before it
				offset = start
				lines++
			}
		}
	}
	return offset, lines, err
}

// MacBefore reads the Mac of the line that ends at a position. It returns "" where no line ends.
func MacBefore(o Options, p Position) string {
	if p.Segment == "" || p.Offset < int64(sealLen)+1 {
		return ""
	}
	f, err := openSegment(o, p.Segment)
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
