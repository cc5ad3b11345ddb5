package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
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
	mutex *atomicfile.Mutex // excludes other processes; always locked after write

	queued struct {
		sync.Mutex
		list []*pending
	}
	chg struct {
		sync.Mutex
		ch chan struct{} // nil while nobody has asked for it
	}
	spare sync.Pool    // of *pending
	busy  atomic.Int32 // calls between Enter and Leave

	trouble atomic.Pointer[trouble] // why records cannot be written; nil: they can
	tight   atomic.Pointer[error]   // why they soon cannot
	kept    atomic.Pointer[keeping]
	crowd   int32 // the number of calls above which Append lets other appenders queue first

	write  sync.Mutex // guards everything below
	key    []byte     // as it was read last; nil: there is none
	seal   *sealer
	check  *checkpoint
	seg    *os.File
	name   string // of the segment
	path   string
	size   int64 // of the segment after this process wrote to it
	head   head
	had    mark  // the last head that this process wrote or found: while it lives, the truth
	synced int64 // records that the checkpoint knows at least
	stale  bool  // the end is not known: reload
	left   stamp // of the segment after this process wrote to it
	whole  whole
	buf    []byte
	group  []*pending // memory of the last group, reused
	dirty  bool       // written and not synced
	closed bool
}

// pending is a record in the queue.
type pending struct {
	body []byte
	sync bool
	done bool // guarded by Log.write
	err  error
}

const (
	lockWait     = 2 * time.Second // after this the call cannot be recorded and does not run
	verifyWait   = time.Minute     // no call waits for Verify, so it may outlast a disk that is slow to sync
	syncInterval = 100 * time.Millisecond
	lookEvery    = 5       // sync intervals: damage is noticed within a second
	maxGroup     = 4 << 20 // bytes of one write
	keptBody     = 8 << 10 // largest buffer of a record, in bytes, that is reused
	crowd        = 2       // factor of Log.crowd for each processor
)

// ErrClosed is returned after [Log.Close].
var ErrClosed = errors.New("the audit log is closed")

// Open opens the log, repairs a torn last line, and creates folder and key if they do not exist.
//
// If the key is missing, or the segments are not what was written to them, Open changes nothing and returns a log that takes no records:
// Append returns a *DamageError until the files are restored or [Log.BeginAgain] succeeds. A key that cannot be used is an error.
func Open(o Options) (*Log, error) {
	if o.Dir == "" || o.Lock == "" || o.KeyDir == "" {
		return nil, errors.New("open the audit log: Dir, Lock and KeyDir must be set")
	}
	if o.Sync != "" && o.Sync != "interval" && o.Sync != "call" {
		return nil, fmt.Errorf("open the audit log: sync is %q, want interval or call", o.Sync)
	}
	m, err := atomicfile.OpenMutex(o.Lock)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	l := &Log{o: o, mutex: m, crowd: crowd * int32(min(runtime.GOMAXPROCS(0), math.MaxInt16))}
	l.Keep(o.Redact, o.Sync)
	l.spare.New = func() any { return &pending{body: make([]byte, 0, 2<<10)} }
	l.whole.wanted = make(chan struct{}, 1)
	err = l.locked(l.start)
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		l.note(err, 0)
	} else if err != nil {
		l.shut()
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return l, nil
}

// Append writes the record and returns after write(2). An error means that the record is not in the log, or, for a record that is synced
// at once, that it may not survive a crash: the call must not run. Append waits at most 2 s for other processes. The context does not
// end the wait, because a client that disconnects must not decide whether a record is written.
func (l *Log) Append(_ context.Context, r Record) error {
	if r.Time.IsZero() {
		r.Time = l.o.now()
	}
	p := l.spare.Get().(*pending)
	defer recycle(l, p)
	k := l.kept.Load()
	p.body = appendBody(p.body[:0], &Line{Record: r}, k.redact)
	p.sync, p.done, p.err = k.everyCall || urgent(&r), false, nil
	l.queued.Lock()
	l.queued.list = append(l.queued.list, p)
	l.queued.Unlock()
	// With many calls under way, let other appenders queue before this one writes: with 16 callers this makes groups where there would
	// be one write per record. With few callers it would only wake an idle processor, which costs more than the write.
	if l.busy.Load() > l.crowd {
		runtime.Gosched()
	}

	// The first to get the lock writes the whole queue; the others then find their record done.
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
	refused := 0
	for _, q := range group {
		if !q.done {
			q.done, q.err = true, err
			refused++
		}
	}
	l.note(err, refused)
	clear(group)
	l.notify()
	return p.err
}

// recycle keeps the buffer of a record that Append has finished with.
func recycle(l *Log, p *pending) {
	if cap(p.body) <= keptBody {
		l.spare.Put(p)
	}
}

// Enter marks the beginning of a call that will append. Enter and Leave affect only how many records are written at once.
func (l *Log) Enter() { l.busy.Add(1) }

// Leave marks the end of a call; see [Log.Enter].
func (l *Log) Leave() { l.busy.Add(-1) }

// Redact is [Redact] with the words of this log, so that people are shown a call as the log has it.
func (l *Log) Redact(raw []byte) []byte { return Redact(raw, l.kept.Load().redact) }

// keeping is how records are kept, as Options.Redact and Options.Sync say.
type keeping struct {
	redact    []string
	everyCall bool // every record is synced before Append returns
}

// Keep replaces Options.Redact and Options.Sync for the records to come.
func (l *Log) Keep(redact []string, sync string) { l.kept.Store(&keeping{redact, sync == "call"}) }

// urgent reports whether a record is synced before Append returns: denials, approvals and acts of operators.
func urgent(r *Record) bool {
	return r.Effect == "deny" || r.Outcome == "denied" || r.DecidedBy == "person" || r.DecidedBy == "model" || r.Kind == Operator
}

// Run syncs in the background, every 100 ms if something was written, and looks after the files ([Log.Look]) twice a second, until ctx is
// done. Without Run, only urgent records and Close sync, which is enough for a short-lived process.
//
// tell, unless nil, is called with the error that keeps records from being written, when that changes; nil: the log can be written. With
// tell, Run also checks every line of the log when it begins, and again when a file of it was changed by another process.
func (l *Log) Run(ctx context.Context, tell func(problem error)) error {
	if tell != nil {
		checked := make(chan struct{})
		defer func() { <-checked }()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() {
			defer close(checked)
			l.checkWhole(ctx)
		}()
	}
	tick := time.NewTicker(syncInterval)
	defer tick.Stop()
	said := ""
	say := func() {
		if now := problemText(l.Problem()); now != said && tell != nil {
			tell(l.Problem())
			said = now
		}
	}
	for i := 0; ; i++ {
		say()
		select {
		case <-ctx.Done():
			err := l.flush()
			say()
			return err
		case <-tick.C:
		}
		_ = l.flush() // Problem has its error
		if i%lookEvery == 0 {
			_ = l.Look() // Problem has it
		}
	}
}

// flush syncs what was written since the last sync.
func (l *Log) flush() error {
	l.write.Lock()
	defer l.write.Unlock()
	if !l.dirty || l.closed {
		return nil
	}
	err := l.locked(l.sync)
	if !errors.Is(err, atomicfile.ErrLocked) {
		l.note(err, 0)
	}
	return err
}

// Close syncs, writes the checkpoint and closes the files. A second Close does nothing.
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

// Changed returns a channel that is closed when this process appends something after the call.
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

// locked runs f under the lock between processes.
func (l *Log) locked(f func() error) error {
	if l.closed {
		return ErrClosed
	}
	if l.mutex.Stale() { // the lock file was removed: other processes would lock a new one
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

// start loads or creates the key, and finds the head.
func (l *Log) start() error {
	names, err := segments(l.o.Dir)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(l.o.KeyDir, KeyFile)); errors.Is(err, os.ErrNotExist) && len(names) == 0 {
		if _, err := createKey(l.o.KeyDir); err != nil {
			return err
		}
	}
	if err := l.reload(); err != nil {
		return err
	}
	why, err := tail(l.o, l.seal, l.had)
	if err == nil && why != "" {
		l.whole.broken = why
		l.stale = true
		err = l.damaged(why, l.had)
	}
	return err
}

// sync writes the segment to the disk and moves the checkpoint to the head.
func (l *Log) sync() error {
	if err := datasync(l.seg); err != nil {
		return fmt.Errorf("sync the audit log: %w", err)
	}
	l.dirty = false
	if !l.current() {
		return nil // another process has appended since, and moves the checkpoint past our records; or the next append finds damage
	}
	if err := l.check.write(l.had); err != nil {
		return err
	}
	l.synced = l.had.seq
	l.stale = !l.inPlace()
	return nil
}

// current reports whether the segment still exists and is as this process left it.
func (l *Log) current() bool {
	var st unix.Stat_t
	return l.seg != nil && !l.stale && unix.Fstat(int(l.seg.Fd()), &st) == nil && st.Nlink > 0 && newStamp(&st) == l.left
}

// inPlace reports whether segment and checkpoint are still what has their names.
func (l *Log) inPlace() bool {
	return samePlace(l.seg, l.path) && samePlace(l.check.f, filepath.Join(l.o.KeyDir, checkpointFile))
}

func samePlace(f *os.File, path string) bool {
	var open, named unix.Stat_t
	return unix.Fstat(int(f.Fd()), &open) == nil && unix.Lstat(path, &named) == nil && open.Dev == named.Dev && open.Ino == named.Ino
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
