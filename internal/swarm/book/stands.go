package book

import (
	"strconv"

	"mycelium/internal/text"
)

// Stands says how a feature stands, in two or three words, where its picture has little room.
func (s *Session) Stands(f *Feature) string {
	switch f.State {
	case Completed:
		return "landed"
	case Going:
		if n := len(f.Attempts); n > 1 {
			return "at work, try " + strconv.Itoa(n)
		}
		return "at work"
	case Queued:
		return "in the queue"
	case Waiting:
		return "waits for you"
	case Pending:
		for _, id := range f.DependsOn {
			if d, err := s.Feature(id); err == nil && d.State != Completed {
				return "after " + text.Cell(id, 20)
			}
		}
		return "ready"
	default:
	}
	return f.State.Words()
}
