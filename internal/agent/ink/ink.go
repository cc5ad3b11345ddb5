// Package ink draws styled text for a terminal: spans of one style each, wrapped to a width, as lines that stand on their own. A line that
// is cut out of its neighbours keeps its style, so that a screen draws only the lines that are visible.
//
// Nothing here makes a text safe: what a model or a tool wrote goes through [mycelium/internal/text.Visible] first.
package ink

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mycelium/internal/text"
)

// Style is how a text looks: parameters of the escape sequence SGR, joined by semicolons (ECMA-48, 8.3.117). The zero Style changes
// nothing. Colours are those of the terminal's own palette.
type Style string

// The styles.
const (
	Plain     Style = ""
	Bold      Style = "1"
	Faint     Style = "2"
	Italic    Style = "3"
	Underline Style = "4"
	Reverse   Style = "7"
	Strike    Style = "9"
	Red       Style = "31"
	Green     Style = "32"
	Yellow    Style = "33"
	Blue      Style = "34"
	Magenta   Style = "35"
	Cyan      Style = "36"
)

// With adds a style.
func (s Style) With(more Style) Style {
	switch {
	case s == "":
		return more
	case more == "" || slices.Contains(strings.Split(string(s), ";"), string(more)):
		return s
	}
	return s + ";" + more
}

// Span is a text in one style.
type Span struct {
	Style Style
	Text  string
}

// Line is what stands on one line, from left to right.
type Line []Span

// Text is a line of one style.
func Text(style Style, text string) Line { return Line{{style, text}} }

// Width is the number of cells that the line takes.
func (l Line) Width() (n int) {
	for _, s := range l {
		n += text.Width(s.Text)
	}
	return n
}

// String writes the line for a terminal.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		if s.Style == "" || s.Text == "" {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString("\x1b[" + string(s.Style) + "m" + s.Text + "\x1b[m")
	}
	return b.String()
}

// Raw writes the line without its styles.
func (l Line) Raw() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Cut shortens the line to a width. A line that is cut ends in an ellipsis.
func (l Line) Cut(width int) Line {
	if l.Width() <= width {
		return l
	}
	var out Line
	for _, s := range l {
		w := text.Width(s.Text)
		if w < width {
			out, width = append(out, s), width-w
			continue
		}
		rest := text.TruncateCells(s.Text, width)
		if rest == s.Text && width > 0 { // it fits, and what follows does not
			rest = text.TruncateCells(s.Text+"…", width)
		}
		return append(out, Span{s.Style, rest})
	}
	return out
}

// cell is one character with the marks that combine with it.
type cell struct {
	text  string
	style Style
	width int
	space bool // the line may break here, and the space is left out
}

// Wrap breaks a line at spaces, and before and after the wide characters of Japanese, so that every line fits into width. first stands
// before the first line, and rest before the others; both count. A word that is longer than a line is broken.
func Wrap(l Line, width int, first, rest Line) []Line {
	cells := cellsOf(l)
	var out []Line
	prefix := first
	for {
		n, next := fit(cells, max(1, width-prefix.Width()))
		out = append(out, join(prefix, cells[:n]))
		if prefix = rest; next >= len(cells) {
			return out
		}
		cells = cells[next:]
	}
}

func cellsOf(l Line) []cell {
	var out []cell
	for _, s := range l {
		begin := 0 // of the last cell
		for i := 0; i < len(s.Text); {
			r, n := utf8.DecodeRuneInString(s.Text[i:])
			c := cell{text: s.Text[i : i+n], style: s.Style, width: 1, space: r == ' '}
			if r >= utf8.RuneSelf {
				c.width = text.Width(c.text)
			}
			if c.width == 0 && i > 0 {
				out[len(out)-1].text = s.Text[begin : i+n]
			} else {
				out, begin = append(out, c), i
			}
			i += n
		}
	}
	return out
}

// fit returns how many cells stand on a line of this width, and where the next line begins.
func fit(cells []cell, room int) (n, next int) {
	used, at := 0, -1 // at: the last place where the line may break
	for i, c := range cells {
		if used+c.width > room && (!c.space || used > room) {
			switch {
			case at > 0:
				n = at
			default:
				n = max(1, i) // a word that is longer than the line
			}
			return trim(cells, n)
		}
		used += c.width
		if c.space || i+1 < len(cells) && !cells[i+1].space && breaks(c, cells[i+1]) {
			at = i + 1
		}
	}
	return len(cells), len(cells)
}

// breaks reports whether a line may break between two characters: where one of them is wide, unless the second ends a sentence or a
// bracket.
func breaks(a, b cell) bool {
	const enders, openers = "、。，．・：；？！）」』】〕》ー々ゃゅょっャュョッ.,:;?!)]}", "（「『【〔《([{"
	return (a.width > 1 || b.width > 1) && !strings.Contains(enders, b.text) && !strings.Contains(openers, a.text)
}

// trim leaves out the spaces at which a line of n cells breaks.
func trim(cells []cell, n int) (keep, next int) {
	for keep = n; keep > 0 && cells[keep-1].space; {
		keep--
	}
	for next = n; next < len(cells) && cells[next].space; {
		next++
	}
	if keep == 0 { // only spaces: they are an indent
		keep = n
	}
	return keep, next
}

// join makes a line of a prefix and cells.
func join(prefix Line, cells []cell) Line {
	out := slices.Clone(prefix)
	for i := 0; i < len(cells); {
		j, s := i, strings.Builder{}
		for ; j < len(cells) && cells[j].style == cells[i].style; j++ {
			s.WriteString(cells[j].text)
		}
		out = append(out, Span{cells[i].style, s.String()})
		i = j
	}
	return out
}

// Chop breaks a text at the width of the line and nowhere else, as code is shown. Each line has the prefix.
func Chop(style Style, s string, width int, prefix Line) []Line {
	room := max(1, width-prefix.Width())
	cells := cellsOf(Line{{style, s}})
	out := []Line{}
	for {
		n, used := 0, 0
		for n < len(cells) && used+cells[n].width <= room {
			used += cells[n].width
			n++
		}
		if n == 0 && len(cells) > 0 {
			n = 1 // wider than the line
		}
		out = append(out, join(prefix, cells[:n]))
		if cells = cells[n:]; len(cells) == 0 {
			return out
		}
	}
}

// Clean makes a text that others wrote safe to draw: what is hidden is shown, and a tab becomes four spaces.
func Clean(s string) string { return strings.ReplaceAll(text.Visible(s), "\t", "    ") }
