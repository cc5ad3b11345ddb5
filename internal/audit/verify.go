package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"mycelium/internal/atomicfile"
)

// Report is the answer of Verify, in the shape of `myc audit verify --json`.
type Report struct {
	OK       bool       `json:"ok"`
	Records  int        `json:"records"`
	Segments int        `json:"segments"`
	First    string     `json:"first"` // time of the first record, RFC 3339; "" without one
	Last     string     `json:"last"`
	Broken   *Break     `json:"broken"`             // null: the log is intact
	Accepted []Accepted `json:"accepted,omitempty"` // breaks behind which a person began a new chain, oldest first
	Unproved []string   `json:"unproved,omitempty"` // what cannot be known without the key, in words
}

// Break names the first broken line.
type Break struct {
	Segment string `json:"segment"`
	Line    int    `json:"line"` // the first line of a segment is 1; one past the last line where lines are missing at the end
	Why     string `json:"why"`
}

// Accepted is a break behind which a new chain begins.
type Accepted struct {
	Break
	Because string    `json:"because"` // in the words of the person
	Time    time.Time `json:"time"`
}

// Verify reads the whole log and compares it with the checkpoint. It finds an edited byte, a removed, added or moved line, a cut end,
// a missing segment, a chain that was computed without the key, a replaced key, and the records of the log about missing records. A
// break behind which a person began a new chain is in Accepted, as long as the records before it are what they were then.
//
// Verify writes nothing and needs no lock file, so that it works on a copy. Without KeyDir, it checks the form of the lines, their numbers
// and links, and that no segment is missing; Unproved says what it cannot check. Records is the number of lines up to the break. An error
// means that the log could not be read.
func Verify(o Options) (Report, error) {
	v, err := walk(o, true)
	if err != nil {
		return Report{}, fmt.Errorf("verify the audit log: %w", err)
	}
	return v.report, nil
}

// walk checks the whole log. With times, the report has the times of the first and the last record, for which every line is decoded.
func walk(o Options, times bool) (*verifier, error) {
	v, err := newVerifier(o)
	if err != nil {
		return nil, err
	}
	v.times = times
	want := SegmentName(1)
	for i, name := range v.names {
		anew, err := v.beginsAnew(name)
		if err != nil {
			return nil, err
		}
		switch {
		case v.stopped, v.report.Broken != nil && !anew:
			continue
		case anew:
		case name != want:
			v.broken(want, 1, "the segment is missing")
			continue
		}
		if err := v.segment(name, 0, v.sizes[i]); err != nil {
			return nil, err
		}
		v.report.Segments++
		want = SegmentName(SegmentNumber(name) + 1)
	}
	v.compare()
	v.report.OK = v.report.Broken == nil
	return v, nil
}

// beginsAnew reports whether a segment begins a new chain behind exactly the damage that was found so far. Then that is accepted.
func (v *verifier) beginsAnew(name string) (bool, error) {
	if v.stopped {
		return false, nil
	}
	line, length, err := newChain(v.o, v.seal, name)
	if err != nil || length == 0 {
		return false, err
	}
	if d := line.Damage; d.Found != (Head{v.head.seq, v.head.mac}) {
		return false, nil // the records before it are not what they were when it was written
	}
	if d := line.Damage; d.Kept != "" {
		sum, err := digest(v.o, v.names, d.Segment, name)
		if err != nil {
			return false, err
		}
		if sum != d.Kept {
			v.report.Broken = &Break{Segment: d.Segment, Line: d.Line, Why: "the segments from here up to " + name +
				" are not as they were when a person began again behind this damage"}
			return false, nil
		}
	}
	v.report.Broken, v.next = nil, ""
	v.report.Accepted = append(v.report.Accepted,
		Accepted{Break{line.Damage.Segment, line.Damage.Line, line.Damage.Why}, line.Reason, line.Time})
	v.head = head{line.Seq - 1, line.Prev}
	return true, nil
}

type verifier struct {
	o        Options
	names    []string
	sizes    []int64 // taken at one moment: other processes may continue to write
	seal     *sealer // nil: there is no key
	synced   mark
	written  mark
	unmarked bool // there is no checkpoint
	times    bool
	stopped  bool // there is no key: nothing can be checked
	report   Report
	head     head
	last     Break // the place of the last intact line
	next     string
}

// newVerifier takes the checkpoint and the sizes of the segments at one moment, under the lock of the log if it can be had. A copy has no
// lock. The checkpoint is read first, so that a log that grows meanwhile is not behind it.
func newVerifier(o Options) (*verifier, error) {
	v := &verifier{o: o, head: head{0, origin}}
	unlock, err := lockToRead(o, verifyWait)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if v.names, err = segments(o.Dir); err == nil {
		err = v.loadMarks()
	}
	if err == nil { // again, because the log may have grown before the marks were read
		v.names, err = segments(o.Dir)
	}
	if damage, ok := errors.AsType[*DamageError](err); ok {
		v.stopped = true
		v.broken(SegmentName(1), 1, damage.Why)
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range v.names {
		st, err := os.Stat(filepath.Join(o.Dir, name))
		if err != nil {
			return nil, err
		}
		v.sizes = append(v.sizes, st.Size())
	}
	return v, nil
}

// lockToRead takes the lock of the log. A copy has none, and where everything is read-only it cannot be opened: then nobody writes.
func lockToRead(o Options, wait time.Duration) (unlock func(), err error) {
	if _, err := os.Stat(o.Lock); err != nil {
		return func() {}, nil //nolint:nilerr // a copy
	}
	m, err := atomicfile.OpenMutex(o.Lock)
	if err != nil {
		return func() {}, nil //nolint:nilerr // read-only
	}
	unlock = func() { _ = m.Close() }
	if err := m.Lock(context.Background(), wait); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// loadMarks reads the key and the checkpoint.
func (v *verifier) loadMarks() error {
	if v.o.KeyDir == "" {
		v.report.Unproved = []string{"that no line was edited", "that the end of the log was not cut off"}
		return nil
	}
	key, err := loadKey(v.o.KeyDir)
	if errors.Is(err, os.ErrNotExist) {
		v.stopped = true
		if len(v.names) > 0 {
			v.broken(v.names[0], 1, "the key of the log is missing: nothing can be verified")
		}
		return nil
	}
	if err != nil {
		return err
	}
	v.seal = newSealer(key)
	c, err := openCheckpointAs(v.o.KeyDir, v.seal, os.O_RDONLY)
	if err == nil {
		defer c.f.Close()
		v.synced, v.written, err = c.read()
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoCheckpoint) {
		v.unmarked = true
		return nil
	}
	return err
}

// broken records the first break; later ones are ignored.
func (v *verifier) broken(segment string, line int, why string) {
	if v.report.Broken == nil {
		v.report.Broken = &Break{Segment: segment, Line: line, Why: why}
	}
}

// segment checks the lines of one segment, from an offset up to another, or to its end if that is below 0. It ends at the first broken one.
func (v *verifier) segment(name string, from, to int64) error {
	f, err := openSegment(v.o, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if to < 0 {
		to = math.MaxInt64
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, from, to-from), 256<<10)
	var long []byte
	for n := 1; ; n++ {
		raw, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // longer than the buffer
			long = append(long[:0], raw...)
			var rest []byte
			rest, err = r.ReadBytes('\n')
			long = append(long, rest...)
			raw = long
		}
		if errors.Is(err, io.EOF) {
			if len(raw) > 0 {
				v.broken(name, n, "the line does not end: it was torn by a crash (the next start repairs that) or cut")
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if why := v.line(raw[:len(raw)-1], name, n); why != "" {
			v.broken(name, n, why)
			return nil
		}
		v.last = Break{Segment: name, Line: n}
	}
}

// line checks one line against the chain so far. It returns what is wrong with the line, or "".
func (v *verifier) line(raw []byte, segment string, n int) string {
	at, ok := parseLinks(raw)
	if !ok {
		return "it is not a line that the log writes: it was edited"
	}
	if v.seal != nil && !v.seal.genuine(at) {
		if v.head.seq == 0 {
			return "its seal does not fit: it was edited, or the log was sealed with another key"
		}
		return "its seal does not fit: it was edited, or written without the key"
	}
	switch want := v.head.seq + 1; {
	case at.seq > want:
		return fmt.Sprintf("%s missing or moved before it", recordsText(want, at.seq-1))
	case at.seq < want:
		return fmt.Sprintf("it is record %d where record %d belongs: it was moved or repeated", at.seq, want)
	case at.prev != v.head.mac:
		return "its link to the line before does not fit"
	case at.seq == v.synced.seq && at.mac != v.synced.mac:
		return "it is not the line that was here at the last sync: the end of the log was replaced"
	case at.seq == v.written.seq && at.mac != v.written.mac:
		return "it is not the line that was written: the end of the log was replaced"
	}
	if v.next != "" && (n != 1 || segment != v.next) {
		return "the segment should have ended before it"
	}
	var line Line
	// Only lines of the log about itself have members that count here. A line that its seal fits is as the log wrote it.
	if v.times || bytes.Contains(raw, []byte(`"next":`)) || bytes.Contains(raw, []byte(`"lost":`)) {
		var err error
		if line, err = decode(raw); err != nil {
			return "it cannot be read: " + err.Error()
		}
	}
	v.next, v.head = line.Next, at.head
	v.report.Records++
	if v.times {
		v.report.Last = line.Time.Format(time.RFC3339Nano)
		if v.report.First == "" {
			v.report.First = v.report.Last
		}
	}
	if line.Lost != "" {
		return "the log itself says that records were lost before it: " + line.Lost
	}
	return ""
}

func recordsText(from, to int64) string {
	if from == to {
		return "record " + strconv.FormatInt(from, 10) + " is"
	}
	return fmt.Sprintf("records %d to %d are", from, to)
}

// compare compares the end of the chain with the checkpoint.
func (v *verifier) compare() {
	where := v.last
	if where.Segment == "" {
		where.Segment = SegmentName(1)
	}
	if v.next != "" {
		v.broken(v.next, 1, "the segment is missing")
	}
	if v.unmarked {
		last := SegmentName(1)
		if n := len(v.names); n > 0 {
			last = v.names[n-1]
		}
		v.broken(last, 1, errNoCheckpoint.Error()+", or the key was replaced")
	}
	if v.synced.seq > v.head.seq {
		v.broken(where.Segment, where.Line+1,
			fmt.Sprintf("the log ends at record %d, but %d had been synced: its end was cut off", v.head.seq, v.synced.seq))
	}
	if v.written.seq > v.head.seq {
		v.broken(where.Segment, where.Line+1,
			fmt.Sprintf("the log ends at record %d, but %d had been written: its end was cut off", v.head.seq, v.written.seq))
	}
}
