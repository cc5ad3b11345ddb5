package markdown

import (
	"strings"

	"mycelium/internal/agent/ink"
)

// maxColumns bounds the columns of a table. One with more is drawn as it is written.
const maxColumns = 64

// tableLines returns how many lines the table has with which some lines begin; 0: they begin with none.
func tableLines(lines []string) int {
	if len(lines) < 2 || !strings.Contains(lines[0], "|") || !strings.Contains(lines[1], "-") ||
		strings.Trim(lines[1], "|-: ") != "" || len(row(lines[0])) != len(row(lines[1])) || len(row(lines[0])) > maxColumns {
		return 0
	}
	n := 2
	for n < len(lines) && strings.Contains(lines[n], "|") {
		n++
	}
	return n
}

// row returns the cells of a line of a table.
func row(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var out []string
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			b.WriteByte('|')
			i++
		case line[i] == '|':
			out = append(out, strings.TrimSpace(b.String()))
			b.Reset()
		default:
			b.WriteByte(line[i])
		}
	}
	return append(out, strings.TrimSpace(b.String()))
}

// gap stands between the columns of a table.
const gap = 2

// table draws a table. A cell that is wider than its column is wrapped.
func (d *drawer) table(lines []string, prefix ink.Line) {
	titles, marks := row(lines[0]), row(lines[1])
	rows := make([][]ink.Line, 0, len(lines)-1)
	for i, line := range append([]string{lines[0]}, lines[2:]...) {
		cells := make([]ink.Line, len(titles))
		for n, said := range row(line) {
			style := ink.Plain
			if i == 0 {
				style = ink.Bold
			}
			if n < len(cells) {
				cells[n] = inline(said, style)
			}
		}
		rows = append(rows, cells)
	}
	widths := columns(rows, d.width-prefix.Width()-gap*(len(titles)-1))
	for i, cells := range rows {
		d.row(cells, widths, marks, prefix)
		if i == 0 {
			var under ink.Line
			for n, w := range widths {
				if n > 0 {
					under = append(under, ink.Span{Text: strings.Repeat(" ", gap)})
				}
				under = append(under, ink.Span{Style: ink.Faint, Text: strings.Repeat("─", w)})
			}
			d.add(prefix, under)
		}
	}
}

// columns returns the widths of the columns, which fit into a width as far as each is left a cell.
func columns(rows [][]ink.Line, room int) []int {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for n, c := range cells {
			widths[n] = max(widths[n], c.Width(), 1)
		}
	}
	for {
		sum, widest := 0, 0
		for n, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = n
			}
		}
		if sum <= room || widths[widest] <= 1 {
			return widths
		}
		second := 1
		for n, w := range widths {
			if n != widest && w > second {
				second = w
			}
		}
		widths[widest] -= max(1, min(sum-room, widths[widest]-second))
	}
}

// row draws one row of a table.
func (d *drawer) row(cells []ink.Line, widths []int, marks []string, prefix ink.Line) {
	var wrapped [][]ink.Line
	height := 1
	for n, c := range cells {
		w := ink.Wrap(c, widths[n], nil, nil)
		wrapped, height = append(wrapped, w), max(height, len(w))
	}
	for i := range height {
		var l ink.Line
		for n := range cells {
			var part ink.Line
			if i < len(wrapped[n]) {
				part = wrapped[n][i]
			}
			left, right := 0, max(0, widths[n]-part.Width())
			if strings.HasSuffix(marks[n], ":") {
				left, right = right, 0
				if strings.HasPrefix(marks[n], ":") {
					right = left / 2
					left -= right
				}
			}
			if n == len(cells)-1 {
				right = 0
			} else {
				right += gap
			}
			l = append(append(append(l, ink.Span{Text: strings.Repeat(" ", left)}), part...), ink.Span{Text: strings.Repeat(" ", right)})
		}
		d.add(prefix, l)
	}
}
