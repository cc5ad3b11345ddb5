package harness

import (
	"slices"
	"strings"
)

// AsksAtStart reports whether a terminal shows a question that an agent asks its person before its session begins: whether it may trust the
// folder, or how to log in. The text has single spaces.
func AsksAtStart(screen string) bool {
	for _, a := range agents {
		if slices.ContainsFunc(a.questions, func(q string) bool { return strings.Contains(screen, q) }) {
			return true
		}
	}
	return false
}
