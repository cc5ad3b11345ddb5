package text

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff shows line by line how one text becomes another, or returns "" if they are equal. A line begins with its mark: "- ",
// "+ ", or two spaces for a line that stays. Lines that stay and are far from a change are counted and left out. Nothing in the
// result is hidden.
func Diff(before, after string) string {
	if before == "" || after == "" || strings.HasSuffix(before, "\n") == strings.HasSuffix(after, "\n") {
		before, after = wholeLines(before), wholeLines(after) // else the missing line feed is a change of its own
	}
	unified := strings.SplitN(string(diff.Diff("", []byte(before), "", []byte(after))), "\n", 4)
	if len(unified) < 4 { // three lines name the texts
		return ""
	}
	var b strings.Builder
	shown := 0 // lines of before that were shown or counted
	skip := func(n int) {
		if n > 0 {
			fmt.Fprintf(&b, "  … %d unchanged\n", n)
		}
	}
	for line := range strings.Lines(unified[3]) {
		switch line[0] {
		case '@':
			var from, count int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &from, &count); err != nil {
				continue // the library always writes both
			}
			if count > 0 { // else from is the line before
				from--
			}
			skip(from - shown)
			shown = from + count
		case '\\':
			b.WriteString("  (no line feed at the end)\n")
		default:
			b.WriteString(line[:1] + " " + Visible(line[1:]))
		}
	}
	skip(strings.Count(before, "\n") - shown)
	return b.String()
}

// wholeLines ends s in a line feed, unless it is empty.
func wholeLines(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
