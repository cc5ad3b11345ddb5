package audit

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/atomicfile"
	"mycelium/internal/text"
)

// appendGroup writes the records in as few writes as their size allows. The caller holds both locks. Written records are marked done;
// an error is about the others.
func (l *Log) appendGroup(group []*pending) error {
	if err := l.ready(); err != nil {
		return err
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

// ready makes the log ready for an append: its head is that of the file, and if records could not be written before, that is written.
func (l *Log) ready() error {
	if !l.current() {
		if err := l.reload(); err != nil {
			return err
		}
	}
	t := l.trouble.Load()
	if t == nil {
		return nil
	}
	if l.dirty {
		if err := l.sync(); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("the log can be written again; since %s it could not: %v", t.since.UTC().Format(time.RFC3339), t.err)
	if t.refused > 0 {
		note += "; " + text.Count(int(t.refused), "record") + " " + text.Plural(int(t.refused), "was", "were") + " refused"
	}
	if err := l.putLine(Line{Record: Record{Kind: Repair, Note: note}}); err != nil {
		return err
	}
	l.trouble.Store(nil)
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
	m := mark{h, l.name, l.size + int64(n)}
	if err == nil {
		err = l.check.wrote(m)
	}
	if err == nil {
		l.size, l.head, l.had = m.offset, h, m
		l.left = stampOf(l.seg)
		l.dirty = true
		return nil
	}
	err = fmt.Errorf("write the audit log: %w", err)
	if n > 0 {
		// For example, the disk is full. Neither a part of a line may stay, nor a line whose caller gets an error.
		if e := l.seg.Truncate(l.size); e != nil {
			l.stale = true // the next append reloads, and repairs the end
			err = errors.Join(err, fmt.Errorf("remove the partial write: %w", e))
		}
	}
	return err
}

// putLine appends a record that the log writes about itself.
func (l *Log) putLine(line Line) error {
	line.ID, line.Time = NewID(), l.o.now()
	h := head{l.head.seq + 1, ""}
	buf := l.seal.appendLine(nil, h.seq, l.head.mac, appendBody(nil, &line, l.kept.Load().redact))
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
		l.stale = true // the segment has ended: a reload continues with the next one
		return err
	}
	return nil
}

// begin creates the next segment and writes its first line, which names the one before.
func (l *Log) begin(next string) error {
	after := l.name
	if err := l.openSegment(next, os.O_CREATE); err != nil {
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

// openSegment opens a segment and makes it the current one. The further flags may create it.
func (l *Log) openSegment(name string, flags int) error {
	f, err := os.OpenFile(filepath.Join(l.o.Dir, name), os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW|flags, 0o600)
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

// reload finds the head of the log on the disk, and repairs what a crash left: a torn line, or a rotation that did not finish. What this
// process had written, and what the checkpoint knows, must be there: if not, the error is a *DamageError, and nothing is changed. After an
// error, the next append reloads again.
func (l *Log) reload() error {
	l.stale = true
	from, least, why, err := l.known()
	var e end
	if err == nil && why == "" {
		e, why, err = examine(l.o, l.seal, from, least)
	}
	switch {
	case err != nil:
		return err
	case why != "":
		return l.damaged(why, newer(from, least))
	}
	if err := l.resume(e); err != nil {
		return err
	}
	l.stale, l.left = false, stampOf(l.seg)
	l.whole.ask() // another process has written to the segment
	return nil
}

// known returns what the log is known to have had: from is the newest head of this process, else of the checkpoint; least is the newest
// of all. It reads key and checkpoint again, because another process may have replaced them. why says what is wrong with them, or with
// a line that was written before.
func (l *Log) known() (from, least mark, why string, err error) {
	from, least = l.had, l.had
	if from.segment == "" {
		from, least = beginning, beginning
	}
	key, err := loadKey(l.o.KeyDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		l.key, l.seal = nil, nil
		return from, least, fmt.Sprintf("its key %s is missing", filepath.Join(l.o.KeyDir, KeyFile)), nil
	case err != nil:
		return from, least, "", err
	case !bytes.Equal(key, l.key):
		l.key, l.seal = key, newSealer(key)
	}
	if l.whole.broken != "" {
		return from, least, l.whole.broken, nil
	}
	if l.check != nil {
		_ = l.check.f.Close()
		l.check = nil
	}
	c, err := openCheckpoint(l.o.KeyDir, l.seal, false)
	if err == nil {
		var synced, written mark
		if synced, written, err = c.read(); err == nil {
			l.check = c
			least = newer(synced, written)
			l.synced = synced.seq
		} else {
			_ = c.f.Close()
		}
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoCheckpoint) {
		return from, least, errNoCheckpoint.Error(), nil
	}
	if l.had.segment == "" {
		from = least
	}
	return from, least, "", err
}

// resume makes the end that was found the place of the next append.
func (l *Log) resume(e end) error {
	if e.segment == "" {
		if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
			return fmt.Errorf("make the folder of the audit log: %w", err)
		}
		e.segment = SegmentName(1)
		if err := l.openSegment(e.segment, os.O_CREATE); err != nil {
			return err
		}
	} else if err := l.openSegment(e.segment, 0); err != nil {
		return err
	}
	cut, err := l.cutTorn(e)
	if err != nil {
		return err
	}
	l.head, l.size, l.had = e.head.head, e.size, e.head
	if l.size == 0 && e.last.Segment != "" { // begun before a crash, without its first line
		if err := l.putLine(Line{Record: Record{Kind: Segment}, After: e.last.Segment}); err != nil {
			return err
		}
	}
	if e.last.Next != "" && e.last.Segment == l.name { // the crash was between the two lines of a rotation
		if err := l.begin(e.last.Next); err != nil {
			return err
		}
	}
	if cut == nil {
		return nil
	}
	if err := l.putLine(Line{Record: Record{Kind: Repair, Note: "a torn line was cut off"}, Cut: cut}); err != nil {
		return err
	}
	return l.sync()
}

// cutTorn cuts the segment behind its last newline and says what it cut.
func (l *Log) cutTorn(e end) (*Cut, error) {
	if e.torn == 0 {
		return nil, nil
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(l.seg, e.size, e.torn))
	if err != nil {
		return nil, fmt.Errorf("read the torn line of the audit log: %w", err)
	}
	if err := l.seg.Truncate(e.size); err != nil {
		return nil, fmt.Errorf("cut the torn line of the audit log: %w", err)
	}
	return &Cut{Bytes: n, SHA256: hexOf(sum.Sum(nil))}, nil
}
