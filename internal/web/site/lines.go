package site

import "strings"

// Line is one line of a diff or of arguments. Sign is "+", "-" or "". The template "lines" shows them.
type Line struct{ Sign, Text string }

// Choice is one option of a list.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// Lines splits a text into lines, those of a diff by what happens to them.
func Lines(shown string, diff bool) (out []Line) {
	if shown == "" {
		return nil
	}
	for l := range strings.SplitSeq(shown, "\n") {
		sign := ""
		if diff && (strings.HasPrefix(l, "+") || strings.HasPrefix(l, "-")) {
			sign = l[:1]
		}
		out = append(out, Line{sign, l})
	}
	return out
}
