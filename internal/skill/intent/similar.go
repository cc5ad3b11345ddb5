package intent

import (
	"math"
	"slices"
	"strings"

	"mycelium/internal/text"
)

const (
	maxSimilar  = 3   // skills that are suggested by their words alone
	leastOfBest = 0.6 // what a further one has of the score of the best
	fullScore   = 8.0 // of words, at which a score by words alone is 0.3, that of one trigger
)

// Similar returns the skills whose own words a text shares, weighed by how few skills have a word. It is for a text that asks for no
// skill in the words of its triggers. A score is at most 0.3, that of one trigger. Two words at least are shared, or one that is in the
// name of the skill.
func (x *Index) Similar(said string, among []string) []Suggestion {
	said = Fold(string(mask(text.Prefix(said, maxSaid))))
	asked := map[string]bool{}
	for w := range terms(said) {
		asked[w] = true
	}
	var out []Suggestion
	for i := range x.skills {
		k := &x.skills[i]
		if !slices.Contains(among, k.name) {
			continue
		}
		var shared []string
		sum, named := 0.0, false
		for w := range k.terms {
			if asked[w] {
				shared = append(shared, w)
				sum += math.Log(1 + float64(len(x.skills))/float64(x.seen[w]))
				named = named || slices.Contains(strings.Split(stems(strings.ReplaceAll(k.name, "-", " ")), " "), w)
			}
		}
		if len(shared) > 1 || named {
			slices.Sort(shared)
			out = append(out, Suggestion{k.name, math.Round(10*min(0.3, 0.3*sum/fullScore)) / 10, shared})
		}
	}
	out = slices.DeleteFunc(out, func(s Suggestion) bool { return s.Score == 0 })
	sortSuggestions(out)
	if len(out) > 0 {
		best := out[0].Score
		out = slices.DeleteFunc(out, func(s Suggestion) bool { return s.Score < leastOfBest*best })
	}
	return out[:min(len(out), maxSimilar)]
}

// terms returns the words of a folded text by which skills are compared: English words by their stems, and of scripts without spaces
// all pairs of neighbours.
func terms(s string) map[string]bool {
	out := map[string]bool{}
	for _, f := range fields(s) {
		r := []rune(f)
		start := 0
		for i := 1; i <= len(r); i++ {
			if i < len(r) && isSpaced(r[i]) == isSpaced(r[start]) {
				continue
			}
			part := r[start:i]
			switch {
			case !isSpaced(part[0]):
				for j := 0; j+2 <= len(part); j++ {
					out[string(part[j:j+2])] = true
				}
			case len(part) > 2:
				w := string(part)
				if !among(w, politeness) && !among(w, determiners) && !among(w, commonWords) {
					out[stem(w)] = true
				}
			}
			start = i
		}
	}
	return out
}

// commonWords are words that say nothing of a task.
const commonWords = " and the for with from into are was does how about make use file files text work project name "
