package memory

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxTerms bounds the terms of a query. What follows them does not change what is found.
const maxTerms = 48

// script is what a letter is searched by.
type script uint8

const (
	none script = iota
	word        // letters of scripts with spaces, digits
	han         // of scripts without spaces: by pairs
	hiragana
	katakana
	hangul
)

func scriptOf(r rune) script {
	switch {
	case r < 0x80:
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return word
		}
		return none
	case unicode.Is(unicode.Han, r), r == '々':
		return han
	case unicode.Is(unicode.Hiragana, r):
		return hiragana
	case unicode.Is(unicode.Katakana, r), r == 'ー':
		return katakana
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return word
	}
	return none
}

// run is a sequence of letters of one script.
type run struct {
	script script
	text   []rune
}

// runs divides a text. Width and case do not count.
func runs(s string) []run {
	var out []run
	for _, r := range strings.ToLower(norm.NFKC.String(s)) {
		k := scriptOf(r)
		if r == 'ー' && len(out) > 0 && out[len(out)-1].script == hiragana {
			k = hiragana
		}
		switch last := len(out) - 1; {
		case last >= 0 && out[last].script == k:
			out[last].text = append(out[last].text, r)
		default:
			out = append(out, run{k, []rune{r}})
		}
	}
	return slices.DeleteFunc(out, func(r run) bool { return r.script == none })
}

// indexed returns what the index keeps of a text: its words, and the pairs of letters of scripts without spaces. Letters of these scripts
// that follow each other make pairs across scripts too, and the last letter stands alone.
func indexed(s string) (words, grams string) {
	plain := strings.ToLower(norm.NFKC.String(s))
	var w, g strings.Builder
	var before rune
	flush := func() {
		if before != 0 {
			g.WriteString(string(before) + " ")
		}
		before = 0
	}
	for _, r := range plain {
		if k := scriptOf(r); k == word || k == none {
			flush()
			w.WriteRune(r)
			continue
		}
		if before != 0 {
			g.WriteString(string(before) + string(r) + " ")
		} else {
			w.WriteByte(' ')
		}
		before = r
	}
	flush()
	return w.String(), g.String()
}

// terms returns the terms of a query as FTS5 understands them, each once. A word also finds the words that begin with it. A run of
// Hiragana is left out next to other terms if it has one or two letters: it is a particle or an ending.
func terms(query string) []string {
	var out, weak []string
	for _, r := range runs(query) {
		switch n := len(r.text); {
		case r.script == word && n > 2:
			out = append(out, `words : "`+string(r.text)+`" *`)
		case r.script == word:
			out = append(out, `words : "`+string(r.text)+`"`)
		case r.script == hiragana && n <= 2:
			weak = append(weak, grams(r.text)...)
		default:
			out = append(out, grams(r.text)...)
		}
	}
	if len(out) == 0 {
		out = weak
	}
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(t string) bool {
		twice := seen[t]
		seen[t] = true
		return twice
	})
	return out[:min(len(out), maxTerms)]
}

// grams are the terms of a run: its pairs, or what begins with its only letter.
func grams(run []rune) []string {
	if len(run) == 1 {
		return []string{`grams : "` + string(run) + `" *`}
	}
	var out []string
	for i := range len(run) - 1 {
		out = append(out, `grams : "`+string(run[i:i+2])+`"`)
	}
	return out
}
