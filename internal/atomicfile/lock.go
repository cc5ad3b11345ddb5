package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked means that somebody else, in another process or in this one, holds the lock.
var ErrLocked = errors.New("locked by somebody else")

// Lock is an exclusive advisory lock (flock) on a file, held until Unlock or the end of the process.
type Lock struct{ f *os.File }

// TryLock takes the lock at once or returns ErrLocked. The file is created if it does not exist and never removed.
// Two locks of one file exclude each other within a process too.
func TryLock(path string) (*Lock, error) {
	// Between opening and locking, somebody may have removed or replaced the file: a lock on a file without the name locks
	// out nobody. That can happen a few times in a row only if somebody keeps doing it.
	for range 10 {
		f, err := openLock(path)
		if err != nil {
			return nil, err
		}
		if err := flock(f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			_ = f.Close()
			return nil, lockError(path, err)
		}
		if current(f, path) {
			return &Lock{f}, nil
		}
		_ = f.Close()
	}
	return nil, fmt.Errorf("lock %s: the file is being replaced again and again", path)
}

// Locked reports whether somebody holds the lock. Those who ask do not exclude each other; somebody who takes the lock at that moment may
// find it taken, so where it is asked for, it is taken with LockWait.
func Locked(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at a lock: %w", err)
	}
	defer f.Close()
	switch err := flock(f, unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return false, nil
	case errors.Is(lockError(path, err), ErrLocked):
		return true, nil
	default:
		return false, lockError(path, err)
	}
}

// LockWait waits up to d for the lock; ErrLocked after that.
func LockWait(path string, d time.Duration) (*Lock, error) {
	return LockWithin(context.Background(), path, d)
}

// LockWithin is LockWait that ends with a context, whose error it returns then.
func LockWithin(ctx context.Context, path string, d time.Duration) (*Lock, error) {
	var l *Lock
	err := poll(ctx, d, func() (err error) {
		l, err = TryLock(path)
		return err
	})
	return l, err
}

// Unlock gives the lock back.
func (l *Lock) Unlock() error {
	if err := l.f.Close(); err != nil { // closing the only descriptor ends the lock
		return fmt.Errorf("unlock: %w", err)
	}
	return nil
}

// Mutex is a lock file that stays open, for those who lock it often. It excludes other processes and other Mutexes, not other
// goroutines with the same Mutex: they need a lock of their own around it.
type Mutex struct{ f *os.File }

// OpenMutex opens the lock file, and creates it if it does not exist. It takes no lock.
func OpenMutex(path string) (*Mutex, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, err
	}
	return &Mutex{f}, nil
}

// Lock waits up to d for the lock; ErrLocked after that, the context's error when it ends earlier.
func (m *Mutex) Lock(ctx context.Context, d time.Duration) error {
	return poll(ctx, d, func() error {
		if err := flock(m.f, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return lockError(m.f.Name(), err)
		}
		return nil
	})
}

// Unlock gives the lock back.
func (m *Mutex) Unlock() error {
	if err := flock(m.f, unix.LOCK_UN); err != nil {
		return fmt.Errorf("unlock %s: %w", m.f.Name(), err)
	}
	return nil
}

// Stale reports whether the file that is open was removed or replaced: a lock of it would lock out nobody. It costs one fstat,
// less than looking the name up.
func (m *Mutex) Stale() bool {
	var st unix.Stat_t
	return unix.Fstat(int(m.f.Fd()), &st) != nil || st.Nlink == 0
}

// File returns the lock file, for a file that is its own lock. It is open for reading and writing until Close.
func (m *Mutex) File() *os.File { return m.f }

// Close closes the file, and with it ends the lock if it is held.
func (m *Mutex) Close() error { return m.f.Close() }

// The kernel has no wait with a deadline for flock, so we ask again: soon at first, because locks here are held for
// microseconds, then less often.
const (
	firstPoll = 50 * time.Microsecond
	lastPoll  = 5 * time.Millisecond
)

// poll tries until it gets something else than ErrLocked, at least once, for up to d.
func poll(ctx context.Context, d time.Duration, try func() error) error {
	err := try()
	if !errors.Is(err, ErrLocked) || d <= 0 {
		return err
	}
	deadline := time.NewTimer(d)
	defer deadline.Stop()
	pause := firstPoll
	again := time.NewTimer(pause)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return err
		case <-again.C:
		}
		if err = try(); !errors.Is(err, ErrLocked) {
			return err
		}
		pause = min(2*pause, lastPoll)
		again.Reset(pause)
	}
}

func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("lock %s: its folder %s does not exist: %w", path, filepath.Dir(path), fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	return f, nil
}

func lockError(path string, err error) error {
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	return fmt.Errorf("lock %s: %w", path, err)
}

// current reports whether path still names the open file.
func current(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(open, named)
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
