package base

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/mattn/go-runewidth"

	"mycelium/internal/node/project"
)

// PrintJSON writes one JSON value, indented, in the shapes of cli.md: lists are never null.
func (a *App) PrintJSON(v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false), jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", b)
	return err
}

// PrintLine writes one value as a line of JSON Lines.
func (a *App) PrintLine(v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", b)
	return err
}

// Table writes aligned columns; wide (Japanese) characters count twice. Control characters of foreign text are made visible,
// so that nothing a server or file says can play with the terminal.
func Table(w io.Writer, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], runewidth.StringWidth(project.Visible(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = project.Visible(cell)
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-runewidth.StringWidth(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// FirstLine shortens a text for a table to n columns.
func FirstLine(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return runewidth.Truncate(s, n, "…")
}

// OrDash shows an empty value.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
