package index

import (
	"strings"
	"unicode"
)

// spaceless reports whether a letter belongs to a script without spaces between words.
func spaceless(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) || c == 'ー' || c == '々'
}

// bigrams lists every pair of neighbours in the spaceless runs of a text: 読み込み gives 読み み込 込み み. The last letter of a
// run is listed alone too, so that a search for one letter finds it.
func bigrams(text string) string {
	var b strings.Builder
	for _, run := range runs(text) {
		for i := range run {
			b.WriteString(string(run[i:min(len(run), i+2)]))
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// runs are the spaceless pieces of a text.
func runs(text string) (out [][]rune) {
	var cur []rune
	for _, c := range text + " " {
		if spaceless(c) {
			cur = append(cur, c)
		} else if len(cur) > 0 {
			out = append(out, cur)
			cur = nil
		}
	}
	return out
}

// matchExpression makes the FTS5 expression that requires every word of a text: words as beginnings of words, spaceless runs as the phrase
// of their pairs. It returns "" if the text has no words.
func matchExpression(text string) string {
	var terms []string
	isWord := func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
	for _, w := range strings.FieldsFunc(text, func(c rune) bool { return !isWord(c) || spaceless(c) }) {
		terms = append(terms, `words : "`+w+`" *`)
	}
	for _, run := range runs(text) {
		if len(run) == 1 {
			terms = append(terms, `bigrams : "`+string(run)+`" *`)
			continue
		}
		var pairs []string
		for i := range len(run) - 1 {
			pairs = append(pairs, string(run[i:i+2]))
		}
		terms = append(terms, `bigrams : "`+strings.Join(pairs, " ")+`"`)
	}
	return strings.Join(terms, " AND ")
}
