package base

import (
	"fmt"
	"strings"

	"mycelium/internal/text"
)

// Facts prints names and their values, two columns without a header. A value is never cut: on a terminal it goes on in the next line.
func (a *App) Facts(rows [][]string) {
	name := 0
	for _, row := range rows {
		name = max(name, text.Width(text.Flatten(row[0])))
	}
	limit := a.Width() - name - tableGap
	for _, row := range rows {
		row = flattened(row)
		label, value := row[0], ""
		if len(row) > 1 {
			value = row[1]
		}
		for first := true; first || value != ""; first = false {
			line := value
			if limit >= leastValue {
				line = wrapAt(value, limit)
			}
			value = strings.TrimLeft(value[len(line):], " ")
			fmt.Fprintln(a.Out, strings.TrimRight(label+strings.Repeat(" ", name-text.Width(label)+tableGap)+line, " "))
			label = ""
		}
	}
}

// leastValue is the number of cells below which a value of [App.Facts] is left to the terminal to wrap.
const leastValue = 20

// wrapAt is the beginning of s that fits n cells: up to a space, or as much as there is room for.
func wrapAt(s string, n int) string {
	if text.Width(s) <= n {
		return s
	}
	whole := strings.TrimSuffix(text.TruncateCells(s, n+1), "…") // without the ellipsis that it ends in
	if i := strings.LastIndexByte(whole, ' '); i > 0 {
		return whole[:i]
	}
	return whole
}
