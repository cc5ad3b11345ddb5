package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/atomicfile"
)

// Log appends to the chain. It is safe for concurrent use, and several processes may append to one chain.
type Log struct {
	o     Options
	mutex *atomicfile.Mutex // against other processes; always taken after write

	queued struct {
		sync.Mutex
		list []*pending
	}
	chg struct {
		sync.Mutex
		ch chan struct{} // nil while nobody waits
	}
	spare sync.Pool    // of *pending
	busy  atomic.Int32 // calls under way: what is about to append
	crowd int32        // so many that records are worth waiting for

	write  sync.Mutex // guards everything below
	seal   *sealer
	check  *checkpoint
	seg    *os.File
	name   string // of the segment
	path   string
	size   int64 // what this process left
	head   head
	buf    []byte
	group  []*pending // of the last write, to be used again
	dirty  bool       // written, not synced
	closed bool
}

// pending is a record that waits to be written.
type pending struct {
	body []byte
	sync bool
	done bool // guarded by Log.write
	err  error
}

const (
	lockWait     = 2 * time.Second // after that the call cannot be recorded, and does not run (door.md)
	verifyWait   = time.Minute     // no call waits for a verification, so it outlasts a disk that is slow to sync
	syncInterval = 100 * time.Millisecond
	maxGroup     = 4 << 20 // bytes that one write takes
	keptBody     = 8 << 10 // bytes of a record's memory that are kept for the next
	crowd        = 2       // calls under way for each processor, above which they wait for one another
)

// Errors of the log that callers may want to tell apart.
var (
	ErrClosed = errors.New("the audit log is closed")
)

// Open opens the log, repairs a torn last line, and creates folder and key if they do not exist.
//
// A log whose key is missing, or whose last line is not sealed with it, cannot be continued: that is an error which says what
// to do, and nothing is changed. Records that had been synced and are gone are noted in the log, where Verify finds the note.
func Open(o Options) (*Log, error) {
	if o.Dir == "" || o.Lock == "" || o.KeyDir == "" {
		return nil, errors.New("open the audit log: the folder, the lock file and the folder of the key must be named")
	}
	if o.Sync != "" && o.Sync != "interval" && o.Sync != "call" {
		return nil, fmt.Errorf("open the audit log: sync is %q, want interval or call", o.Sync)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the audit log: make its folder: %w", err)
	}
	m, err := atomicfile.OpenMutex(o.Lock)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	l := &Log{o: o, mutex: m, crowd: crowd * int32(min(runtime.GOMAXPROCS(0), math.MaxInt16))}
	l.spare.New = func() any { return &pending{body: make([]byte, 0, 2<<10)} }
	if err := l.locked(l.start); err != nil {
		l.shut()
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return l, nil
}

// Append writes the record and returns when write(2) has. An error means that the record is not in the log, or, for one that
// must be synced at once, that it may not survive a crash: the call must not run. It waits at most 2 s for other processes. The
// context does not end the wait: whether a record is written must not depend on a client that goes away.
func (l *Log) Append(_ context.Context, r Record) error {
	if r.Time.IsZero() {
		r.Time = l.o.now()
	}
	p := l.spare.Get().(*pending)
	defer l.giveBack(p)
	p.body = appendBody(p.body[:0], &Line{Record: r}, l.o.Redact)
	p.sync, p.done, p.err = l.o.Sync == "call" || urgent(&r), false, nil
	l.queued.Lock()
	l.queued.list = append(l.queued.list, p)
	l.queued.Unlock()
	// Where many calls are under way, those about to append get to queue before anybody writes: with 16 callers that makes groups
	// where there would be one write a record. With few it would only wake an idle processor, for more than the write costs.
	if l.busy.Load() > l.crowd {
		runtime.Gosched()
	}

	// Whoever gets the lock writes all that wait; the others find their record written when they get it.
	l.write.Lock()
	defer l.write.Unlock()
	if p.done {
		return p.err
	}
	l.queued.Lock()
	group := l.queued.list
	l.queued.list = l.group[:0]
	l.queued.Unlock()
	l.group = group
	err := l.locked(func() error { return l.appendGroup(group) })
	for _, q := range group {
		if !q.done {
			q.done, q.err = true, err
		}
	}
	clear(group)
	l.notify()
	return p.err
}

// giveBack keeps a record's memory for the next one. Nobody else knows of it any more: it was written, or refused, under the lock.
func (l *Log) giveBack(p *pending) {
	if cap(p.body) <= keptBody {
		l.spare.Put(p)
	}
}

// Enter says that a call is under way, which will append; Leave, that it is over. Nothing depends on them but how many records are
// written at once.
func (l *Log) Enter() { l.busy.Add(1) }

// Leave is the other half of [Log.Enter].
func (l *Log) Leave() { l.busy.Add(-1) }

// Redact is [Redact] with the words of this log: what people are shown of a call is what the log has of it.
func (l *Log) Redact(raw []byte) []byte { return Redact(raw, l.o.Redact) }

// urgent reports whether a record is synced before its Append returns: denials, approvals and what operators do.
func urgent(r *Record) bool {
	return r.Effect == "deny" || r.Outcome == "denied" || r.DecidedBy == "person" || r.DecidedBy == "model" || r.Kind == Operator
}

// Run syncs in the background, every 100 ms if something was written, until ctx is done. Without it records are written as well,
// and synced when they are urgent and by Close (a short-lived process needs no Run). It returns nil when ctx ends.
func (l *Log) Run(ctx context.Context) error {
	tick := time.NewTicker(syncInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return l.flush()
		case <-tick.C:
			if err := l.flush(); err != nil && !errors.Is(err, atomicfile.ErrLocked) {
				return fmt.Errorf("sync the audit log: %w", err)
			}
		}
	}
}

// flush syncs what was written and not synced yet.
func (l *Log) flush() error {
	l.write.Lock()
	defer l.write.Unlock()
	if !l.dirty || l.closed {
		return nil
	}
	return l.locked(l.sync)
}

// Close syncs, writes the checkpoint and closes. A second Close does nothing.
func (l *Log) Close() error {
	l.write.Lock()
	defer l.write.Unlock()
	if l.closed {
		return nil
	}
	var err error
	if l.dirty {
		err = l.locked(l.sync)
	}
	l.closed = true
	l.shut()
	return err
}

// Changed returns a channel that is closed when something was appended by this process after the call.
func (l *Log) Changed() <-chan struct{} {
	l.chg.Lock()
	defer l.chg.Unlock()
	if l.chg.ch == nil {
		l.chg.ch = make(chan struct{})
	}
	return l.chg.ch
}

func (l *Log) notify() {
	l.chg.Lock()
	defer l.chg.Unlock()
	if l.chg.ch != nil {
		close(l.chg.ch)
		l.chg.ch = nil
	}
}

// locked runs f while no other process writes.
func (l *Log) locked(f func() error) error {
	if l.closed {
		return ErrClosed
	}
	if l.mutex.Stale() { // somebody removed the lock file: others would lock another one
		m, err := atomicfile.OpenMutex(l.o.Lock)
		if err != nil {
			return err
		}
		_ = l.mutex.Close()
		l.mutex = m
	}
	if err := l.mutex.Lock(context.Background(), lockWait); err != nil {
		return err
	}
	return errors.Join(f(), l.mutex.Unlock())
}

// start loads or makes the key, and finds the head.
func (l *Log) start() error {
	names, err := segments(l.o.Dir)
	if err != nil {
		return err
	}
	key, err := loadKey(l.o.KeyDir)
	if errors.Is(err, os.ErrNotExist) {
		if len(names) > 0 {
			return fmt.Errorf("%w; without it %s cannot be continued or verified: restore the key, or move that folder away to begin a new log", err, l.o.Dir)
		}
		key, err = createKey(l.o.KeyDir)
	}
	if err != nil {
		return err
	}
	l.seal = newSealer(key)
	return l.reload()
}

// sync makes what was written survive a crash of the machine, and moves the checkpoint to the head.
func (l *Log) sync() error {
	if err := datasync(l.seg); err != nil {
		return fmt.Errorf("sync the audit log: %w", err)
	}
	l.dirty = false
	if !l.current() {
		return nil // another process went on; it moves the checkpoint past our records
	}
	if err := l.check.write(l.head, l.name); err != nil {
		return err
	}
	if st, err := os.Stat(l.path); err != nil || !l.sameFile(st) {
		// The folder was moved away under us, and our records with it. What comes next starts from what has the name now, and
		// notes there what is missing.
		l.size = -1
	}
	return nil
}

func (l *Log) sameFile(st os.FileInfo) bool {
	open, err := l.seg.Stat()
	return err == nil && os.SameFile(open, st)
}

// current reports whether the segment is as this process left it: not removed, and of the same size.
func (l *Log) current() bool {
	var st unix.Stat_t
	return l.seg != nil && unix.Fstat(int(l.seg.Fd()), &st) == nil && st.Nlink > 0 && st.Size == l.size
}

func (l *Log) shut() {
	_ = l.mutex.Close()
	if l.seg != nil {
		_ = l.seg.Close()
	}
	if l.check != nil {
		_ = l.check.f.Close()
	}
}
