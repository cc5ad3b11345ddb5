// Package credential knows the forms of secrets: the prefixes, alphabets and lengths by which the keys, tokens and passwords of
// well-known services are told from ordinary text. The audit log, the scan of definitions, the approvals and the errors of
// servers all find and mask secrets with this one table.
//
// It finds what has a form of its own. A password that is only known by the member of an object or the variable that holds it is
// for the caller to find; the names of such members are here too (see [Sensitive]).
package credential

import (
	"strings"

	"mycelium/internal/text"
)

// Redacted replaces a masked secret.
const Redacted = "[REDACTED]"

// Span is the place of a secret in a text: s[Start:End].
type Span struct {
	Form       *Form
	Start, End int
	// Sure reports whether the match is long enough to prove that the text has a secret. Shorter matches are masked too.
	Sure bool
}

// Excerpt returns at most max bytes of a text with secrets masked. It masks before it cuts, because half of a secret is not recognized.
func Excerpt(s string, most int) string { return text.Truncate(Mask(s), most) }

// Find returns the secrets in a text, from left to right and without overlaps. Its time is linear in the length of the text.
func Find(s string) []Span {
	if m := search(s); m != nil {
		return m.found()
	}
	return nil
}

// search looks up the marks of all forms in a text. It returns nil if there are none.
func search(s string) (m *matcher) {
	t := table()
	for i := 0; i+1 < len(s); i += stride {
		place := t.pairs[uint16(s[i])<<8|uint16(s[i+1])]
		if place == 0 {
			continue
		}
		for j := range t.anchors[place] {
			a := &t.anchors[place][j]
			if at := i - a.offset; at < 0 || !strings.HasPrefix(s[at:], a.mark) {
				continue
			} else if m == nil {
				m = &matcher{s: s}
			}
			m.try(a.form, i-a.offset, i-a.offset+len(a.mark))
		}
	}
	return m
}

// maxPasses bounds how often a text is masked. A masked secret can reveal another one beside it, but rarely a third.
const maxPasses = 4

// Mask replaces every secret in a text with [Redacted]. It returns a text without secrets unchanged. Masking is idempotent.
func Mask(s string) string {
	for range maxPasses {
		found := Find(s)
		if found == nil {
			break
		}
		s = replace(s, found)
	}
	return s
}

func replace(s string, found []Span) string {
	var b strings.Builder
	b.Grow(len(s))
	last := 0
	for _, f := range found {
		b.WriteString(s[last:f.Start])
		b.WriteString(Redacted)
		last = f.End
	}
	b.WriteString(s[last:])
	return b.String()
}

// Possible reports whether a text has the mark of any form. Most texts do not, and need no search.
func Possible[T ~string | ~[]byte](s T) bool {
	t := table()
	for i := 0; i+1 < len(s); i += stride {
		place := t.pairs[uint16(s[i])<<8|uint16(s[i+1])]
		if place == 0 {
			continue
		}
		for _, a := range t.anchors[place] {
			if at := i - a.offset; at >= 0 && len(s)-at >= len(a.mark) && string(s[at:at+len(a.mark)]) == a.mark {
				return true
			}
		}
	}
	return false
}
