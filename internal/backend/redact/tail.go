package redact

import (
	"mycelium/internal/text"
	"strings"
	"sync"

	"mycelium/internal/credential"
)

// tailSize is how much of a server's stderr an error shows, in bytes.
const tailSize = 8 << 10

// secretSize is the length up to which a secret is hidden whole where it stands at the cut, in bytes: more than a private key has.
const secretSize = 4 << 10

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
	// A secret that begins before the cut is not recognised. So Tail keeps more than it shows, by the length of the longest secret.
	if room := tailSize + t.margin(); len(t.buf) > 2*room {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-room:]...)
		t.cut = true
	}
	return len(p), nil
}

// margin is what is kept before the text that is shown: as much as a secret may have that begins there.
func (t *Tail) margin() int { return max(t.secrets.longest, secretSize) }

// String is the end of the text, without secrets and control characters.
func (t *Tail) String() string {
	t.mu.Lock()
	text, cut := string(t.buf), t.cut
	t.mu.Unlock()
	hidden := make([]string, len(text)) // at the first byte of a secret: its name
	skip := make([]int, len(text))      // …and its length
	hide := func(at, n int, name string) {
		if skip[at] == 0 {
			hidden[at] = name
		}
		skip[at] = max(skip[at], n)
	}
	for _, p := range t.secrets.pairs {
		for from := 0; ; {
			i := strings.Index(text[from:], p.value)
			if i < 0 {
				break
			}
			hide(from+i, len(p.value), p.name)
			from += i + 1
		}
	}
	for _, f := range credential.Find(text) {
		hide(f.Start, f.End-f.Start, credential.Redacted)
	}
	start := max(0, len(text)-tailSize)
	if cut {
		start = max(start, min(len(text), t.margin()))
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

// Printable removes hidden characters: a server's own colours and cursor movements are of no use in an error or a log.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch text.KindOf(r) {
		case text.Shown:
			return r
		case text.Space, text.LineBreak:
			return ' '
		default:
			return -1
		}
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
