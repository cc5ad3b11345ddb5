package yamlfile

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that a person probably meant by word, or "" if none is near. Near is: equal but for case,
// hyphens and underscores; or at most a third of its letters apart, three at most (swapped neighbours count as one).
func Nearest(word string, candidates []string) string {
	plain := squash(word)
	if plain == "" {
		return ""
	}
	best, bestDist := "", 1<<30
	for _, c := range candidates {
		p := squash(c)
		if p == plain {
			return c
		}
		limit := min(3, max(utf8.RuneCountInString(plain), utf8.RuneCountInString(p))/3)
		dist := distance(plain, p, limit)
		if dist <= limit && (dist < bestDist || dist == bestDist && c < best) {
			best, bestDist = c, dist
		}
	}
	return best
}

// squash removes what people vary: case, hyphens and single underscores ("__" separates server and tool and stays).
func squash(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "__", "\x00")
	return strings.NewReplacer("-", "", "_", "", " ", "").Replace(s)
}

// distance is the number of letters inserted, removed, replaced or swapped with their neighbour between a and b; limit+1 when
// it is more than limit.
func distance(a, b string, limit int) int {
	ra, rb := []rune(a), []rune(b)
	if len(ra)-len(rb) > limit || len(rb)-len(ra) > limit || len(ra) > 256 || len(rb) > 256 {
		return limit + 1
	}
	prev2 := make([]int, len(rb)+1)
	prev := make([]int, len(rb)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		cur := make([]int, len(rb)+1)
		cur[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev = prev, cur
	}
	return prev[len(rb)]
}
