package find

import (
	"strings"
	"unicode"
)

const (
	maxClauses    = 8
	contextWeight = 0.15 // of the whole request, in the ranking of one of its steps
)

// clauses takes a request of several steps apart. A request that is one step is one clause.
func clauses(s string) []string {
	var out []string
	add := func(c string) {
		if strings.ContainsFunc(c, func(r rune) bool { return isWord(r) || isJapanese(r) }) {
			out = append(out, c)
		}
	}
	for _, sentence := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\n;,。、；→", r) }) {
		for _, part := range stops(sentence) {
			for _, c := range conjunctions(part) {
				for _, j := range linked(c) {
					add(j)
				}
			}
		}
	}
	if len(out) > maxClauses {
		rest := strings.Join(out[maxClauses-1:], " ")
		out = append(out[:maxClauses-1], rest)
	}
	return out
}

// stops parts sentences in English. A full stop in a name or a number is none: a space follows one that is.
func stops(s string) []string {
	var out []string
	from := 0
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(".!?", s[i]) >= 0 && (i+1 == len(s) || s[i+1] == ' ') {
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// conjunctions parts a sentence in English at "then", and at "and" where a verb follows.
func conjunctions(s string) []string {
	lex := words()
	fields := strings.Fields(s)
	var out []string
	from := 0
	for i := 1; i < len(fields); i++ {
		w := strings.ToLower(fields[i])
		if w != "then" && w != "and" && w != "afterwards" && w != "before" && w != "after" {
			continue
		}
		if w != "then" && (i+1 >= len(fields) || !lex.verbs[stem(strings.ToLower(fields[i+1]))] && strings.ToLower(fields[i+1]) != "then") {
			continue
		}
		out = append(out, strings.Join(fields[from:i], " "))
		from = i + 1
	}
	return append(out, strings.Join(fields[from:], " "))
}

// linked parts a sentence in Japanese after a verb in the form that another one follows.
func linked(s string) []string {
	runes := []rune(s)
	var out []string
	from := 0
	for i := 1; i+1 < len(runes); i++ {
		end := 0
		rest := string(runes[i:min(len(runes), i+6)])
		for _, link := range [...]string{"てから", "でから", "した後", "したら", "それから", "その後", "て", "で", "し"} {
			if strings.HasPrefix(rest, link) {
				end = i + len([]rune(link))
				break
			}
		}
		if end == 0 || end >= len(runes) || unicode.Is(unicode.Hiragana, runes[end]) || !linkable(runes[:i], runes[i]) {
			continue
		}
		out = append(out, string(runes[from:end]))
		from, i = end, end
	}
	return append(out, string(runes[from:]))
}

// linkable reports whether a verb may end before て, で or し: して, って, んで, べて, 作成し.
func linkable(before []rune, link rune) bool {
	last := before[len(before)-1]
	switch link {
	case 'て':
		return unicode.Is(unicode.Hiragana, last)
	case 'で':
		return last == 'ん'
	case 'し':
		return unicode.Is(unicode.Han, last)
	}
	return true
}

// unite takes from each list in turn, until there are limit documents. The last list, of the whole request, has a turn in three.
func unite(lists [][]Hit, limit int) []Hit {
	var out []Hit
	seen := map[int]bool{}
	take := func(list []Hit, rank int) {
		if rank < len(list) && !seen[list[rank].Doc] && len(out) < limit {
			seen[list[rank].Doc] = true
			out = append(out, list[rank])
		}
	}
	last := len(lists) - 1
	for rank := range limit {
		for _, list := range lists[:last] {
			take(list, rank)
		}
		if rank%3 == 2 {
			take(lists[last], rank/3)
		}
	}
	return out
}
