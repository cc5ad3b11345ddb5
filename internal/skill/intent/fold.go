package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// The combining voicing marks, and the characters that U+FF61 to U+FF9F stand for, of three bytes each (Unicode, block Halfwidth
// and Fullwidth Forms).
const (
	voicedMark     = '\u3099'
	halfVoicedMark = '\u309a'
	halfWidth      = "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノ" +
		"ハヒフヘホマミムメモヤユヨラリルレロワン\u3099\u309a"
)

// Fold normalises a text: lower case, ASCII for full-width letters, full-width for half-width katakana, kana joined with their voicing
// marks, and a single space for white space.
func Fold(s string) string {
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r >= '！' && r <= '～':
			r -= '！' - '!'
		case r >= '｡' && r <= 'ﾟ':
			r, _ = utf8.DecodeRuneInString(halfWidth[3*(r-'｡'):])
		}
		if unicode.IsSpace(r) {
			if len(out) == 0 || out[len(out)-1] == ' ' {
				continue
			}
			out = append(out, ' ')
			continue
		}
		if (r == voicedMark || r == halfVoicedMark) && len(out) > 0 {
			if v := voiced(out[len(out)-1], r); v != 0 {
				out[len(out)-1] = v
				continue
			}
		}
		out = append(out, unicode.ToLower(r))
	}
	return strings.TrimSuffix(string(out), " ")
}

// voiced joins a kana and the following voicing mark. It returns 0 if they do not join.
func voiced(kana, mark rune) rune {
	const plain, full = "かきくけこさしすせそたちつてとはひふへほカキクケコサシスセソタチツテトハヒフヘホ", "はひふへほハヒフヘホ"
	switch {
	case mark == voicedMark && strings.ContainsRune(plain, kana):
		return kana + 1
	case mark == halfVoicedMark && strings.ContainsRune(full, kana):
		return kana + 2
	case mark == voicedMark && kana == 'ウ':
		return 'ヴ'
	case mark == voicedMark && kana == 'う':
		return 'ゔ'
	}
	return 0
}
