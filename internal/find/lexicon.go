package find

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon says which words mean nearly the same, and what Japanese words are in English. It never changes.
type lexicon struct {
	members [][]string          // of each class: stems, and phrases of stems joined with "_"
	classes map[string][]int32  // the classes of a stem or phrase
	verbs   map[string]bool     // the stems that say what to do
	phrases map[string][]phrase // by their first stem, the longest first
	forms   map[rune][]form     // Japanese words by their first character, the longest first
}

// phrase is an expression of several words that counts as one.
type phrase struct {
	stems []string
	term  string
}

// form is a Japanese word, or the beginning of its forms.
type form struct {
	runes   []rune
	english []string // stems
}

var (
	readLexicon sync.Once
	ofWords     *lexicon
)

// words returns the lexicon, which is read at the first use.
func words() *lexicon {
	readLexicon.Do(func() { ofWords = parseLexicon(lexiconText) })
	return ofWords
}

// parseLexicon reads the form that the first lines of lexicon.txt describe.
func parseLexicon(s string) *lexicon {
	x := &lexicon{classes: map[string][]int32{}, verbs: map[string]bool{}, phrases: map[string][]phrase{}, forms: map[rune][]form{}}
	verbs := false
	for line := range strings.Lines(s) {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			verbs = strings.TrimSpace(heading) == "Verbs."
			continue
		}
		english, japanese, _ := strings.Cut(line, "|")
		var class []string
		for _, w := range strings.Fields(english) {
			class = append(class, x.term(w))
		}
		if len(class) == 0 {
			continue
		}
		for _, w := range class {
			x.classes[w] = append(x.classes[w], int32(len(x.members)))
		}
		x.members = append(x.members, class)
		if verbs {
			x.verbs[class[0]] = true
		}
		for _, w := range strings.Fields(japanese) {
			for _, f := range inflected([]rune(w)) {
				x.form(f, class[0])
			}
		}
	}
	for _, list := range x.forms {
		slices.SortStableFunc(list, func(a, b form) int { return len(b.runes) - len(a.runes) })
	}
	for _, list := range x.phrases {
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b.stems) - len(a.stems) })
	}
	return x
}

// term returns the stem of a word of the lexicon. A phrase is noted.
func (x *lexicon) term(w string) string {
	parts := strings.Split(strings.ToLower(w), "_")
	for i := range parts {
		parts[i] = stem(parts[i])
	}
	term := strings.Join(parts, "_")
	if len(parts) > 1 && !slices.ContainsFunc(x.phrases[parts[0]], func(p phrase) bool { return p.term == term }) {
		x.phrases[parts[0]] = append(x.phrases[parts[0]], phrase{parts, term})
	}
	return term
}

// inflected returns a Japanese word, and, if it is a verb in the form of て, how its other forms begin: 送って is also 送り and 送る. A
// verb is known by its ending and by a kanji before it.
func inflected(w []rune) [][]rune {
	out := [][]rune{w}
	n := len(w)
	if n < 3 || !unicode.Is(unicode.Han, w[0]) {
		if n == 2 && w[1] == 'て' && unicode.Is(unicode.Han, w[0]) { // 見て
			return endings(out, w[:1], "たるまなよられ")
		}
		return out
	}
	base := w[:n-2]
	switch string(w[n-2:]) {
	case "って":
		return endings(out, base, "っりるられろいうわちつ")
	case "んで":
		return endings(out, base, "んみむまめもびぶばべぼ")
	case "いて":
		return endings(out, base, "いきくかけこ")
	case "して":
		return endings(out, base, "しすさせそ")
	}
	if w[n-1] == 'て' && unicode.Is(unicode.Hiragana, w[n-2]) { // 加えて
		out = append(out, w[:n-1])
	}
	return out
}

func endings(out [][]rune, base []rune, each string) [][]rune {
	for _, r := range each {
		out = append(out, append(slices.Clone(base), r))
	}
	return out
}

// form notes what a Japanese word is in English.
func (x *lexicon) form(w []rune, english string) {
	list := x.forms[w[0]]
	for i := range list {
		if slices.Equal(list[i].runes, w) {
			if !slices.Contains(list[i].english, english) {
				list[i].english = append(list[i].english, english)
			}
			return
		}
	}
	x.forms[w[0]] = append(list, form{w, []string{english}})
}

// at returns the longest Japanese word at the start of a text, nil if there is none.
func (x *lexicon) at(text []rune) *form {
	list := x.forms[text[0]]
	for i := range list {
		if f := &list[i]; len(f.runes) <= len(text) && slices.Equal(f.runes, text[:len(f.runes)]) {
			return f
		}
	}
	return nil
}

// phraseAt returns the longest phrase at the start of a row of stems, nil if there is none.
func (x *lexicon) phraseAt(stems []string) *phrase {
	list := x.phrases[stems[0]]
	for i := range list {
		if p := &list[i]; len(p.stems) <= len(stems) && slices.Equal(p.stems, stems[:len(p.stems)]) {
			return p
		}
	}
	return nil
}
