package redact

import (
	"strings"
	"sync"
	"unicode"
)

// tailSize is how much of a server's stderr an error shows, in bytes.
const tailSize = 8 << 10

// Tail keeps the end of what a server writes to its stderr. It is safe for concurrent use.
type Tail struct {
	secrets Redactor

	mu  sync.Mutex
	buf []byte
	cut bool // something before buf was dropped
}

// NewTail returns a tail that hides secrets.
func NewTail(secrets Redactor) *Tail { return &Tail{secrets: secrets} }

// Write keeps the end of p. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	// A value that begins before the cut is not recognised. So Tail keeps more than it shows, by the length of the longest value.
	if room := tailSize + t.secrets.longest; len(t.buf) > 2*room {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-room:]...)
		t.cut = true
	}
	return len(p), nil
}

// String is the end of the text, without secrets and control characters.
func (t *Tail) String() string {
	t.mu.Lock()
	text, cut := string(t.buf), t.cut
	t.mu.Unlock()
	hidden := make([]string, len(text)) // at the first byte of a value: its name
	skip := make([]int, len(text))      // …and its length
	for _, p := range t.secrets.pairs {
		for from := 0; ; {
			i := strings.Index(text[from:], p.value)
			if i < 0 {
				break
			}
			if i += from; skip[i] == 0 {
				hidden[i], skip[i] = p.name, len(p.value)
			}
			from = i + 1
		}
	}
	start := max(0, len(text)-tailSize)
	if cut {
		start = max(start, min(len(text), t.secrets.longest))
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if skip[i] > 0 {
			end := i + skip[i]
			for j := i + 1; j < end && j < len(text); j++ { // values that overlap are hidden together
				end = max(end, j+skip[j])
			}
			if end > start {
				b.WriteString(hidden[i])
			}
			i = end
			continue
		}
		if i >= start {
			b.WriteByte(text[i])
		}
		i++
	}
	return strings.TrimSpace(Printable(b.String()))
}

// Printable removes what would move a terminal's cursor or hide text.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
