package gateway

import (
	"bytes"
	"testing"
)

// A server that floods a call with long notices cannot make us keep more than a few: the oldest are dropped, but never the answer, nor
// the events that a handler is writing.
func TestStreamIsBoundedInBytes(t *testing.T) {
	for _, id := range []string{"", "resumable"} {
		s := newStream(id, nil)
		const long = 100 << 10
		taken := [][]byte{}
		for i := range 300 {
			s.push(bytes.Repeat([]byte{'a'}, long), false)
			if i == 10 && id != "" {
				taken, _, _, _ = s.read(0)
			}
		}
		if s.size > maxNotices+long || s.size != long*len(s.events) {
			t.Errorf("%q: %d bytes are kept of %d events", id, s.size, len(s.events))
		}
		for _, e := range taken {
			if len(e) != long {
				t.Errorf("%q: what was read is gone", id)
			}
		}
		s.push(bytes.Repeat([]byte{'z'}, 2*maxNotices), true)
		events, first, done, _ := s.read(0)
		if last := events[len(events)-1]; !done || last[0] != 'z' || first+len(events) != 301 {
			t.Errorf("%q: the answer is not the last of %d events from %d", id, len(events), first)
		}
	}
}
