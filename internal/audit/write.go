package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mycelium/internal/atomicfile"
)

// appendGroup writes the records in as few writes as their size allows. The caller holds both locks. Written records are marked done;
// an error is about the others.
func (l *Log) appendGroup(group []*pending) error {
	if !l.current() {
		if err := l.reload(); err != nil {
			return err
		}
	}
	for len(group) > 0 {
		n, err := l.appendSome(group)
		if err != nil {
			return err
		}
		group = group[n:]
	}
	return nil
}

// appendSome writes as many records as fit into one write, at least one, and reports how many.
func (l *Log) appendSome(group []*pending) (int, error) {
	if l.size > 0 && l.size+int64(len(group[0].body)) > l.o.segmentSize() {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	h, buf, must, n := l.head, l.buf[:0], false, 0
	for _, p := range group {
		if n > 0 && (len(buf)+len(p.body) > maxGroup || l.size+int64(len(buf)) > l.o.segmentSize()) {
			break
		}
		start := len(buf)
		h.seq++
		buf = l.seal.appendLine(buf, h.seq, h.mac, p.body)
		h.mac = macOf(buf[start:])
		must = must || p.sync
		n++
	}
	l.buf = buf
	if cap(l.buf) > maxGroup {
		l.buf = nil // do not keep the memory of a rare giant
	}
	if err := l.put(buf, h); err != nil {
		return 0, err
	}
	var err error
	if must {
		err = l.sync()
	}
	for _, p := range group[:n] {
		p.done = true
		if p.sync {
			p.err = err
		}
	}
	return n, nil
}

// macOf returns the HMAC in a line that ends with its newline.
func macOf(line []byte) string {
	end := len(line) - len(sealEnd) - 1
	return string(line[end-macLen : end])
}

// put appends whole lines to the segment, all or none.
func (l *Log) put(lines []byte, h head) error {
	n, err := l.seg.Write(lines)
	if err == nil {
		l.size += int64(n)
		l.head = h
		l.dirty = true
		return nil
	}
	err = fmt.Errorf("write the audit log: %w", err)
	if n > 0 {
		// For example, the disk is full. Neither a part of a line may stay, nor a line whose caller gets an error.
		if e := l.seg.Truncate(l.size); e != nil {
			l.size = -1 // the next append reloads, and repairs the end
			err = errors.Join(err, fmt.Errorf("remove the partial write: %w", e))
		}
	}
	return err
}

// putLine appends a record that the log writes about itself.
func (l *Log) putLine(line Line) error {
	line.ID, line.Time = NewID(), l.o.now()
	h := head{l.head.seq + 1, ""}
	buf := l.seal.appendLine(nil, h.seq, l.head.mac, appendBody(nil, &line, l.o.Redact))
	h.mac = macOf(buf)
	return l.put(buf, h)
}

// rotate ends the segment with a line that names the next one, and begins that.
func (l *Log) rotate() error {
	next := SegmentName(SegmentNumber(l.name) + 1)
	if err := l.putLine(Line{Record: Record{Kind: Segment}, Next: next}); err != nil {
		return err
	}
	if err := l.sync(); err != nil {
		return err
	}
	if err := l.begin(next); err != nil {
		l.size = -1 // the segment has ended: a reload continues with the next one
		return err
	}
	return nil
}

// begin creates the next segment and writes its first line, which names the one before.
func (l *Log) begin(next string) error {
	after := l.name
	if err := l.openSegment(next); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(l.o.Dir); err != nil {
		return err
	}
	if after == "" {
		return nil
	}
	if err := l.putLine(Line{Record: Record{Kind: Segment}, After: after}); err != nil {
		return err
	}
	return l.sync()
}

// openSegment opens or creates a segment and makes it the current one.
func (l *Log) openSegment(name string) error {
	f, err := os.OpenFile(filepath.Join(l.o.Dir, name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open a segment of the audit log: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		return errors.Join(fmt.Errorf("open a segment of the audit log: %w", err), f.Close())
	}
	if l.seg != nil {
		_ = l.seg.Close()
	}
	l.seg, l.name, l.path, l.size = f, name, f.Name(), st.Size()
	return nil
}

// reload finds the head of the log on the disk, and repairs what a crash left: a torn line, or a rotation that did not finish. After an
// error, the next append reloads again.
func (l *Log) reload() error {
	err := l.load()
	if err != nil {
		l.size = -1
	}
	return err
}

func (l *Log) load() error {
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the audit log: %w", err)
	}
	names, err := segments(l.o.Dir)
	if err != nil {
		return err
	}
	lost, err := l.reopenCheckpoint(len(names) > 0)
	if err != nil {
		return err
	}
	name := SegmentName(1)
	if len(names) > 0 {
		name = names[len(names)-1]
	}
	if err := l.openSegment(name); err != nil {
		return err
	}
	cut, err := l.cutTorn()
	if err != nil {
		return err
	}
	last, err := l.readHead(names)
	if err != nil {
		return err
	}
	return l.repair(last, cut, lost)
}

// repair writes what the log must say about itself after a reload: what was cut, what is lost, which segment follows.
func (l *Log) repair(last Line, cut *Cut, lost string) error {
	if len(lost) == 0 {
		mark, err := l.check.read()
		if err != nil {
			return err
		}
		if mark.seq > l.head.seq {
			lost = fmt.Sprintf("the log ended at record %d, but %d records had been synced", l.head.seq, mark.seq)
		}
	}
	if l.size == 0 && last.Segment != "" { // begun before a crash, without its first line
		if err := l.putLine(Line{Record: Record{Kind: Segment}, After: last.Segment}); err != nil {
			return err
		}
	}
	if last.Next != "" && last.Segment == l.name { // the crash was between the two lines of a rotation
		if err := l.begin(last.Next); err != nil {
			return err
		}
	}
	if cut == nil && lost == "" {
		return nil
	}
	note := "a torn line was cut off"
	if lost != "" {
		note = "records are missing"
	}
	if err := l.putLine(Line{Record: Record{Kind: Repair, Note: note}, Cut: cut, Lost: lost}); err != nil {
		return err
	}
	return l.sync()
}

// reopenCheckpoint opens the checkpoint, and makes a new one where it is missing or unreadable: lost says so, for the log.
func (l *Log) reopenCheckpoint(records bool) (lost string, err error) {
	if l.check != nil {
		_ = l.check.f.Close()
		l.check = nil
	}
	c, err := openCheckpoint(l.o.KeyDir, l.seal, false)
	if err == nil {
		l.check = c
		if _, err = c.read(); err == nil {
			return "", nil
		}
	}
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errNoCheckpoint) {
		return "", err
	}
	if l.check == nil {
		if l.check, err = openCheckpoint(l.o.KeyDir, l.seal, true); err != nil {
			return "", err
		}
	}
	if err := l.check.write(head{0, origin}, SegmentName(1)); err != nil {
		return "", err
	}
	if !records {
		return "", nil
	}
	return errNoCheckpoint.Error(), nil
}

// cutTorn cuts the segment behind its last newline and says what it cut.
func (l *Log) cutTorn() (*Cut, error) {
	end, err := lineStart(l.seg, l.size)
	if err != nil || end == l.size {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(l.seg, end, l.size-end))
	if err != nil {
		return nil, fmt.Errorf("read the torn line of the audit log: %w", err)
	}
	if err := l.seg.Truncate(end); err != nil {
		return nil, fmt.Errorf("cut the torn line of the audit log: %w", err)
	}
	l.size = end
	return &Cut{Bytes: n, SHA256: hexOf(sum.Sum(nil))}, nil
}

// readHead reads the last line of the log, of the segment before if the current one is empty. Without any, the chain begins.
func (l *Log) readHead(names []string) (Line, error) {
	f, name, size := l.seg, l.name, l.size
	if size == 0 && len(names) > 1 {
		name = names[len(names)-2]
		before, err := os.Open(filepath.Join(l.o.Dir, name))
		if err != nil {
			return Line{}, fmt.Errorf("open a segment of the audit log: %w", err)
		}
		defer before.Close()
		st, err := before.Stat()
		if err != nil {
			return Line{}, fmt.Errorf("open a segment of the audit log: %w", err)
		}
		f, size = before, st.Size()
	}
	if size == 0 {
		l.head = head{0, origin}
		return Line{}, nil
	}
	start, err := lineStart(f, size-1)
	if err != nil {
		return Line{}, err
	}
	raw := make([]byte, size-1-start)
	if _, err := f.ReadAt(raw, start); err != nil {
		return Line{}, fmt.Errorf("read the last line of the audit log: %w", err)
	}
	at, ok := parseLinks(raw)
	last, err := decode(raw)
	if !ok || err != nil || !l.seal.genuine(at) {
		return Line{}, fmt.Errorf("the last line of %s was changed, or sealed with another key than the one in %s: the log cannot be continued; "+
			"see \"myc audit verify\", then restore the file or the key, or move the folders away to begin a new log",
			filepath.Join(l.o.Dir, name), l.o.KeyDir)
	}
	l.head = at.head
	last.Segment = name
	return last, nil
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
