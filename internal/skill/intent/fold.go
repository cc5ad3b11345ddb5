package intent

import (
	"strings"
	"unicode"

	"mycelium/internal/text"
)

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

// Fold normalises a text: lower case, the compatibility form ([text.Compat]), and a single space for white space.
func Fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(text.Compat(s)), " ")) }
