package keeper

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Tail keeps the end of what is written to it: at most Most bytes, from the beginning of a character on. It is safe for concurrent use.
type Tail struct {
	Most int

	mu   sync.Mutex
	kept []byte
	cut  bool // something before it is lost
}

// Write keeps the end of b. It does not fail.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut = t.cut || len(t.kept)+len(b) > t.Most
	t.kept = append(t.kept, b[max(0, len(b)-t.Most):]...)
	if len(t.kept) > 2*t.Most { // now and then, so that many small writes do not each move all of it
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.Most:]...)
	}
	return len(b), nil
}

// String returns the end of what was written.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.kept[max(0, len(t.kept)-t.Most):]
	for i := 1; t.cut && i < utf8.UTFMax && len(end) > 0 && !utf8.RuneStart(end[0]); i++ {
		end = end[1:]
	}
	return strings.ToValidUTF8(string(end), "\uFFFD")
}
