package scan

import (
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// passage is a scanned string in the forms that the rules need.
type passage struct {
	*walk
	where  string
	member string
	raw    string
	place  place
	folded string // see fold
}

// fold normalises a string: without invisible characters, in lower case, and with one form of each letter (full width, mathematical, with
// accents, look-alikes inside a word of another script).
func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	runes := []rune(s)
	for i := 0; i < len(runes); {
		if !unicode.IsLetter(runes[i]) {
			if r := plain(runes[i]); r != 0 {
				b.WriteRune(r)
			}
			i++
			continue
		}
		start := i
		for i < len(runes) && (unicode.IsLetter(runes[i]) || text.IsHidden(runes[i]) && runes[i] > 0xa0) {
			i++
		}
		mixed := disguised(runes[start:i])
		for _, r := range runes[start:i] {
			if mixed && lookalikes[r] != 0 {
				r = lookalikes[r]
			}
			if r = plain(r); r != 0 {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// plain returns the simplest form of a character, or 0 to remove it.
func plain(r rune) rune {
	switch {
	case r < 0x80:
		return unicode.ToLower(r)
	case r >= 0xff01 && r <= 0xff5e: // full width
		return unicode.ToLower(r - 0xfee0)
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical alphabets, 52 letters each
		return 'a' + (r-0x1d400)%26
	case r == 0x3000 || r == 0xa0:
		return ' '
	case text.IsHidden(r), unicode.Is(unicode.Mn, r):
		return 0
	}
	if i := strings.IndexRune(accented, r); i >= 0 {
		return rune(unaccented[len([]rune(accented[:i]))])
	}
	return unicode.ToLower(r)
}

const (
	accented   = "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝ“”„‘’"
	unaccented = "aaaaaaceeeeiiiinoooooouuuuyyaaaaaaceeeeiiiinoooooouuuuy\"\"\"''"
)

// word is a word of a sentence with its classes.
type word struct {
	text       string
	start, end int // in the sentence
	class      class
}

// sentence is a sentence of a text.
type sentence struct {
	text  string
	words []word
	has   class // classes of all words
}

// sentences splits a folded text.
func sentences(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		end := false
		switch r {
		case '。', '!', '?', '！', '？', '\n', ';', '；':
			end = true
		case '.':
			end = i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n'
		}
		if end {
			if i > start {
				out = append(out, s[start:i])
			}
			start = i + len(string(r))
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// wordsOf finds the words of a sentence: runs of letters, digits, apostrophes and underscores.
func (r *Rules) wordsOf(s string) sentence {
	out := sentence{text: s}
	start := -1
	flush := func(end int) {
		if start >= 0 {
			t := strings.Trim(s[start:end], "'_")
			w := word{t, start, end, r.classes[t]}
			out.words = append(out.words, w)
			out.has |= w.class
			start = -1
		}
	}
	for i, c := range s {
		in := c == '_' || c == '\'' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c))
		switch {
		case in && start < 0:
			start = i
		case !in:
			flush(i)
		}
	}
	flush(len(s))
	return out
}

// near reports whether a word of class a is before a word of class b with at most gap words between them, and returns its index.
func (s *sentence) near(a, b class, gap int) (int, bool) {
	if s.has&a == 0 || s.has&b == 0 {
		return 0, false
	}
	last := -1 - gap - 1
	for i, w := range s.words {
		if w.class&b != 0 && i-last-1 <= gap && last >= 0 && last != i {
			return last, true
		}
		if w.class&a != 0 {
			last = i
		}
	}
	return 0, false
}

// either is near for both orders.
func (s *sentence) either(a, b class, gap int) (int, bool) {
	if i, ok := s.near(a, b, gap); ok {
		return i, true
	}
	return s.near(b, a, gap)
}

// containsAny returns the first part that s contains.
func containsAny(s string, parts ...string) (string, bool) {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return p, true
		}
	}
	return "", false
}

func contains(s string, parts ...string) bool {
	_, ok := containsAny(s, parts...)
	return ok
}
