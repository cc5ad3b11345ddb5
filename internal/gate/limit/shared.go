package limit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mycelium/internal/atomicfile"
	"mycelium/internal/policy"
)

// The counts of a project are in one folder of its state: a file for all roles, and one for each session that has limits of its own. A
// file is a sequence of records of [recordSize] bytes, one for each bound. Every process reads the records of a call, decides, and writes
// them, while it holds the lock of the folder, which is the file of the roles. So two processes never take the same token, and what a
// process took before it was killed is taken.
//
// A record lies within one page of memory, and write(2) copies within a page are not interrupted: a process that is killed leaves the old
// record or the new one. If it is killed between two records, one bucket has counted a call that did not run.

const (
	recordSize = 1024
	// magic begins a record of this form. A record of zeros is free.
	magic = "limits 1"
	// lockWait is how long a call waits for other processes that count, as the audit log waits for them. Then it is refused.
	lockWait = 2 * time.Second
	// stuckWait is how long the calls behind it wait, so that they do not wait one after the other for a process that was stopped.
	stuckWait = 10 * time.Millisecond
	// keepSession is how long the file of a session is kept after its last call. By then all of its tokens are back: a day and one slot.
	keepSession = 25 * time.Hour
	// pruneEvery is how often files of sessions are looked through.
	pruneEvery = time.Hour
)

// The files of the folder.
const (
	rolesFile     = "roles"
	sessionPrefix = "session-"
)

// folder keeps the counts of a project. The lock of the [Limits] guards it.
type folder struct {
	path   string
	file   *atomicfile.Mutex // of the roles, and the lock of all files; nil: it was not needed yet
	stuck  bool              // the call before waited in vain for the lock
	pruned time.Time
}

func (d *folder) roles() string { return filepath.Join(d.path, rolesFile) }

// session returns the file of a session. Its name does not depend on what the id has for characters.
func (d *folder) session(id string) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(d.path, sessionPrefix+hex.EncodeToString(sum[:16]))
}

// hold takes the lock. It makes the folder if it is missing, but not the state in which it lies: without a state nothing is admitted.
func (d *folder) hold() (err error) {
	wait := lockWait
	if d.stuck {
		wait = stuckWait
	}
	for range 3 { // somebody may have removed the file
		if err := d.open(); err != nil {
			return err
		}
		err = d.file.Lock(context.Background(), wait)
		d.stuck = errors.Is(err, atomicfile.ErrLocked)
		if err != nil {
			return err
		}
		if !d.file.Stale() {
			return nil
		}
		_ = d.file.Close() // it gives the lock back
		d.file = nil
	}
	return fmt.Errorf("lock %s: it is being replaced again and again", d.roles())
}

// open opens the file of the roles, unless it is open.
func (d *folder) open() (err error) {
	if d.file != nil {
		return nil
	}
	if err := os.Mkdir(d.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the folder of the counts: %w", err)
	}
	d.file, err = atomicfile.OpenMutex(d.roles())
	return err
}

// counting runs f on the counters of hits, as all processes of the project left them, and keeps the counts if f reports that it changed
// them. The lock of the [Limits] is held. After an error no token may be taken for given back: the call is refused.
func (l *Limits) counting(hits []hit, at time.Time, f func() (changed bool)) (err error) {
	if !slices.ContainsFunc(hits, kept) {
		f()
		return nil
	}
	if err := l.shared.hold(); err != nil {
		return fmt.Errorf("count calls: %w", err)
	}
	defer func() { err = errors.Join(err, l.shared.file.Unlock()) }()
	files := openFiles{l.shared.file.File()}
	defer files.close()
	if err := each(hits, files.load); err != nil || !f() {
		return err
	}
	return each(hits, func(h hit) error { return files.save(h, l.shared, at) })
}

// each does something for every bound whose counts are in a file.
func each(hits []hit, do func(hit) error) error {
	for _, h := range hits {
		if !kept(h) {
			continue
		}
		if err := do(h); err != nil {
			return fmt.Errorf("count calls: %w", err)
		}
	}
	return nil
}

// kept reports whether the counts of a bound are in a file: those of its rates, unless only this process can know its session.
func kept(h hit) bool { return h.of.file != "" && figures(&h.bound.Rates) != [3]policy.Count{} }

// openFiles are the files of one call: that of the roles, and that of its session, which is nil if it does not exist. Sessions may be
// many, so their files do not stay open.
type openFiles [2]*os.File

func (o *openFiles) close() {
	if session := o[1]; session != nil {
		_ = session.Close()
	}
}

// open returns the file that has the record of a bound. With create unset it is nil if it does not exist.
func (o *openFiles) open(h hit, create bool) (*os.File, error) {
	if !h.bound.Session {
		return o[0], nil
	}
	if o[1] != nil {
		return o[1], nil
	}
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(h.of.file, flags, 0o600)
	switch {
	case err == nil:
		o[1] = f
	case !create && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	}
	return o[1], err
}

// load reads the counts of a bound. A bound without a record counted nothing.
func (o *openFiles) load(h hit) error {
	f, err := o.open(h, false)
	if err != nil {
		return err
	}
	c, name := h.counter, nameOf(h)
	if f == nil {
		c.tally, c.place = tally{}, -1
		return nil
	}
	var r record
	if c.place >= 0 { // unless the record became another bound's
		if n, _ := f.ReadAt(r[:], c.place); n == len(r) && r.name() == name {
			c.tally = r.tally()
			return nil
		}
	}
	r, c.place, err = find(f, func(r *record) bool { return r.name() == name })
	c.tally = r.tally()
	return err
}

// save writes the counts of a bound: over its record, or as a new one.
func (o *openFiles) save(h hit, d *folder, at time.Time) error {
	f, err := o.open(h, false)
	if err == nil && f == nil {
		d.prune(at)
		f, err = o.open(h, true)
	}
	c := h.counter
	if err == nil && c.place < 0 {
		_, c.place, err = find(f, func(r *record) bool { return r.idle(at) })
	}
	if err == nil && c.place < 0 {
		c.place, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return err
	}
	r := recordOf(nameOf(h), &c.tally)
	_, err = f.WriteAt(r[:], c.place)
	return err
}

// find returns the first record that fits and its place; without one, a free record and -1.
func find(f *os.File, fits func(*record) bool) (r record, place int64, err error) {
	for place = 0; ; place += recordSize {
		switch n, err := f.ReadAt(r[:], place); {
		case n == 0 && errors.Is(err, io.EOF):
			return record{}, -1, nil
		case n < len(r) && !errors.Is(err, io.EOF):
			return record{}, -1, err
		case n < len(r) || !r.known():
			return record{}, -1, fmt.Errorf("%s: byte %d begins no record of this version: stop myc and move the file away", f.Name(), place)
		case fits(&r):
			return r, place, nil
		}
	}
}

// prune removes the files of sessions that called for the last time so long ago that all of their tokens are back.
func (d *folder) prune(at time.Time) {
	if at.Sub(d.pruned) < pruneEvery && !at.Before(d.pruned) {
		return
	}
	d.pruned = at
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); strings.HasPrefix(e.Name(), sessionPrefix) && err == nil && at.Sub(info.ModTime()) > keepSession {
			_ = os.Remove(filepath.Join(d.path, e.Name()))
		}
	}
}

// record is the counts of one bound as the file has them: magic, name, and for each bucket its newest slot (8 bytes), its slots (4 bytes
// each) and whether people were warned (4 bytes). Numbers are little-endian. The rest is zeros.
type record [recordSize]byte

// name identifies a bound in a record: the first bytes of the SHA-256 of its name.
type name [24]byte

const (
	nameAt    = len(magic)
	bucketsAt = nameAt + len(name{})
	bucketLen = 8 + 4*(slots+1) + 4
)

func nameOf(h hit) name {
	sum := sha256.Sum256([]byte(h.bound.Name))
	return name(sum[:len(name{})])
}

func recordOf(n name, t *tally) (r record) {
	copy(r[:], magic)
	copy(r[nameAt:], n[:])
	for i := range t {
		b, k := r[bucketsAt+i*bucketLen:], &t[i]
		binary.LittleEndian.PutUint64(b, uint64(k.last))
		for n, taken := range k.slot {
			binary.LittleEndian.PutUint32(b[8+4*n:], taken)
		}
		if k.warned {
			b[8+4*len(k.slot)] = 1
		}
	}
	return r
}

// known reports whether the record has this form, or is free.
func (r *record) known() bool { return string(r[:nameAt]) == magic || *r == record{} }

func (r *record) name() name { return name(r[nameAt:bucketsAt]) }

func (r *record) tally() (t tally) {
	for i := range t {
		b, k := r[bucketsAt+i*bucketLen:], &t[i]
		k.last = int64(binary.LittleEndian.Uint64(b))
		for n := range k.slot {
			k.slot[n] = binary.LittleEndian.Uint32(b[8+4*n:])
			k.taken += int64(k.slot[n])
		}
		k.warned = b[8+4*len(k.slot)] == 1
	}
	return t
}

// idle reports whether all of the tokens are back, so that the record may be another bound's.
func (r *record) idle(at time.Time) bool {
	t := r.tally()
	for i, w := range windows() {
		if t[i].turn(slotAt(at, w.length)); t[i].taken > 0 {
			return false
		}
	}
	return true
}
