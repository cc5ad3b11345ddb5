// Package redact keeps secrets out of what people and agents read: it replaces each configured value by the name under which it was
// configured, and masks what has the form of a secret.
package redact

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"mycelium/internal/credential"
	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// minSecret is the least length of a value that is replaced. Shorter values ("1", "en") are not secrets, and replacing them would make
// every text unreadable.
const minSecret = 4

// Redactor replaces values by the names under which they were configured: "${TOKEN}".
type Redactor struct {
	pairs   []pair // longest value first
	longest int
	live    *Live // tokens that are got later; nil: there are none
}

// WithLive returns a redactor that also replaces the values of live.
func (r Redactor) WithLive(live *Live) Redactor {
	r.live = live
	return r
}

type pair struct{ value, name string }

// Sort puts the longest value first: a shorter one may be a part of it. It is called after the last Add.
func (r *Redactor) Sort() {
	slices.SortFunc(r.pairs, func(a, b pair) int {
		if len(a.value) != len(b.value) {
			return len(b.value) - len(a.value)
		}
		return strings.Compare(b.value+b.name, a.value+a.name)
	})
	for _, p := range r.pairs {
		r.longest = max(r.longest, len(p.value))
	}
}

// Add adds a value in the forms in which it may appear: as it is, escaped for a URL, and inside a JSON string.
func (r *Redactor) Add(value, name string) {
	if len(value) < minSecret {
		return
	}
	quoted := rawjson.Quote(value)
	for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), string(quoted[1 : len(quoted)-1])} {
		if !slices.ContainsFunc(r.pairs, func(p pair) bool { return p.value == form }) {
			r.pairs = append(r.pairs, pair{form, name})
		}
	}
}

// Text replaces every value in s, and what has the form of a secret.
func (r Redactor) Text(s string) string { return credential.Mask(r.Known(s)) }

// Known replaces every value in s. What has the form of a secret stays: it is for texts that clients get as the server wrote them.
func (r Redactor) Known(s string) string {
	for _, p := range r.pairs {
		s = strings.ReplaceAll(s, p.value, p.name)
	}
	return r.live.Text(s)
}

// Error is an error without the values, in its text and in its hint. It wraps nothing.
func (r Redactor) Error(err error) error { return redactedError(err, r.Text) }

func redactedError(err error, redact func(string) string) error {
	return text.Hinted(errors.New(redact(err.Error())), redact(text.HintOf(err)))
}

// JSON replaces every value in a JSON text. It returns b itself if b has none.
func (r Redactor) JSON(b []byte) []byte {
	for _, p := range r.pairs {
		if bytes.Contains(b, []byte(p.value)) {
			b = bytes.ReplaceAll(b, []byte(p.value), []byte(p.name))
		}
	}
	return r.live.replace(b)
}

// Lines returns a redactor for text that comes line by line: it also replaces each line of a value that has several.
func (r Redactor) Lines() Redactor {
	var more Redactor
	for _, p := range r.pairs {
		more.pairs = append(more.pairs, p)
		if !strings.Contains(p.value, "\n") {
			continue
		}
		for line := range strings.Lines(p.value) {
			if line = strings.TrimSpace(line); len(line) >= minSecret {
				more.pairs = append(more.pairs, pair{line, p.name})
			}
		}
	}
	more.Sort()
	return more
}

// Live are secrets that the program gets while it runs. It is safe for concurrent use.
type Live struct {
	mu    sync.Mutex
	pairs []pair
}

// maxLive bounds them. The oldest are dropped first; they are not valid any more.
const maxLive = 64

// Add adds a value.
func (l *Live) Add(value, name string) {
	if l == nil || len(value) < minSecret {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pairs {
		if p.value == value {
			return
		}
	}
	l.pairs = append(l.pairs, pair{value, name})
	if len(l.pairs) > maxLive {
		l.pairs = l.pairs[1:]
	}
}

// replace replaces the values by their names. It returns b itself if b has none.
func (l *Live) replace(b []byte) []byte {
	if l == nil {
		return b
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pairs {
		if bytes.Contains(b, []byte(p.value)) {
			b = bytes.ReplaceAll(b, []byte(p.value), []byte(p.name))
		}
	}
	return b
}

// Text replaces every value in s.
func (l *Live) Text(s string) string { return string(l.replace([]byte(s))) }

// Error is an error without the values and without what has the form of a secret, in its text and in its hint. It wraps nothing.
func (l *Live) Error(err error) error {
	return redactedError(err, func(s string) string { return credential.Mask(l.Text(s)) })
}

// Excerpt shortens what a server said for an error text. It masks before it cuts: half of a secret has no form.
func Excerpt(b []byte) string { return credential.Excerpt(Printable(string(b)), 300) }
