package base

import (
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
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

// Table writes aligned columns; wide (Japanese) characters count twice. Hidden characters are shown, so
// that the text of a server or a file cannot control the terminal.
func Table(w io.Writer, rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], text.Width(text.Flatten(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = text.Flatten(cell)
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-text.Width(cell)+2))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// OrDash returns a dash for an empty value.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
