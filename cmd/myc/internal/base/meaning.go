package base

import (
	"fmt"
	"io"

	"mycelium/internal/config/meaning"
)

// ShowMeaning writes what changes mean, each with its mark and its place.
func ShowMeaning(out io.Writer, changes []meaning.Change) {
	if len(changes) == 0 {
		fmt.Fprintln(out, "nothing in force changes")
	}
	for _, c := range changes {
		fmt.Fprintf(out, "%-7s  %s%s\n", c.Mark, c.Text, placeText(c))
	}
}

// placeText says where a change stands, in parentheses.
func placeText(c meaning.Change) string {
	switch {
	case c.File == "":
		return ""
	case c.Line > 0:
		return fmt.Sprintf(" (%s:%d)", c.File, c.Line)
	case c.Was > 0:
		return fmt.Sprintf(" (%s, line %d before)", c.File, c.Was)
	}
	return fmt.Sprintf(" (%s)", c.File)
}
