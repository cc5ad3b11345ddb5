package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// end is what the segments hold at their end.
type end struct {
	segment string // the last one; "" without any
	size    int64  // bytes of its whole lines
	torn    int64  // bytes after them
	head    mark   // the last whole line, in the segment before if the last one has none
	last    Line   // the same; zero in an empty log
}

// examine finds the end of the log and compares it with what the log is known to have had: it must still hold the line of from, go on
// from there by the chain, and reach least. It changes nothing. why says what is wrong with the segments; "" if the log can go on.
func examine(o Options, s *sealer, from, least mark) (e end, why string, err error) {
	names, err := segments(o.Dir)
	if err != nil {
		return end{}, "", err
	}
	if from, why, err = restart(o, s, names, from); err != nil || why != "" {
		return end{}, why, err
	}
	if e, why, err = lastLine(o, s, names); err != nil || why != "" {
		return e, why, err
	}
	if least = newer(from, least); e.head.seq < least.seq {
		return e, fmt.Sprintf("it ends at record %d, and %d had been written", e.head.seq, least.seq), nil
	}
	if from.offset < 0 {
		return e, "", nil
	}
	if from.seq > 0 && MacBefore(o, Position{from.segment, from.offset}) != from.mac {
		return e, fmt.Sprintf("record %d is not at its place in %s: the segment was cut, replaced or written anew", from.seq, from.segment), nil
	}
	v := verifier{o: o, seal: s, head: from.head}
	for _, name := range names {
		at, to := int64(0), e.size
		if name < from.segment {
			continue
		}
		if name == from.segment {
			at = from.offset
		}
		if name != e.segment {
			to = -1
		}
		if at == to {
			continue
		}
		if err := v.segment(name, at, to); err != nil {
			return e, "", err
		}
		if b := v.report.Broken; b != nil {
			return e, fmt.Sprintf("behind record %d, in %s: %s", v.head.seq, b.Segment, b.Why), nil
		}
	}
	return e, "", nil
}

// restart moves from to the beginning of a newer chain, and wants that no segment is missing or too many. Before a segment that begins a new
// chain, a person may have accepted that; there, only [Verify] can tell.
func restart(o Options, s *sealer, names []string, from mark) (mark, string, error) {
	for _, name := range slices.Backward(names) {
		if name <= from.segment {
			break
		}
		line, length, err := newChain(o, s, name)
		if err != nil {
			return from, "", err
		}
		if length > 0 && line.Seq > from.seq {
			from = mark{head{line.Seq, line.Mac}, name, length}
			break
		}
	}
	want := SegmentName(1)
	for i, name := range names {
		if name != want {
			begun, err := begins(o, s, names[i:])
			if err != nil || !begun {
				return from, fmt.Sprintf("segment %s is missing before %s", want, name), err
			}
		}
		want = SegmentName(SegmentNumber(name) + 1)
	}
	return from, "", nil
}

// lastLine reads the end of the log.
func lastLine(o Options, s *sealer, names []string) (e end, why string, err error) {
	e.head = beginning
	for i, name := range slices.Backward(names) {
		f, err := openSegment(o, name)
		if err != nil {
			return e, "", err
		}
		line, size, torn, err := endOfLines(f)
		_ = f.Close()
		if err != nil {
			return e, "", fmt.Errorf("read the end of %s: %w", name, err)
		}
		if i == len(names)-1 {
			e.segment, e.size, e.torn = name, size, torn
		}
		if size == 0 && i == len(names)-1 { // begun before a crash, without its first line
			continue
		}
		if size == 0 {
			return e, name + " is empty", nil
		}
		at, ok := parseLinks(line)
		e.last, err = decode(line)
		if !ok || err != nil || !s.genuine(at) {
			return e, fmt.Sprintf("the last line of %s was changed, or sealed with another key than the one in %s", name, o.KeyDir), nil
		}
		e.head, e.last.Segment = mark{at.head, name, size}, name
		return e, "", nil
	}
	return e, "", nil
}

// endOfLines returns the last whole line of a file without its newline, the size of all whole lines, and how many bytes follow them.
func endOfLines(f *os.File) (line []byte, size, torn int64, err error) {
	st, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	if size, err = lineStart(f, st.Size()); err != nil || size == 0 {
		return nil, 0, st.Size(), err
	}
	start, err := lineStart(f, size-1)
	if err != nil {
		return nil, 0, 0, err
	}
	line = make([]byte, size-1-start)
	_, err = f.ReadAt(line, start)
	return line, size, st.Size() - size, err
}

// newChain returns the first line of a segment and its length, if it begins a new chain behind damage; else the length is 0.
func newChain(o Options, s *sealer, name string) (Line, int64, error) {
	f, err := openSegment(o, name)
	if err != nil {
		return Line{}, 0, err
	}
	defer f.Close()
	raw, ok := firstLine(f)
	if !ok {
		return Line{}, 0, nil
	}
	at, ok := parseLinks(raw)
	if !ok || s != nil && !s.genuine(at) {
		return Line{}, 0, nil
	}
	line, err := decode(raw)
	if err != nil || line.Kind != Begin || line.Damage == nil {
		return Line{}, 0, nil //nolint:nilerr // whatever it is, it begins no chain
	}
	return line, int64(len(raw)) + 1, nil
}

// begins reports whether one of the segments begins a new chain.
func begins(o Options, s *sealer, names []string) (bool, error) {
	for _, name := range names {
		if _, length, err := newChain(o, s, name); err != nil || length > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// maxBegin bounds the line that begins a chain, in bytes: it has two texts of at most maxText.
const maxBegin = 64 << 10

// firstLine returns the first line of a segment without its newline.
func firstLine(r io.Reader) ([]byte, bool) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBegin))
	line, _, ok := bytes.Cut(raw, []byte("\n"))
	return line, ok && err == nil
}

// lineStart finds where the line that holds the byte before end begins: behind the last newline before end.
func lineStart(f io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, 16<<10)
	for end > 0 {
		n := min(int64(len(buf)), end)
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, fmt.Errorf("read the audit log: %w", err)
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

// tailBytes is how much of the end of the log a start checks, in bytes: some hundred records, about a millisecond. The rest is checked by
// [Log.Run].
const tailBytes = 256 << 10

// tail checks the last lines of the log up to a mark. why says what is wrong with them; "" if nothing is.
func tail(o Options, s *sealer, at mark) (why string, err error) {
	names, err := segments(o.Dir)
	if err != nil {
		return "", err
	}
	v := verifier{o: o, seal: s, synced: at}
	type part struct {
		name     string
		from, to int64
	}
	var parts []part
	for left, to := int64(tailBytes), at.offset; left > 0; {
		i := slices.Index(names, at.segment) - len(parts)
		if i < 0 || to < 0 {
			break
		}
		p := part{names[i], max(to-left, 0), to}
		if p.from, v.head, err = lineFrom(o, p.name, p.from); err != nil {
			return "", err
		}
		parts = append(parts, p)
		left -= p.to - p.from
		if _, length, err := newChain(o, s, p.name); err != nil || length > 0 || i == 0 {
			break // what is before a new chain is damage that a person has accepted
		}
		st, err := os.Stat(filepath.Join(o.Dir, names[i-1]))
		if err != nil {
			return "", err
		}
		to = st.Size()
	}
	for _, p := range slices.Backward(parts) {
		if err := v.segment(p.name, p.from, p.to); err != nil {
			return "", err
		}
		if b := v.report.Broken; b != nil {
			return fmt.Sprintf("behind record %d, in %s: %s", v.head.seq, b.Segment, b.Why), nil
		}
	}
	if v.head.seq != at.seq {
		return fmt.Sprintf("record %d is not at its place in %s: the segment was cut, replaced or written anew", at.seq, at.segment), nil
	}
	return "", nil
}

// lineFrom returns where the line that holds the byte before an offset begins, or the first line, and the head that the line names as the
// one before it. A line that is none has the head of an empty log.
func lineFrom(o Options, name string, offset int64) (start int64, before head, err error) {
	f, err := openSegment(o, name)
	if err != nil {
		return 0, head{}, err
	}
	defer f.Close()
	if start, err = lineStart(f, offset); err != nil {
		return 0, head{}, err
	}
	raw, err := bufio.NewReader(io.NewSectionReader(f, start, maxGroup)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	at, ok := parseLinks(bytes.TrimSuffix(raw, []byte("\n")))
	if !ok {
		return start, beginning.head, err
	}
	return start, head{at.seq - 1, at.prev}, err
}
