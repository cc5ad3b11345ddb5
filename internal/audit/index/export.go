package index

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mycelium/internal/audit"
)

// Export writes the matching entries, newest first, as json (one array), jsonl (one entry per line) or csv (A47's columns and the sandbox,
// with a header).
// Here, Limit 0 is no limit. A CSV cell that a spreadsheet would take for a formula (it begins with = + - @, tab or carriage return) is
// written with an apostrophe before it.
func (x *Index) Export(ctx context.Context, w io.Writer, format string, q Query) error {
	if q.Limit == 0 {
		q.Limit = -1
	}
	switch format {
	case "json":
		return x.exportJSON(ctx, w, q)
	case "jsonl":
		return x.each(ctx, q, func(e Entry) error { return writeEntry(w, "", e, "\n") })
	case "csv":
		return x.exportCSV(ctx, w, q)
	}
	return fmt.Errorf("export the audit log: %q is not a format; use json, jsonl or csv", format)
}

func writeEntry(w io.Writer, before string, e Entry, after string) error {
	raw, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, before+string(raw)+after)
	return err
}

func (x *Index) exportJSON(ctx context.Context, w io.Writer, q Query) error {
	before := "[\n"
	err := x.each(ctx, q, func(e Entry) error {
		err := writeEntry(w, before, e, "")
		before = ",\n"
		return err
	})
	if err != nil {
		return err
	}
	end := "\n]\n"
	if before == "[\n" { // no entry
		end = "[]\n"
	}
	_, err = io.WriteString(w, end)
	return err
}

var csvHeader = []string{"id", "timestamp", "sessionId", "role", "tool", "sourceServer", "result", "reason", "durationMs",
	"hasThinking", "thinkingType", "thinkingTokens", "sandbox"}

func (x *Index) exportCSV(ctx context.Context, w io.Writer, q Query) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvHeader); err != nil {
		return err
	}
	err := x.each(ctx, q, func(e Entry) error {
		t := &audit.Thinking{}
		if e.Thinking != nil {
			t = e.Thinking
		}
		row := []string{e.ID, e.Time.Format(time.RFC3339Nano), e.Session, e.Role, e.Tool, e.Server, e.Outcome, e.Reason,
			strconv.FormatFloat(e.DurationMs, 'f', -1, 64), strconv.FormatBool(e.Thinking != nil), t.Type, strconv.Itoa(t.Tokens),
			e.Sandbox}
		for i, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				row[i] = "'" + cell
			}
		}
		return c.Write(row)
	})
	c.Flush()
	if err != nil {
		return err
	}
	return c.Error()
}
