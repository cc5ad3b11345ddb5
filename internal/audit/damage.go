package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// DamageError says that the segments are not what was written to them, or that key or checkpoint is missing. No record is appended until
// the files are restored or [Log.BeginAgain] succeeds.
type DamageError struct {
	Dir string
	Why string

	expected mark
}

func (e *DamageError) Error() string { return "the audit log in " + e.Dir + " is damaged: " + e.Why }

// Hint says how to mend it.
func (e *DamageError) Hint() string {
	return "find out who changed it; then restore the files from a copy, or begin a new chain, which names the damage: " +
		`myc audit begin-again --because "TEXT"`
}

// trouble is why records cannot be written.
type trouble struct {
	err     error
	since   time.Time
	refused int // records since then
}

// note keeps what an attempt to write ended with.
func (l *Log) note(err error, refused int) {
	t := l.trouble.Load()
	switch {
	case err == nil || errors.Is(err, ErrClosed):
	case t == nil:
		l.trouble.Store(&trouble{err, l.o.now(), refused})
	default:
		l.trouble.Store(&trouble{err, t.since, t.refused + refused})
	}
}

// Problem returns what keeps records from being written, as the last append or the last [Log.Look] found it; nil: they can be written.
func (l *Log) Problem() error {
	if t := l.trouble.Load(); t != nil {
		return t.err
	}
	if e := l.tight.Load(); e != nil {
		return *e
	}
	return nil
}

func problemText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// damaged is the error about damage. The first time, it puts what this process knows into the checkpoint, so that every other process and
// the next start finds the damage too.
func (l *Log) damaged(why string, expected mark) error {
	if l.check != nil && l.had.seq > l.synced {
		if l.check.write(l.had) == nil {
			l.synced = l.had.seq
		}
	}
	return &DamageError{l.o.Dir, why, expected}
}

// Look compares the files with what this process left and returns what keeps records from being written; nil: they can be written. If the
// last record could not be written, it tries again, with a record that says so.
func (l *Log) Look() error {
	l.write.Lock()
	defer l.write.Unlock()
	if l.closed {
		return ErrClosed
	}
	before := l.trouble.Load()
	l.note(l.locked(l.lookAtFiles), 0)
	if (before == nil) != (l.trouble.Load() == nil) {
		l.notify()
	}
	l.tight.Store(nil)
	if err := room(l.o.Dir, l.size); err != nil {
		l.tight.Store(&err)
	}
	return l.Problem()
}

func (l *Log) lookAtFiles() error {
	if l.whole.broken != "" {
		l.whole.ask()
	}
	if l.trouble.Load() != nil || !l.current() || !l.inPlace() {
		l.stale = true
		return l.ready()
	}
	key, err := loadKey(l.o.KeyDir)
	if err != nil || !bytes.Equal(key, l.key) {
		l.stale = true
		return l.ready()
	}
	if _, _, err := l.check.read(); err != nil {
		l.stale = true
		return l.ready()
	}
	_, why, err := examine(l.o, l.seal, l.had, l.had)
	if err == nil && why == "" {
		why, err = l.changed()
	}
	if err == nil && why != "" {
		err = l.damaged(why, l.had)
	}
	l.stale = err != nil // the next append looks again
	return err
}

// minRoom is how many bytes there must be for further records: less than that is a full disk. The largest record is about as long.
const minRoom = 256 << 10

// room returns an error if there is no room for further records on the disk, or in a file of this process (setrlimit(2)) of that size.
func room(dir string, size int64) error {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) == nil && fs.Blocks > 0 {
		free := fs.Bavail
		if os.Geteuid() == 0 {
			free = fs.Bfree
		}
		if size := int64(fs.Bsize); size > 0 && int64(min(free, minRoom)) < (minRoom+size-1)/size { // #nosec G115 -- bounded
			return fmt.Errorf("the disk of the audit log %s is full: less than %d KiB are left", dir, minRoom>>10)
		}
	}
	var most unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &most) == nil && most.Cur < uint64(size)+minRoom { // #nosec G115 -- a size
		return fmt.Errorf("the audit log %s may not grow: this process may write files of at most %d bytes", dir, most.Cur)
	}
	return nil
}

// Problem returns what would keep records from being written to a log, as far as it shows without opening it; nil: they could be written,
// or there is no log yet. It writes nothing.
func Problem(o Options) error {
	unlock, err := lockToRead(o, lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	names, err := segments(o.Dir)
	if err != nil {
		return err
	}
	key, err := loadKey(o.KeyDir)
	if errors.Is(err, os.ErrNotExist) {
		if len(names) > 0 {
			return &DamageError{Dir: o.Dir, Why: fmt.Sprintf("its key %s is missing", filepath.Join(o.KeyDir, KeyFile))}
		}
		return nil
	}
	if err != nil {
		return err
	}
	s := newSealer(key)
	c, err := openCheckpointAs(o.KeyDir, s, os.O_RDONLY)
	var least mark
	if err == nil {
		var synced, written mark
		synced, written, err = c.read()
		least = newer(synced, written)
		_ = c.f.Close()
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoCheckpoint) {
		return &DamageError{Dir: o.Dir, Why: errNoCheckpoint.Error()}
	}
	if err != nil {
		return err
	}
	e, why, err := examine(o, s, least, least)
	switch {
	case err != nil:
		return err
	case why == "":
		why, err = tail(o, s, e.head)
	}
	switch {
	case err != nil:
		return err
	case why != "":
		return &DamageError{Dir: o.Dir, Why: why}
	case len(names) == 0:
		return nil
	}
	return room(o.Dir, e.size)
}
