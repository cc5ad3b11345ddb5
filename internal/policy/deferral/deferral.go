// Package deferral reads toolSearch, which says when a list of tools leaves some out.
package deferral

import "strconv"

// Above is how many tools a session lists whole if nothing else is said. With that many a model still chooses well (issue 13).
const Above = 40

// Read reads a value of toolSearch: off (a list is whole), on (a list leaves tools out), or the number of tools above which it does.
// auto, and nothing, are Above.
func Read(mode string) (above int, auto, ok bool) {
	switch mode {
	case "", "auto":
		return Above, true, true
	case "on":
		return 0, false, true
	case "off":
		return -1, false, true
	}
	n, err := strconv.Atoi(mode)
	return n, true, err == nil && n > 0
}

// Hint says what people can write.
const Hint = "write auto, on, off, or the number of tools above which a list leaves some out"

// IsValue reports whether a text is a value of toolSearch. Nothing is one.
func IsValue(s string) bool {
	_, _, ok := Read(s)
	return ok
}
