package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// whole is the check of every line of the log. An append reads the end of the log only, so a line that was edited long after it was written
// is found here. Log.write guards all of it but wanted.
type whole struct {
	wanted chan struct{}    // has a value while a check is due; of capacity 1
	broken string           // what is wrong with an older line; "": nothing is known to be
	seen   map[string]stamp // the segments as the last check found them; nil: none has ended
}

// ask makes a check due.
func (w *whole) ask() {
	select {
	case w.wanted <- struct{}{}:
	default:
	}
}

// stamp changes when a file is written, whoever writes it: nobody but root can set the time of the change of an inode.
type stamp struct {
	dev, ino uint64
	size     int64
	changed  unix.Timespec
}

func stampOf(f *os.File) stamp {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return stamp{}
	}
	return newStamp(&st)
}

func (l *Log) stampNamed(name string) stamp {
	var st unix.Stat_t
	if unix.Lstat(filepath.Join(l.o.Dir, name), &st) != nil {
		return stamp{}
	}
	return newStamp(&st)
}

func newStamp(st *unix.Stat_t) stamp {
	return stamp{uint64(st.Dev), st.Ino, st.Size, st.Ctim} //nolint:unconvert // the type of Dev differs between systems
}

// changed compares the older segments with those that the last check found. It makes a check due if one was written since. why says which
// one is missing; "" if none is. The caller holds both locks.
func (l *Log) changed() (why string, err error) {
	if l.whole.seen == nil {
		return "", nil
	}
	names, err := segments(l.o.Dir)
	if err != nil {
		return "", err
	}
	for name := range l.whole.seen {
		if !slices.Contains(names, name) {
			return fmt.Sprintf("segment %s is missing", name), nil
		}
	}
	for _, name := range names {
		if name != l.name && l.stampNamed(name) != l.whole.seen[name] {
			l.whole.ask()
		}
	}
	return "", nil
}

// restFactor bounds the time that checks take: after each one, the next waits so many times as long as it took, so that they take at most
// a tenth of a processor.
const restFactor = 9

// checkWhole checks every line of the log, at once and whenever a check is due, until ctx is done.
func (l *Log) checkWhole(ctx context.Context) {
	for {
		begun := time.Now()
		l.checkOnce()
		rest := time.NewTimer(restFactor * time.Since(begun))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-l.whole.wanted:
		}
	}
}

// checkOnce checks every line of the log, and keeps what is wrong with it.
func (l *Log) checkOnce() {
	l.write.Lock()
	names, err := segments(l.o.Dir)
	seen := map[string]stamp{}
	for _, name := range names {
		seen[name] = l.stampNamed(name)
	}
	other := l.trouble.Load() != nil && l.whole.broken == ""
	l.write.Unlock()
	if err != nil || other {
		return // Look has found that, and looks again
	}
	v, err := walk(l.o, false)
	if err != nil {
		return // it could not be read now; Look asks again when something changes
	}
	l.write.Lock()
	defer l.write.Unlock()
	if l.closed {
		return
	}
	b := v.report.Broken
	switch {
	case b == nil:
		l.whole.seen, l.whole.broken = seen, ""
	case l.whole.broken == "":
		l.whole.broken = fmt.Sprintf("behind record %d, in %s: %s", v.head.seq, b.Segment, b.Why)
		l.stale = true
		l.note(l.damaged(l.whole.broken, l.had), 0)
		l.notify()
	}
}
