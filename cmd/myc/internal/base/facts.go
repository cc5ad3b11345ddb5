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
	for _, row := range rows {
		row = flattened(row)
		value := ""
		if len(row) > 1 {
			value = row[1]
		}
		Hang(a, row[0]+strings.Repeat(" ", name-text.Width(row[0])+tableGap), name+tableGap, value)
	}
}

// Hang prints a text behind a label that is indent cells wide. On a terminal the text goes on below its own beginning.
func Hang(a *App, label string, indent int, value string) {
	limit := a.Width() - indent
	for first := true; first || value != ""; first = false {
		line := value
		if limit >= leastValue {
			line = wrapAt(value, limit)
		}
		value = strings.TrimLeft(value[len(line):], " ")
		fmt.Fprintln(a.Out, strings.TrimRight(label+line, " "))
		label = strings.Repeat(" ", indent)
	}
}

// leastValue is the number of cells below which a value of [Hang] is left to the terminal to wrap.
const leastValue = 20

// wrapAt is the beginning of s that fits n cells: up to a space, or as much as there is room for.
func wrapAt(s string, n int) string {
	if text.Width(s) <= n {
		return s
	}
	whole := strings.TrimSuffix(text.TruncateCells(s, n+1), "…") // without the ellipsis that it ends in
	if strings.HasPrefix(s[len(whole):], " ") {                  // it ends with a word
		return whole
	}
	if i := strings.LastIndexByte(whole, ' '); i > 0 {
		return whole[:i]
	}
	return whole
}
