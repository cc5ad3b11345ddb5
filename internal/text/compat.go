package text

import (
	"strings"
	"unicode/utf8"
)

// The combining voicing marks, and the characters that U+FF61 to U+FF9F stand for, of three bytes each (Unicode, block Halfwidth
// and Fullwidth Forms).
const (
	voicedMark     = '\u3099'
	halfVoicedMark = '\u309a'
	halfWidth      = "。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノ" +
		"ハヒフヘホマミムメモヤユヨラリルレロワン\u3099\u309a"
)

// Compat returns the compatibility form of a text, as far as people type it (Unicode NFKC for full and half width): ASCII for full-width
// letters and signs, a space for the ideographic one, full-width for half-width katakana, and kana joined with their voicing marks.
func Compat(s string) string {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] < utf8.RuneSelf
	}
	if plain {
		return s
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r >= '！' && r <= '～':
			r -= '！' - '!'
		case r >= '｡' && r <= 'ﾟ':
			r, _ = utf8.DecodeRuneInString(halfWidth[3*(r-'｡'):])
		case r == '\u3000':
			r = ' '
		}
		if (r == voicedMark || r == halfVoicedMark) && len(out) > 0 {
			if v := voiced(out[len(out)-1], r); v != 0 {
				out[len(out)-1] = v
				continue
			}
		}
		out = append(out, r)
	}
	return string(out)
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
