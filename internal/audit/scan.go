package audit

import (
	"strconv"
	"time"

	"mycelium/internal/rawjson"
)

// scanner reads what the index needs of a line, and nothing else of it. It is five times as quick as decode, and the index reads
// every line of the log.
type scanner struct {
	texts map[string]string // what was read before: sessions, roles and tools are the same again and again
}

// maxTexts bounds the texts that a scanner keeps.
const maxTexts = 4096

// line reads a line without its newline. It leaves to decode what it cannot read for certain: a line that is not as we write lines, or
// that has reasoning.
func (s *scanner) line(raw []byte) (Line, error) {
	var l Line
	members := rawjson.ScanObject(raw)
	for members.Next() {
		if !s.member(&l, members.Name(), members.Value()) {
			return decode(raw)
		}
	}
	if !members.Complete() {
		return decode(raw)
	}
	return l, nil
}

// member takes one member; false: decode shall read this line.
func (s *scanner) member(l *Line, name, value []byte) (ok bool) {
	switch string(name) {
	case "seq":
		n, err := strconv.ParseInt(string(value), 10, 64)
		l.Seq = n
		return err == nil
	case "mac":
		l.Mac, ok = rawjson.Text(value)
	case "id":
		l.ID, ok = rawjson.Text(value)
	case "time":
		var at string
		if at, ok = rawjson.Text(value); ok {
			var err error
			l.Time, err = time.Parse(time.RFC3339Nano, at)
			ok = err == nil
		}
	case "unknown":
		l.Unknown = string(value) == "true"
		return l.Unknown || string(value) == "false"
	case "durationMs":
		ms, err := strconv.ParseFloat(string(value), 64)
		l.Duration = time.Duration(ms * float64(time.Millisecond))
		return err == nil
	case "thinking", "guard":
		return false
	default:
		if to := sharedText(l, name); to != nil {
			*to, ok = s.text(value)
			return ok
		}
		return true
	}
	return ok
}

// sharedText is where a text goes that many lines have.
func sharedText(l *Line, name []byte) *string {
	switch string(name) {
	case "kind":
		return (*string)(&l.Kind)
	case "session":
		return &l.Session
	case "principal":
		return &l.Principal
	case "role":
		return &l.Role
	case "surface":
		return &l.Surface
	case "itemKind":
		return &l.ItemKind
	case "server":
		return &l.Server
	case "tool":
		return &l.Tool
	case "effect":
		return &l.Effect
	case "rule":
		return &l.Rule
	case "reason":
		return &l.Reason
	case "decidedBy":
		return &l.DecidedBy
	case "outcome":
		return &l.Outcome
	case "error":
		return &l.Error
	}
	return nil
}

// text reads a string, and keeps it for the next line that has it.
func (s *scanner) text(value []byte) (string, bool) {
	if known, ok := s.texts[string(value)]; ok {
		return known, true
	}
	t, ok := rawjson.Text(value)
	if ok && len(value) < maxName {
		if len(s.texts) >= maxTexts || s.texts == nil {
			s.texts = map[string]string{}
		}
		s.texts[string(value)] = t
	}
	return t, ok
}
