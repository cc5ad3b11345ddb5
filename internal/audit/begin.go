package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"mycelium/internal/atomicfile"
)

// ErrIntact is the error of BeginAgain for a log without damage.
var ErrIntact = errors.New("the audit log is intact: there is no reason to begin again")

// BeginAgain begins a new chain behind damage, in a new segment. Its first line says what was expected, what was found, and in a person's
// words why it goes on; nothing else is changed. The error is ErrIntact if there is no damage.
func (l *Log) BeginAgain(by, because string) error {
	found, err := walk(l.o, false)
	if err != nil {
		return fmt.Errorf("begin the audit log again: %w", err)
	}
	l.write.Lock()
	defer l.write.Unlock()
	err = l.locked(func() error {
		l.stale = true
		err := l.reload()
		broken, damaged := errors.AsType[*DamageError](err)
		switch {
		case damaged:
		case err != nil:
			return err
		case found.report.Broken == nil:
			return ErrIntact
		default:
			broken = &DamageError{l.o.Dir, found.report.Broken.Why, l.had}
		}
		return l.beginChain(found, broken, by, because)
	})
	if err != nil {
		return fmt.Errorf("begin the audit log again: %w", err)
	}
	l.trouble.Store(nil)
	l.whole.ask()
	l.notify()
	return nil
}

// beginChain writes the first line of a new chain. The caller holds both locks.
func (l *Log) beginChain(found *verifier, broken *DamageError, by, because string) error {
	expected := broken.expected
	if expected.segment == "" || expected.seq < found.head.seq { // key or checkpoint is gone
		expected = mark{found.head, SegmentName(1), -1}
	}
	d := &Damage{Why: broken.Why, Expected: Head{expected.seq, expected.mac}, Found: Head{found.head.seq, found.head.mac}}
	if b := found.report.Broken; b != nil {
		d.Segment, d.Line = b.Segment, b.Line
		if b.Why != d.Why {
			d.Why += "; " + b.Why
		}
	}
	if err := l.renewKey(); err != nil {
		return err
	}
	names, err := segments(l.o.Dir)
	if err != nil {
		return err
	}
	n := SegmentNumber(expected.segment)
	for _, name := range names {
		n = max(n, SegmentNumber(name))
	}
	next := SegmentName(n + 1)
	if d.Kept, err = digest(l.o, names, d.Segment, next); err != nil {
		return err
	}
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of the audit log: %w", err)
	}
	if err := l.openSegment(next, os.O_CREATE|os.O_EXCL); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(l.o.Dir); err != nil {
		return err
	}
	l.head, l.size, l.stale, l.whole.broken = expected.head, 0, false, ""
	if err := l.putLine(Line{Record: Record{Kind: Begin, Principal: by, Surface: "cli", DecidedBy: "person", Reason: because,
		Note: "a person began a new chain behind damage"}, Damage: d}); err != nil {
		l.stale = true
		_ = os.Remove(l.path)
		return err
	}
	return l.sync()
}

// digest is the SHA-256, in hexadecimal, over names, sizes and contents of the segments from one up to another, which is not counted.
func digest(o Options, names []string, from, to string) (string, error) {
	sum := sha256.New()
	for _, name := range names {
		if name < from || name >= to {
			continue
		}
		if err := addSegment(sum, o, name); err != nil {
			return "", err
		}
	}
	return hexOf(sum.Sum(nil)), nil
}

func addSegment(sum io.Writer, o Options, name string) error {
	f, err := openSegment(o, name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil {
		_, err = fmt.Fprintf(sum, "%s %d\n", name, st.Size())
	}
	if err == nil {
		_, err = io.Copy(sum, f)
	}
	if err != nil {
		return fmt.Errorf("read %s of the audit log: %w", name, err)
	}
	return nil
}

// renewKey makes the key or the checkpoint anew if it is missing or cannot be read.
func (l *Log) renewKey() error {
	if l.check != nil {
		if _, _, err := l.check.read(); err == nil && l.seal != nil {
			return nil
		}
		_ = l.check.f.Close()
		l.check = nil
	}
	if err := os.Remove(filepath.Join(l.o.KeyDir, checkpointFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if l.seal == nil {
		key, err := createKey(l.o.KeyDir)
		if err != nil {
			return err
		}
		l.key, l.seal = key, newSealer(key)
	}
	var err error
	l.check, err = openCheckpoint(l.o.KeyDir, l.seal, true)
	return err
}
