package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"mycelium/internal/text"
)

// searchBytes bounds how far from its end Finish searches the log, in bytes. It holds some thousand calls.
const searchBytes = 4 << 20

// Finish appends the outcome of a call that another process may have decided. It searches for the last decision with this session and
// this agent's own id of the call, and passes it to end, which makes the records that are missing: the answer, the outcome. Finish
// reports whether it wrote any; it does not if the call has an outcome. It holds the lock of the log throughout, so that a call gets one
// outcome however many processes report it.
func (l *Log) Finish(session, toolUse string, end func(decision Record) []Record) (done bool, err error) {
	if session == "" || toolUse == "" {
		return false, nil
	}
	l.write.Lock()
	defer l.write.Unlock()
	err = l.locked(func() error {
		if err := l.ready(); err != nil {
			return err
		}
		decision, ok, err := l.unfinished(session, toolUse)
		if err != nil || !ok {
			return err
		}
		var group []*pending
		k := l.kept.Load()
		for _, r := range end(decision) {
			group = append(group, &pending{body: appendBody(nil, &Line{Record: r}, k.redact), sync: k.everyCall || urgent(&r)})
		}
		if len(group) == 0 {
			return nil
		}
		if err := l.appendGroup(group); err != nil {
			return err
		}
		done = true
		return group[len(group)-1].err
	})
	l.note(err, 1)
	if done {
		l.notify()
	}
	if err != nil {
		return done, fmt.Errorf("finish a call in the audit log: %w", err)
	}
	return done, nil
}

// unfinished returns the last decision about a call, and whether it has no outcome yet. The caller holds both locks.
func (l *Log) unfinished(session, toolUse string) (Record, bool, error) {
	quoted, err := json.Marshal(text.Truncate(toolUse, maxName))
	if err != nil {
		return Record{}, false, nil //nolint:nilerr // an id that is not valid text is not in the log
	}
	mark := append([]byte(`"toolUse":`), quoted...)
	names, err := segments(l.o.Dir)
	if err != nil {
		return Record{}, false, err
	}
	ended := map[string]bool{}
	left := int64(searchBytes)
	for _, name := range slices.Backward(names) {
		raw, err := endOf(filepath.Join(l.o.Dir, name), left)
		if err != nil {
			return Record{}, false, err
		}
		left -= int64(len(raw))
		for len(raw) > 0 {
			i := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
			line := raw[i:]
			raw = raw[:i]
			if !bytes.Contains(line, mark) {
				continue
			}
			d, err := decode(bytes.TrimSuffix(line, []byte("\n")))
			switch {
			case err != nil || d.Session != session || d.ToolUse != toolUse: // the first line of the searched part may be incomplete
			case d.Kind == Outcome:
				ended[d.ID] = true
			case d.Kind == Decided:
				return d.Record, !ended[d.ID], nil
			}
		}
		if left <= 0 {
			break
		}
	}
	return Record{}, false, nil
}

// endOf returns the end of a file, at most so many bytes.
func endOf(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	raw := make([]byte, min(st.Size(), most))
	n, err := f.ReadAt(raw, st.Size()-int64(len(raw)))
	if n < len(raw) {
		return nil, err
	}
	return raw, nil
}
