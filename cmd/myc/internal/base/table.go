package base

import (
	"fmt"
	"slices"
	"strings"

	"mycelium/internal/text"
)

// Column is a column of a [Table].
type Column struct {
	Name  string
	Least int                      // cells that must stay where the terminal is too narrow; 0: the column is never cut
	Drop  int                      // where that is not enough, the columns with the highest number are left out first; 0: never
	Paint func(cell string) Colour // nil: no colour
}

// Table prints rows in aligned columns; wide (Japanese) characters count twice. Hidden characters are shown, so that the text of a server
// or a file cannot control the terminal. On a terminal the rows fit its width: columns are left out, then cells are cut. Elsewhere they
// are plain and whole.
type Table struct {
	app     *App
	columns []Column
	natural []int  // the widest cell of each column so far
	filled  []bool // whether a cell of the column has a value
	shown   []int  // the columns that the last header names; nil: no header was printed
}

// Table returns a table without rows. Its header is printed with the first call of Print.
func (a *App) Table(columns ...Column) *Table {
	t := &Table{app: a, columns: columns, filled: make([]bool, len(columns))}
	for _, c := range columns {
		t.natural = append(t.natural, text.Width(c.Name))
	}
	return t
}

// Print prints rows of the table. It may be called again as rows come: columns then only become wider.
func (t *Table) Print(rows ...[]string) {
	for i, row := range rows {
		rows[i] = flattened(row)
		for j, cell := range rows[i] {
			t.natural[j] = max(t.natural[j], text.Width(cell))
			t.filled[j] = t.filled[j] || cell != "" && cell != OrDash("")
		}
	}
	widths := layout(t.columns, t.wanted(), t.app.Width())
	var shown []int
	var head []string
	for i, c := range t.columns {
		head = append(head, c.Name)
		if widths[i] >= 0 {
			shown = append(shown, i)
		}
	}
	if t.shown == nil || !slices.Equal(shown, t.shown) {
		t.shown = shown
		t.line(head, widths, func(Column, string) Colour { return Bold })
	}
	for _, row := range rows {
		t.line(row, widths, func(c Column, cell string) Colour {
			if c.Paint == nil {
				return Plain
			}
			return c.Paint(cell)
		})
	}
}

// wanted are the natural widths; -1 for a column without a value, which a terminal has no room for if it may be left out.
func (t *Table) wanted() []int {
	widths := slices.Clone(t.natural)
	for i, c := range t.columns {
		if t.app.Width() > 0 && c.Drop > 0 && !t.filled[i] {
			widths[i] = -1
		}
	}
	return widths
}

// line prints one row with these widths.
func (t *Table) line(row []string, widths []int, paint func(Column, string) Colour) {
	var line strings.Builder
	gap := 0
	for _, i := range t.shown {
		line.WriteString(strings.Repeat(" ", gap))
		cell := row[i]
		if text.Width(cell) > widths[i] {
			cell = text.TruncateCells(cell, widths[i])
		}
		gap = widths[i] - text.Width(cell) + tableGap
		if cell != "" {
			cell = t.app.Paint(paint(t.columns[i], row[i]), cell)
		}
		line.WriteString(cell)
	}
	fmt.Fprintln(t.app.Out, strings.TrimRight(line.String(), " "))
}

// tableGap is the number of cells between two columns.
const tableGap = 2

// layout returns the widths of columns whose cells have these natural widths, in a line of limit cells; -1 for a column that is left out.
// A limit of 0 is no limit.
func layout(columns []Column, natural []int, limit int) []int {
	widths := slices.Clone(natural)
	if limit <= 0 {
		return widths
	}
	least := func(i int) int {
		if columns[i].Least == 0 {
			return natural[i]
		}
		return min(natural[i], columns[i].Least)
	}
	for lineWidth(widths, least) > limit {
		drop := -1
		for i, c := range columns {
			if widths[i] >= 0 && c.Drop > 0 && (drop < 0 || c.Drop > columns[drop].Drop) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		widths[drop] = -1
	}
	for over := lineWidth(widths, func(i int) int { return widths[i] }) - limit; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if w > least(i) && (widest < 0 || w >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// lineWidth is the width of a line in which the columns that are not left out have the width of.
func lineWidth(widths []int, of func(int) int) int {
	n := -tableGap
	for i, w := range widths {
		if w >= 0 {
			n += of(i) + tableGap
		}
	}
	return n
}

func flattened(row []string) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		out[i] = text.Flatten(cell)
	}
	return out
}
