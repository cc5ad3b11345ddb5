package text

import "strings"

// Unfenced is a text without the fence of Markdown around it, if it has one, and without space around it.
func Unfenced(s string) string {
	s = strings.TrimSpace(s)
	if first, rest, ok := strings.Cut(s, "\n"); ok && strings.HasPrefix(first, "```") {
		if body, ok := strings.CutSuffix(strings.TrimSpace(rest), "```"); ok {
			return strings.TrimSpace(body)
		}
	}
	return s
}
