package scan

import (
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// passage is one string under scan, in the forms in which rules look at it.
type passage struct {
	*walk
	where  string
	member string
	raw    string
	place  place
	folded string // see fold
}

// fold is a string without what cannot be seen, in lower case, the forms of one letter (full width, mathematical, with accents, look-alikes
// inside a word of another script) as one.
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

// plain is a character in its simplest form; 0: it leaves nothing.
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

// word is one word of a sentence, and what the rules know of it.
type word struct {
	text       string
	start, end int // in the sentence
	class      class
}

// sentence is a part of a text that belongs together.
type sentence struct {
	text  string
	words []word
	has   class // of any word
}

// sentences cuts a folded text.
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

// near reports whether a word of class a stands before one of class b with at most gap words between them, and returns where.
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

// either is near in both orders.
func (s *sentence) either(a, b class, gap int) (int, bool) {
	if i, ok := s.near(a, b, gap); ok {
		return i, true
	}
	return s.near(b, a, gap)
}

// containsAny returns the first of the parts that is in s.
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
