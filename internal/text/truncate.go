package text

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// ellipsis marks where a text was truncated.
const ellipsis = "…"

// Prefix is the beginning of s, at most n bytes long. It does not end inside a character.
func Prefix(s string, n int) string {
	if n = max(n, 0); len(s) <= n {
		return s
	}
	// A character has at most UTFMax bytes. In text that is not UTF-8 there may be no boundary that near, and n stays.
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// Truncate shortens s to at most n bytes. A text that is shortened ends in an ellipsis, which counts, if there is room for one.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if n < len(ellipsis) {
		return Prefix(s, n)
	}
	return Prefix(s, n-len(ellipsis)) + ellipsis
}

// TruncateRunes shortens s to at most n characters. A text that is shortened ends in an ellipsis, which counts.
func TruncateRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	last, count := 0, 0 // where the last character begins that has to go if there is one too many
	for i := range s {
		if count++; count == n {
			last = i
		}
		if count > n {
			if n <= 0 {
				return ""
			}
			return s[:last] + ellipsis
		}
	}
	return s
}

// Width is the number of cells that s takes on a terminal: two for each wide character, as in Japanese.
func Width(s string) int { return displaywidth.String(s) }

// TruncateCells shortens s to at most n cells of a terminal. A text that is shortened ends in an ellipsis, which counts.
func TruncateCells(s string, n int) string {
	if n <= 0 {
		return displaywidth.TruncateString(s, 0, "")
	}
	return displaywidth.TruncateString(s, n, ellipsis)
}

// FirstLine is the first line of s that is not blank, without the space around it.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

// Cell is the first line of s for a column of a table that is n cells wide. Nothing in it is hidden.
func Cell(s string, n int) string { return TruncateCells(Flatten(FirstLine(s)), n) }

// Middle cuts the middle out of a text that is longer than n bytes, between characters, and says how much was cut.
func Middle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const note = 60 // bytes for the note
	half := max(0, (n-note)/2)
	tail := len(s) - half
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	head := Prefix(s, half)
	return head + "\n[… " + strconv.Itoa(tail-len(head)) + " bytes left out …]\n" + s[tail:]
}
