package scan

import (
	"unicode"

	"mycelium/internal/text"
)

// characters looks for suspicious characters in a string.
func (w *walk) characters(s, path string) {
	if ascii(s) {
		return
	}
	runes := []rune(s)
	for i, r := range runes {
		if why := hidden(runes, i); why != "" {
			w.add(Hidden, Hard, path, around(runes, i), why)
		} else if kind := text.KindOf(r); kind == text.LineBreak || kind == text.Direction && !rightToLeft(runes) {
			w.add(Hidden, Soft, path, around(runes, i), "an invisible direction mark or line break")
		}
	}
	w.disguises(runes, path)
}

func ascii(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// around returns a character with its neighbours.
func around(runes []rune, i int) string {
	return string(runes[max(0, i-30):min(len(runes), i+30)])
}

// hidden returns why a character is invisible, or "".
func hidden(runes []rune, i int) string {
	r := runes[i]
	before, after := rune(0), rune(0)
	if i > 0 {
		before = runes[i-1]
	}
	if i+1 < len(runes) {
		after = runes[i+1]
	}
	switch text.KindOf(r) {
	case text.Control:
		if r != '\r' {
			return "a control character"
		}
	case text.Tag:
		if !flagged(runes, i) {
			return "tag characters, which models read and people cannot see"
		}
	case text.Bidi:
		return "a bidirectional control, which changes the order in which text is shown"
	case text.ZeroWidth:
		return "a zero-width character"
	case text.Joiner:
		if !joins(before) || !joins(after) && r != 0x200c {
			return "a zero-width joiner between characters that do not join"
		}
	case text.Selector:
		return selector(r, before)
	case text.Filler:
		if r != blankBraille || before == blankBraille {
			return "an invisible letter"
		}
	case text.Private:
		return "a private-use character, which has no public meaning"
	default: // shown; or a direction mark, line break, space or format character, which has legitimate uses
	}
	return ""
}

// blankBraille is a Braille pattern without dots, the space of Braille. Only several in a row are suspicious.
const blankBraille = 0x2800

// selector judges a variation selector by the character before it.
func selector(r, before rune) string {
	switch {
	case text.KindOf(before) == text.Selector || before == 0:
	case r >= 0xe0100 && unicode.Is(unicode.Han, before):
		return ""
	case r >= 0x180b && r <= 0x180f && unicode.Is(unicode.Mongolian, before):
		return ""
	case r <= 0xfe02 && unicode.Is(unicode.Han, before):
		return ""
	case (r == 0xfe0e || r == 0xfe0f) && (before >= 0x203c && !unicode.IsLetter(before) || before == '#' || before == '*' ||
		before >= '0' && before <= '9' || before == 0xa9 || before == 0xae || before == 0x200d):
		return ""
	}
	return "a variation selector without effect, which can hide data"
}

// joins reports whether joiners are usual next to a character: emoji, and scripts whose letters join.
func joins(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0xfe0f ||
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
			unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Mongolian,
			unicode.Tibetan)
}

// flagged reports whether a tag character belongs to the flag of a region: a black flag, tags, and the tag that ends them.
func flagged(runes []rune, i int) bool {
	start := i
	for start > 0 && text.KindOf(runes[start]) == text.Tag {
		start--
	}
	end := i
	for end+1 < len(runes) && text.KindOf(runes[end+1]) == text.Tag {
		end++
	}
	return runes[start] == 0x1f3f4 && runes[end] == 0xe007f && end-start <= 8
}

func rightToLeft(runes []rune) bool {
	for _, r := range runes {
		if unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana) {
			return true
		}
	}
	return false
}

// disguises looks for words with letters of one script that look like letters of another.
func (w *walk) disguises(runes []rune, path string) {
	styled := 0
	for i := 0; i < len(runes); {
		if r := runes[i]; r >= 0x1d400 && r <= 0x1d7ff {
			if styled++; styled == 3 {
				w.add(Confusable, Hard, path, around(runes, i), "words in mathematical letters, which only look like ordinary letters")
			}
			i++
			continue
		} else if r != ' ' {
			styled = 0
		}
		if !unicode.IsLetter(runes[i]) {
			i++
			continue
		}
		start := i
		for i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.Is(unicode.Mn, runes[i])) {
			i++
		}
		if disguised(runes[start:i]) {
			w.add(Confusable, Hard, path, string(runes[start:i])+" in "+around(runes, start),
				"a word mixes Latin letters with letters of another script that look like them")
		}
	}
}

// disguised reports whether a word mixes ASCII letters with look-alikes of another script.
func disguised(word []rune) bool {
	if len(word) > 1 && (word[0] == 'μ' || word[0] == 'Ω') {
		return false // units
	}
	latin, alike := 0, 0
	for _, r := range word {
		switch {
		case r < 0x80:
			latin++
		case lookalikes[r] != 0:
			alike++
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee):
			if latin == 0 {
				return false
			}
		}
	}
	return alike > 0 && latin > 0 && len(word) >= 3
}

// lookalikes maps letters of other scripts to the ASCII letters that they look like.
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ї': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm',
	'н': 'h', 'о': 'o',
	'р': 'p', 'ԛ': 'q',
	'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'ё': 'e', 'г': 'r', 'п': 'n',
	'А': 'A', 'В': 'B', 'С': 'C', 'Е': 'E', 'Н': 'H', 'І': 'I', 'Ј': 'J', 'К': 'K', 'М': 'M', 'О': 'O', 'Р': 'P', 'Ѕ': 'S',
	'Т': 'T', 'У': 'Y',
	'Х': 'X', 'Ү': 'Y',
	'α': 'a', 'β': 'b', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x',
	'γ': 'y', 'ω': 'w',
	'σ': 'o', 'ϲ': 'c', 'ϳ': 'j',
	'Α': 'A', 'Β': 'B', 'Ε': 'E', 'Ζ': 'Z', 'Η': 'H', 'Ι': 'I', 'Κ': 'K', 'Μ': 'M', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T',
	'Υ': 'Y', 'Χ': 'X',
	'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'զ': 'q', 'ա': 'w', 'Ꭺ': 'A', 'Ꭼ': 'E', 'Ꮃ': 'W', 'Ꮪ': 'S', 'ɡ': 'g',
	'ɑ': 'a',
}
