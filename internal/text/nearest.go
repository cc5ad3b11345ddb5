package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDistance is the most edits between a word and the known word that it is taken for; a third of the longer word is a limit too.
const maxDistance = 3

// Nearest returns the known word that a person probably meant by word, or "". A known word is near if it is equal but for case,
// spaces, hyphens and single underscores, or if at most a third of its letters differ, and never more than [maxDistance].
func Nearest(word string, known []string) string {
	plain := squash(word)
	if plain == "" {
		return ""
	}
	best, least := "", maxDistance+1
	for _, k := range known {
		p := squash(k)
		if p == plain {
			return k
		}
		limit := min(maxDistance, max(utf8.RuneCountInString(plain), utf8.RuneCountInString(p))/3)
		if d := distance(plain, p, limit); d <= limit && (d < least || d == least && k < best) {
			best, least = k, d
		}
	}
	return best
}

// squash removes what people vary. Two underscores separate a server from its tool and stay.
func squash(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "__", "\x00")
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(s)
}

// distance is the number of letters that are inserted, removed, replaced or swapped with their neighbour between a and b, or
// limit+1 if it is more than limit (the optimal string alignment distance).
func distance(a, b string, limit int) int {
	ra, rb := []rune(a), []rune(b)
	if len(ra)-len(rb) > limit || len(rb)-len(ra) > limit || len(ra) > 256 {
		return limit + 1
	}
	before, last := []int(nil), make([]int, len(rb)+1) // the rows of i-2 and i-1
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		row := make([]int, len(rb)+1)
		row[0] = i
		for j := 1; j <= len(rb); j++ {
			row[j] = last[j-1]
			if ra[i-1] != rb[j-1] {
				row[j] = 1 + min(last[j], row[j-1], last[j-1])
				if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
					row[j] = min(row[j], before[j-2]+1)
				}
			}
		}
		if slices.Min(row) > limit {
			return limit + 1
		}
		before, last = last, row
	}
	return min(last[len(rb)], limit+1)
}
