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

// PrintJSON prints an indented JSON value. Empty lists are [], not null.
func (a *App) PrintJSON(v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
		jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", b)
	return err
}

// PrintLine prints a value as a line of JSON Lines.
func (a *App) PrintLine(v any) error {
	b, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = fmt.Fprintf(a.Out, "%s\n", b)
	return err
}

// Table writes aligned columns; wide (Japanese) characters count twice. Hidden characters are made visible,
// so that the text of a server or a file cannot control the terminal.
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

// FirstLine returns the first line of a text, at most n columns wide.
func FirstLine(s string, n int) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return runewidth.Truncate(s, n, "…")
}

// OrDash returns a dash for an empty value.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
