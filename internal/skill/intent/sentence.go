package intent

import (
	"slices"
	"strings"
	"unicode"
)

// longestKnown is the number of words of the longest phrase of the lexicon.
const longestKnown = 4

// maxSentence bounds the part of a sentence that is read, in characters: some rules look at all the words before another one.
const maxSentence = 2000

// text reads a text sentence by sentence. What a sentence is written in decides how it is read.
func (r *reading) text(said string) {
	runes := mask(said)
	start, reported := 0, false
	for i := 0; i <= len(runes); i++ {
		if i < len(runes) && !endsSentence(runes, i) {
			continue
		}
		asks := i < len(runes) && (runes[i] == '?' || runes[i] == '？')
		if s := []rune(Fold(string(runes[start:i]))); len(s) > 0 {
			if !reported {
				r.sentence(s[:min(len(s), maxSentence)], asks)
			}
			reported = i < len(runes) && (runes[i] == ':' || runes[i] == '：') && reports(s)
		}
		start = i + 1
	}
}

// endsSentence reports whether the character at i ends a sentence. A point inside of a name does not.
func endsSentence(s []rune, i int) bool {
	switch s[i] {
	case '\n', '。', '！', '？', ';', '；':
		return true
	case '.', '!', '?', ':', '：':
		return i+1 == len(s) || unicode.IsSpace(s[i+1]) || scriptOf(s[i+1]) >= katakana
	}
	return false
}

// reports reports whether what follows a sentence and a colon is said by someone else: "the log says: please retry".
func reports(s []rune) bool {
	words := strings.Fields(string(s))
	return among(words[len(words)-1], " said says say wrote writes reads prints printed asks asked shows message error output was ")
}

func (r *reading) sentence(s []rune, asks bool) {
	japanese, latin, other := 0, 0, 0
	for _, c := range s {
		switch {
		case c < 0x80 && isSpaced(c):
			latin++
		case unicode.In(c, unicode.Hiragana, unicode.Katakana, unicode.Han):
			japanese++
		case unicode.IsLetter(c):
			other++
		}
	}
	r.words += countWords(s)
	if !asks {
		r.whole(s)
	}
	switch {
	case japanese > 0:
		r.japanese(s, asks)
	case latin >= other:
		r.english(s, asks)
	default:
		r.foreign(s)
	}
}

// whole reads a sentence that is a trigger of several words, or that ends with one as Japanese requests do: the verb comes last, and a
// negation would stand behind it.
func (r *reading) whole(s []rune) {
	said := string(s)
	for i := range r.x.skills {
		if !r.may[i] {
			continue
		}
		for _, t := range r.x.skills[i].whole {
			if said != t.folded && (!t.ends || !strings.HasSuffix(said, t.folded)) {
				continue
			}
			if m := &r.marks[i]; !slices.Contains(m.matched, t.written) {
				m.wanted, m.matched = true, append(m.matched, t.written)
			}
		}
	}
}

// foreign reads a sentence in a language without rules here: a trigger is a request.
func (r *reading) foreign(s []rune) {
	var q request
	for _, h := range r.hits(tokens(s)) {
		if len(h.triggers) > 0 {
			q.things = append(q.things, h)
		}
	}
	for i := range s {
		if h, ok := r.at(s, i); ok && len(h.triggers) > 0 {
			q.things = append(q.things, h)
		}
	}
	if q.things != nil {
		r.want(q)
	}
}

// at returns the longest word or trigger without spaces that begins at i.
func (r *reading) at(s []rune, i int) (hit, bool) {
	if isSpaced(s[i]) || i > 0 && joined(s[i-1], s[i]) {
		return hit{}, false
	}
	for n := min(r.x.heads[s[i]], len(s)-i); n > 0; n-- {
		if i+n < len(s) && joined(s[i+n-1], s[i+n]) {
			continue
		}
		if h, ok := r.look(string(s[i : i+n])); ok {
			h.at, h.end = i, i+n
			return h, true
		}
	}
	return hit{}, false
}

// look finds a phrase in the lexicon and among the triggers. A trigger that no lexicon has is what its first and last words are. If they
// are unknown too, it can be a verb and a thing.
func (r *reading) look(phrase string) (hit, bool) {
	w, known := lexicon()[phrase]
	ids := r.x.phrases[phrase]
	if !known && ids == nil {
		return hit{}, false
	}
	if !known {
		first, last := phrase, phrase
		if i := strings.IndexByte(phrase, ' '); i >= 0 {
			first, last = phrase[:i], phrase[strings.LastIndexByte(phrase, ' ')+1:]
		}
		v, t := lexicon()[first], lexicon()[last]
		if w = (word{verb: v.verb, thing: t.thing, verbal: v.verbal}); w.thing == none {
			w = word{verb: do, thing: kinds, verbal: true}
		}
	}
	return hit{phrase: phrase, word: w, triggers: ids}, true
}

// countWords counts the words of a text. In scripts without spaces, a run of one script (漢字, かな, カナ) is a word.
func countWords(text []rune) int {
	n, last := 0, between
	kana := false
	for _, c := range text {
		s := scriptOf(c)
		isKana := unicode.Is(unicode.Hiragana, c)
		if s != between && (s != last || s == unspaced && isKana != kana) {
			n++
		}
		last, kana = s, isKana
	}
	return n
}

func isSpaced(c rune) bool { return scriptOf(c) == spaced }
