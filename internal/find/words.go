package find

import (
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// word is one word of a text: the terms that it may stand for. A word of English has one, a word of Japanese one for each translation.
type word struct {
	terms []string
	part  bool // it repeats what other words say: a compound of them, or two characters of a longer word
}

// split returns the words of a text: its names taken apart at underscores and capitals, English stemmed, Japanese translated as far as
// the lexicon knows it and else in pairs of characters.
func split(s string) []word {
	x := words()
	runes := []rune(text.Compat(s))
	var out []word
	var stems []string // of neighbouring words in English
	flush := func() {
		for i := 0; i < len(stems); i++ {
			if p := x.phraseAt(stems[i:]); p != nil {
				out = append(out, word{terms: []string{p.term}})
			}
		}
		stems = stems[:0]
	}
	for i := 0; i < len(runes); {
		end := i + 1
		switch {
		case isJapanese(runes[i]):
			for end < len(runes) && (isJapanese(runes[end]) || runes[end] == 'ー') {
				end++
			}
			flush()
			out = x.japanese(out, runes[i:end])
		case isWord(runes[i]):
			for end < len(runes) && isWord(runes[end]) {
				end++
			}
			parts := x.camel(runes[i:end])
			for _, p := range parts {
				stems = append(stems, stem(p))
				out = append(out, word{terms: []string{stems[len(stems)-1]}})
			}
			if len(parts) == 2 {
				out = append(out, word{terms: []string{stem(strings.Join(parts, ""))}, part: true})
			}
			if suffix := ending(runes[end:]); suffix != "" {
				out = append(out, word{terms: []string{suffix}, part: true})
			}
		case !strings.ContainsRune(" _-/'’", runes[i]):
			flush()
			if strings.ContainsRune("+*×÷=", runes[i]) && digitNear(runes, i) {
				out = append(out, word{terms: []string{stem("calculate")}})
			}
		}
		i = end
	}
	flush()
	return out
}

// digitNear reports whether a number stands on both sides of a sign.
func digitNear(runes []rune, at int) bool {
	digit := func(i, step int) bool {
		for i >= 0 && i < len(runes) && runes[i] == ' ' {
			i += step
		}
		return i >= 0 && i < len(runes) && runes[i] >= '0' && runes[i] <= '9'
	}
	return digit(at-1, -1) && digit(at+1, 1)
}

// ending says what a word with a dot and an ending names (main.go, example.com): the stem of file or url. Empty: no such thing follows.
func ending(rest []rune) string {
	if len(rest) < 2 || rest[0] != '.' {
		return ""
	}
	n := 1
	for n < len(rest) && isWord(rest[n]) {
		n++
	}
	if n == 1 || n > 6 || !unicode.IsLetter(rest[1]) {
		return ""
	}
	switch strings.ToLower(string(rest[1:n])) {
	case "com", "org", "net", "io", "jp", "dev", "co", "app":
		return "url"
	}
	return stem("file")
}

func isWord(r rune) bool {
	return r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') ||
		r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r)) && !isJapanese(r)
}

// isJapanese reports whether a character is of a script that sets no spaces between words.
func isJapanese(r rune) bool {
	return r >= 0x3005 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r == 'ー')
}

// camel takes a name apart at its capitals, and returns the parts in lower case: searchURLFor is search, url, for. A name that the
// lexicon knows as one word stays whole (GitHub), and the plural of an acronym loses its s (PRs).
func (x *lexicon) camel(name []rune) []string {
	whole := strings.ToLower(string(name))
	if len(x.classes[stem(whole)]) > 0 {
		return []string{whole}
	}
	if n := len(name); n > 2 && name[n-1] == 's' && !slices.ContainsFunc(name[:n-1], func(r rune) bool { return !unicode.IsUpper(r) }) {
		return []string{whole[:len(whole)-1]}
	}
	var parts []string
	from := 0
	for i := 1; i < len(name); i++ {
		up := unicode.IsUpper(name[i])
		if up && unicode.IsLower(name[i-1]) || up && unicode.IsUpper(name[i-1]) && i+1 < len(name) && unicode.IsLower(name[i+1]) {
			parts = append(parts, strings.ToLower(string(name[from:i])))
			from = i
		}
	}
	return append(parts, strings.ToLower(string(name[from:])))
}

// japanese appends the words of a run of Japanese. What the lexicon does not know becomes pairs of neighbouring characters; hiragana
// that it does not know is grammar.
func (x *lexicon) japanese(out []word, run []rune) []word {
	unknown := 0 // where what is not known begins
	pairs := func(end int) {
		for i := unknown; i+1 < end; i++ {
			if !unicode.Is(unicode.Hiragana, run[i]) && !unicode.Is(unicode.Hiragana, run[i+1]) {
				out = append(out, word{terms: []string{string(run[i : i+2])}, part: true})
			}
		}
	}
	for i := 0; i < len(run); {
		f := x.at(run[i:])
		if f == nil || f.cuts(run, i) {
			i++
			continue
		}
		pairs(i)
		out = append(out, word{terms: f.english})
		i += len(f.runes)
		unknown = i
	}
	pairs(len(run))
	return out
}

// cuts reports whether a word of katakana would begin or end inside a longer run of katakana that is another word, or a single
// character would be cut from a compound.
func (f *form) cuts(run []rune, at int) bool {
	kana := func(i int) bool {
		return i >= 0 && i < len(run) && (unicode.Is(unicode.Katakana, run[i]) || run[i] == 'ー')
	}
	end := at + len(f.runes)
	if len(f.runes) <= 2 && kana(at) && kana(end-1) {
		return kana(at-1) || kana(end)
	}
	return false
}
