package transcript

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"mycelium/internal/text"
)

// sentence is a sentence of a conversation.
type sentence struct {
	message, place int
	role, said     string
	score          float64
}

// longestSentence bounds what counts as one sentence, in bytes. Tables and data have longer lines.
const longestSentence = 400

// extract returns the sentences of a conversation that say most about it, in their order, with at most so many tokens. A sentence scores
// by how often its words come in the whole, in relation to its length. What the user said counts more, above all the first request, and
// so does the end of what the agent said, where it tells what it did.
func extract(all []Message, tokens int) string {
	list, words := sentencesOf(all)
	for i := range list {
		s := &list[i]
		terms := termsOf(s.said)
		for _, t := range terms {
			if n := words[t]; n > 1 {
				s.score += math.Log(float64(n))
			}
		}
		s.score /= math.Sqrt(float64(len(terms)) + 1)
		last := i+1 == len(list) || list[i+1].message != s.message
		switch {
		case s.role == "user" && s.place == 0 && (i == 0 || s.message == list[0].message):
			s.score = math.Inf(1)
		case s.role == "user":
			s.score = 2*s.score + 1
		case s.role == "assistant" && last:
			s.score = 1.5*s.score + 0.5
		}
		if len(terms) < 3 { // thanks, ok
			s.score /= 4
		}
	}
	ranked := slices.Clone(list)
	slices.SortStableFunc(ranked, func(a, b sentence) int { return cmp.Compare(b.score, a.score) })
	var kept []sentence
	for _, s := range ranked {
		need := text.Tokens("- "+s.role+": "+s.said) + 1
		if need <= tokens {
			kept = append(kept, s)
			tokens -= need
		}
	}
	slices.SortFunc(kept, func(a, b sentence) int { return cmp.Or(a.message-b.message, a.place-b.place) })
	var out []string
	for _, s := range kept {
		out = append(out, "- "+s.role+": "+s.said)
	}
	if len(out) == 0 {
		return "(nothing of it is short enough to be quoted)"
	}
	return strings.Join(out, "\n")
}

// sentencesOf splits messages into sentences, each once, and counts their words.
func sentencesOf(all []Message) (list []sentence, words map[string]int) {
	words, seen := map[string]int{}, map[string]bool{}
	for i, m := range all {
		place := 0
		for line := range strings.Lines(m.Content) {
			for _, said := range splitSentences(line) {
				if seen[said] {
					continue
				}
				seen[said] = true
				for _, t := range termsOf(said) {
					words[t]++
				}
				list = append(list, sentence{message: i, place: place, role: m.Role, said: said})
				place++
			}
		}
	}
	return list, words
}

// splitSentences splits a line after the marks that end a sentence, in English where a space follows.
func splitSentences(line string) (out []string) {
	start := 0
	runes := []rune(line)
	add := func(end int) {
		s := strings.TrimSpace(string(runes[start:end]))
		s = strings.TrimLeft(s, "-*#> \t")
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			out = append(out, text.Truncate(s, longestSentence))
		}
		start = end
	}
	for i, r := range runes {
		switch r {
		case '。', '！', '？':
			add(i + 1)
		case '.', '!', '?':
			if i+1 == len(runes) || unicode.IsSpace(runes[i+1]) {
				add(i + 1)
			}
		}
	}
	add(len(runes))
	return out
}

// termsOf returns the words of a sentence in small letters, and pairs of neighbours of writing without spaces.
func termsOf(s string) (out []string) {
	var word []rune
	end := func() {
		if len(word) > 2 { // shorter words say nothing
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	last := rune(0)
	for _, r := range s {
		wide := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		switch {
		case wide:
			end()
			if last != 0 {
				out = append(out, string([]rune{last, r}))
			}
			last = r
			continue
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			word = append(word, r)
		default:
			end()
		}
		last = 0
	}
	end()
	return out
}
