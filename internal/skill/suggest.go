package skill

import (
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// Suggestion is a skill whose triggers match a text.
type Suggestion struct {
	Skill   string   `json:"skill"`
	Score   float64  `json:"score"`   // 0 to 1, as B17
	Matched []string `json:"matched"` // the triggers that matched
}

// maxSuggest bounds the searched part of a text, in bytes. A request is at the start of a text.
const maxSuggest = 64 << 10

// Suggest matches the triggers of the named skills against a text, and returns the best matches first. Triggers match whole words.
// Triggers in scripts without spaces match anywhere, except that katakana must match a whole katakana word. Upper and lower case, full
// and half width are equal. A score is 0.3 for each matching trigger, at most 0.9, and 0.1 more if the text has more than five words.
func (l *Library) Suggest(said string, among []string) []Suggestion {
	runes := []rune(fold(text.Prefix(said, maxSuggest)))
	long := words(runes) > 5
	var out []Suggestion
	seen := map[string]bool{}
	for _, name := range among {
		if seen[name] {
			continue
		}
		seen[name] = true
		var matched []string
		forms := map[string]bool{}
		for _, t := range l.triggers[name] {
			if !forms[string(t.runes)] && t.in(runes) {
				forms[string(t.runes)] = true
				matched = append(matched, t.text)
			}
		}
		if len(matched) == 0 {
			continue
		}
		tenths := min(3*len(matched), 9)
		if long {
			tenths++
		}
		out = append(out, Suggestion{name, float64(tenths) / 10, matched})
	}
	slices.SortFunc(out, func(a, b Suggestion) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Skill, b.Skill)
	})
	return out
}

// folded is a trigger with its folded text.
type folded struct {
	text  string // as it is written
	runes []rune
}

func newFolded(s string) folded { return folded{s, []rune(fold(s))} }

// in reports whether a folded text contains the trigger, with word boundaries if its script has them.
func (f folded) in(text []rune) bool {
	n := len(f.runes)
	for i := 0; i+n <= len(text); i++ {
		if text[i] != f.runes[0] || !slices.Equal(text[i:i+n], f.runes) {
			continue
		}
		if (i == 0 || !joined(text[i-1], text[i])) && (i+n == len(text) || !joined(text[i+n-1], text[i+n])) {
			return true
		}
	}
	return false
}

// script says how a character forms words with its neighbours.
type script uint8

const (
	between  script = iota // spaces and signs
	spaced                 // words with spaces between them: Latin, Greek, Cyrillic …, digits
	katakana               // a run of katakana is a word
	unspaced               // Han, hiragana, hangul, Thai …: words that only a dictionary could part
)

func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return spaced
		}
		return between
	case r == 'ー' || r == '・' || unicode.Is(unicode.Katakana, r):
		if r == '・' { // it separates words: ファイル・テスト
			return between
		}
		return katakana
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return unspaced
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return spaced
	}
	return between
}

// joined reports whether two neighbours belong to the same word.
func joined(a, b rune) bool {
	sa, sb := scriptOf(a), scriptOf(b)
	return sa == sb && (sa == spaced || sa == katakana)
}

// words counts the words of a text. In scripts without spaces, a run of one script (漢字, かな, カナ) is a word.
func words(text []rune) int {
	n, last := 0, between
	kana := false
	for _, r := range text {
		s := scriptOf(r)
		isKana := unicode.Is(unicode.Hiragana, r)
		if s != between && (s != last || s == unspaced && isKana != kana) {
			n++
		}
		last, kana = s, isKana
	}
	return n
}

// fold normalises a text: lower case, its compatibility form, and a single space for white space.
func fold(s string) string {
	s = text.Compat(s)
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if unicode.IsSpace(r) {
			if len(out) == 0 || out[len(out)-1] == ' ' {
				continue
			}
			r = ' '
		}
		out = append(out, unicode.ToLower(r))
	}
	return strings.TrimSuffix(string(out), " ")
}
