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

// Redacted stands where a secret was masked.
const Redacted = "[REDACTED]"

// Span is a place in a text that has the form of a secret: s[Start:End].
type Span struct {
	Form       *Form
	Start, End int
	// Sure reports whether the match is long enough to accuse a text of holding a secret. Shorter ones are masked all the same.
	Sure bool
}

// Excerpt returns at most so many bytes of a text, secrets masked. It masks before it cuts: a half of a secret has no form.
func Excerpt(s string, most int) string { return text.Truncate(Mask(s), most) }

// Find returns the secrets in a text, from left to right and without overlaps. Its time grows with the length of the text only.
func Find(s string) []Span {
	if m := search(s); m != nil {
		return m.found()
	}
	return nil
}

// search matches every mark of a text; nil: it has none.
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

// maxPasses bounds how often a text is masked. What was masked can show another secret beside it, seldom a third one.
const maxPasses = 4

// Mask replaces every secret in a text with [Redacted], and returns the text itself where there is none. To mask a text again
// changes nothing more.
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

// Possible reports whether a text has what the form of a secret begins with. Most texts do not, and need not be looked at again.
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
