package base

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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

// OrDash returns a dash for an empty value.
func OrDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
