package yamlfile

import (
	"strings"
	"unicode/utf8"

	"mycelium/internal/policy"
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
		dist := policy.Distance(plain, p, limit)
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
