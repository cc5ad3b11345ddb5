package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"mycelium/internal/atomicfile"
)

// Report is the answer of Verify, in the shape of `myc audit verify --json`.
type Report struct {
	OK       bool   `json:"ok"`
	Records  int    `json:"records"`
	Segments int    `json:"segments"`
	First    string `json:"first"` // time of the first record, RFC 3339; "" without one
	Last     string `json:"last"`
	Broken   *Break `json:"broken"` // null: the log is intact
}

// Break names the first broken line.
type Break struct {
	Segment string `json:"segment"`
	Line    int    `json:"line"` // the first line of a segment is 1; one past the last line where lines are missing at the end
	Why     string `json:"why"`
}

// Verify reads the whole chain and compares it with the checkpoint. It finds an edited byte, a removed, added or moved line, a cut tail,
// a missing segment, a chain that was computed without the key, a replaced key, and the records of the log about missing records. It
// changes nothing. Records is the number of lines up to the break. An error means that the log could not be read.
func Verify(o Options) (Report, error) {
	v, err := newVerifier(o)
	if err != nil {
		return Report{}, fmt.Errorf("verify the audit log: %w", err)
	}
	for i, name := range v.names {
		if v.report.Broken != nil {
			break
		}
		if want := SegmentName(i + 1); name != want {
			v.broken(want, 1, "the segment is missing")
			break
		}
		if err := v.segment(name, v.sizes[i]); err != nil {
			return Report{}, fmt.Errorf("verify the audit log: %w", err)
		}
		v.report.Segments++
	}
	v.compare()
	v.report.OK = v.report.Broken == nil
	return v.report, nil
}

type verifier struct {
	o      Options
	names  []string
	sizes  []int64 // taken at one moment: other processes may continue to write
	seal   *sealer
	mark   head
	report Report
	head   head
	last   Break // the place of the last intact line
	next   string
}

// newVerifier takes the sizes of the segments and the checkpoint at one moment, under the lock of the log.
func newVerifier(o Options) (*verifier, error) {
	v := &verifier{o: o, head: head{0, origin}}
	m, err := atomicfile.OpenMutex(o.Lock)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()
	if err := m.Lock(context.Background(), verifyWait); err != nil {
		return nil, err
	}
	if v.names, err = segments(o.Dir); err != nil {
		return nil, err
	}
	for _, name := range v.names {
		st, err := os.Stat(filepath.Join(o.Dir, name))
		if err != nil {
			return nil, err
		}
		v.sizes = append(v.sizes, st.Size())
	}
	key, err := loadKey(o.KeyDir)
	if errors.Is(err, os.ErrNotExist) {
		if len(v.names) > 0 {
			v.broken(v.names[0], 1, "the key of the log is missing: nothing can be verified")
		}
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.seal = newSealer(key)
	c, err := openCheckpoint(o.KeyDir, v.seal, false)
	if err == nil {
		defer c.f.Close()
		v.mark, err = c.read()
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errNoCheckpoint) {
		v.broken(SegmentName(max(1, len(v.names))), 1, errNoCheckpoint.Error()+", or the key was replaced")
		return v, nil
	}
	return v, err
}

// broken records the first break; later ones are ignored.
func (v *verifier) broken(segment string, line int, why string) {
	if v.report.Broken == nil {
		v.report.Broken = &Break{Segment: segment, Line: line, Why: why}
	}
}

// segment checks the lines of one segment up to the first broken one.
func (v *verifier) segment(name string, size int64) error {
	f, err := os.Open(filepath.Join(v.o.Dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, size), 256<<10)
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
	if !v.seal.genuine(at) {
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
	case at.seq == v.mark.seq && at.mac != v.mark.mac:
		return "it is not the line that was here at the last sync: the end of the log was replaced"
	}
	line, err := decode(raw)
	switch {
	case err != nil:
		return "it cannot be read: " + err.Error()
	case v.next != "":
		if n != 1 || segment != v.next {
			return "the segment should have ended before it"
		}
	}
	v.next = line.Next
	v.head = at.head
	v.report.Records++
	v.report.Last = line.Time.Format(time.RFC3339Nano)
	if v.report.First == "" {
		v.report.First = v.report.Last
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
	if v.mark.seq > v.head.seq {
		v.broken(where.Segment, where.Line+1,
			fmt.Sprintf("the log ends at record %d, but %d had been synced: its end was cut off", v.head.seq, v.mark.seq))
	}
}
