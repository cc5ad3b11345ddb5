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

// maxLook bounds how far from its end the log is searched for a decision, in bytes: some thousand calls.
const maxLook = 4 << 20

// Finish appends the outcome of a call that another process decided: of the last decision of a session that has the agent's own id of the
// call, where no outcome of it is there. end makes the outcome of it, or says that there is none to be told. Nobody else writes in between,
// so a call has one outcome however many tell of it. It reports whether one was written.
func (l *Log) Finish(session, toolUse string, end func(decision Record) (Record, bool)) (done bool, err error) {
	if session == "" || toolUse == "" {
		return false, nil
	}
	l.write.Lock()
	defer l.write.Unlock()
	err = l.locked(func() error {
		if !l.current() {
			if err := l.reload(); err != nil {
				return err
			}
		}
		decision, ok, err := l.unended(session, toolUse)
		if err != nil || !ok {
			return err
		}
		r, ok := end(decision)
		if !ok {
			return nil
		}
		p := &pending{body: appendBody(nil, &Line{Record: r}, l.o.Redact), sync: l.o.Sync == "call" || urgent(&r)}
		if err := l.appendGroup([]*pending{p}); err != nil {
			return err
		}
		done = true
		return p.err
	})
	if done {
		l.notify()
	}
	if err != nil {
		return done, fmt.Errorf("finish a call in the audit log: %w", err)
	}
	return done, nil
}

// unended is the last decision about a call that has no outcome. Both locks are held.
func (l *Log) unended(session, toolUse string) (Record, bool, error) {
	quoted, err := json.Marshal(text.Truncate(toolUse, maxName))
	if err != nil {
		return Record{}, false, nil //nolint:nilerr // an id that is no text was never written
	}
	mark := append([]byte(`"toolUse":`), quoted...)
	names, err := segments(l.o.Dir)
	if err != nil {
		return Record{}, false, err
	}
	ended := map[string]bool{}
	left := int64(maxLook)
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
			case err != nil || d.Session != session || d.ToolUse != toolUse: // the first line may be cut
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

// endOf is the end of a file, at most so many bytes.
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
