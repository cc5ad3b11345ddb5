package text

import "unicode"

// Tokens estimates how many tokens of a language model a text has. No tokenizer is asked: those of the models differ, and none is public
// for all of them.
//
// A character of ASCII counts a quarter, the usual figure for English and for programs (requirements, A39). Japanese, Chinese and Korean
// have about a token for each character, for which a quarter would be wrong by four. Other letters count a half. Emoji count two.
func Tokens(s string) int {
	quarters := 0
	for _, r := range s {
		switch {
		case r < 0x80:
			quarters++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0x3000 && r <= 0x303f ||
			r >= 0xff00 && r <= 0xffef:
			quarters += 4
		case r >= 0x1f000:
			quarters += 8
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}
