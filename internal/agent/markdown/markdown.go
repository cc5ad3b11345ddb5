// Package markdown draws the Markdown that language models write, for a terminal: headings, lists, quotes, code, tables, emphasis, and
// links as text. It reads the part of CommonMark and of GitHub's tables that stands in answers, and shows everything else as it is written.
//
// Nothing is too malformed to be drawn. A line feed inside a paragraph stays a line feed, as chats have it.
package markdown

import (
	"slices"
	"strings"

	"mycelium/internal/agent/ink"
)

// maxDepth bounds how deep quotes and lists are nested. What is nested deeper is drawn as it is written.
const maxDepth = 16

// Render draws a text in lines that fit into width. Hidden characters are shown; see [ink.Clean].
func Render(src string, width int) []ink.Line {
	d := drawer{width: width}
	d.blocks(strings.Split(ink.Clean(src), "\n"), nil, 0)
	for len(d.out) > 0 && len(d.out[len(d.out)-1]) == 0 {
		d.out = d.out[:len(d.out)-1]
	}
	for i, l := range d.out { // a table of many columns, a list in many lists
		d.out[i] = l.Cut(width)
	}
	return d.out
}

// Split divides a text that is still being written in two: blocks that nothing can change any more, and the rest. Both drawn one below the
// other, with a blank line between them, are the text drawn whole.
func Split(src string) (done, rest string) {
	at, fence := 0, ""
	for i := 0; i < len(src); {
		end := strings.IndexByte(src[i:], '\n')
		if end < 0 {
			break
		}
		line := src[i : i+end]
		next := i + end + 1
		fence = fenced(fence, line)
		if fence == "" && strings.TrimSpace(line) == "" && next < len(src) &&
			!strings.ContainsRune(" \t\n", rune(src[next])) { // not more of a list

			at = next
		}
		i = next
	}
	return src[:at], src[at:]
}

// fenced returns the fence that is open after a line; "" if none is.
func fenced(open, line string) string {
	mark, _ := fenceOf(line)
	switch {
	case open == "":
		return mark
	case mark != "" && mark[0] == open[0] && len(mark) >= len(open) && strings.Trim(line, " "+mark[:1]) == "":
		return ""
	}
	return open
}

// fenceOf returns the fence with which a line opens or closes code, and what follows it.
func fenceOf(line string) (mark, info string) {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && !strings.Contains(line[n:], c) {
			return line[:n], strings.TrimSpace(line[n:])
		}
	}
	return "", ""
}

// drawer draws blocks one below the other.
type drawer struct {
	width int
	out   []ink.Line
}

// blank puts a blank line between two blocks.
func (d *drawer) blank() {
	if n := len(d.out); n > 0 && len(d.out[n-1]) > 0 {
		d.out = append(d.out, nil)
	}
}

// blocks draws the blocks of some lines, each line behind the prefix.
func (d *drawer) blocks(lines []string, prefix ink.Line, depth int) {
	for len(lines) > 0 {
		switch line := lines[0]; {
		case strings.TrimSpace(line) == "":
			d.blank()
			lines = lines[1:]
		default:
			lines = lines[d.block(line, lines, prefix, depth):]
		}
	}
}

// block draws the block that begins with a line, and returns how many lines it has.
func (d *drawer) block(line string, lines []string, prefix ink.Line, depth int) int {
	if mark, info := fenceOf(line); mark != "" {
		return d.code(lines, mark, info, prefix)
	}
	if level, title := heading(line); level > 0 {
		style := ink.Bold
		if level == 1 {
			style = ink.Bold.With(ink.Underline)
		}
		d.blank()
		d.wrap(inline(title, style), prefix, prefix)
		return 1
	}
	if rule(line) {
		d.add(prefix, ink.Text(ink.Faint, strings.Repeat("─", max(3, min(40, d.width-prefix.Width())))))
		return 1
	}
	nests := depth < maxDepth && prefix.Width() < d.width/2
	if nests && strings.HasPrefix(strings.TrimLeft(line, " "), ">") {
		return d.quote(lines, prefix, depth)
	}
	if _, _, ok := itemOf(line); ok && nests {
		return d.item(lines, prefix, depth)
	}
	if n := tableLines(lines); n > 0 {
		d.table(lines[:n], prefix)
		return n
	}
	d.wrap(inline(strings.TrimSpace(strings.TrimSuffix(line, `\`)), ink.Plain), prefix, prefix)
	return 1
}

func (d *drawer) add(prefix, l ink.Line) {
	d.out = append(d.out, append(prefix[:len(prefix):len(prefix)], l...))
}

func (d *drawer) wrap(l, first, rest ink.Line) {
	d.out = append(d.out, ink.Wrap(l, d.width, first, rest)...)
}

// heading returns the level of a heading and its text; 0 for another line.
func heading(line string) (level int, title string) {
	level = len(line) - len(strings.TrimLeft(line, "#"))
	if level == 0 || level > 6 || len(line) > level && line[level] != ' ' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(line[level:], "# "))
}

// rule reports whether a line is a thematic break.
func rule(line string) bool {
	s := strings.ReplaceAll(line, " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// code draws a fenced block of code. Its lines are broken where they are too long, and nowhere else.
func (d *drawer) code(lines []string, mark, info string, prefix ink.Line) int {
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	prefix = append(prefix[:len(prefix):len(prefix)], ink.Span{Style: ink.Faint, Text: "│ "})
	if info != "" {
		d.add(prefix, ink.Text(ink.Faint, info))
	}
	for i, line := range lines[1:] {
		if fenced(mark, line) == "" {
			return i + 2
		}
		for range indent { // the block is indented as a whole
			line = strings.TrimPrefix(line, " ")
		}
		style := ink.Cyan
		if info == "diff" {
			style = DiffStyle(line)
		}
		d.out = append(d.out, ink.Chop(style, line, d.width, prefix)...)
	}
	return len(lines)
}

// DiffStyle is the style of a line of a diff.
func DiffStyle(line string) ink.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return ink.Green
	case strings.HasPrefix(line, "-"):
		return ink.Red
	case strings.HasPrefix(line, "@@"):
		return ink.Cyan
	}
	return ink.Plain
}

// quote draws a quotation: the lines that begin with >.
func (d *drawer) quote(lines []string, prefix ink.Line, depth int) int {
	var inner []string
	for _, line := range lines {
		said, ok := strings.CutPrefix(strings.TrimLeft(line, " "), ">")
		if !ok {
			break
		}
		inner = append(inner, strings.TrimPrefix(said, " "))
	}
	d.blocks(inner, append(prefix[:len(prefix):len(prefix)], ink.Span{Style: ink.Faint, Text: "▏ "}), depth+1)
	return len(inner)
}

// itemOf divides the first line of an item of a list into the mark with the spaces around it, and the text. indent is how far the mark is
// from the left.
func itemOf(line string) (mark, said string, ok bool) {
	inner := strings.TrimLeft(line, " ")
	n := 0
	for n < len(inner) && n < 9 && inner[n] >= '0' && inner[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n < len(inner) && (inner[n] == '.' || inner[n] == ')'):
		n++
	case n == 0 && inner != "" && strings.ContainsRune("-*+", rune(inner[0])):
		n = 1
	default:
		return "", "", false
	}
	if n < len(inner) && inner[n] != ' ' || rule(line) {
		return "", "", false
	}
	at := len(line) - len(inner) + n
	for spaces := 0; at < len(line) && line[at] == ' ' && spaces < 4; spaces++ {
		at++
	}
	return line[:at], line[at:], true
}

// item draws one item of a list with everything that is indented below it.
func (d *drawer) item(lines []string, prefix ink.Line, depth int) int {
	mark, said, _ := itemOf(lines[0])
	n, inner := 1, []string{said}
	for ; n < len(lines); n++ {
		line := lines[n]
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if strings.TrimSpace(line) == "" {
			if n+1 == len(lines) || !strings.HasPrefix(lines[n+1], "  ") {
				break
			}
			inner = append(inner, "")
			continue
		}
		outer := len(mark) - len(strings.TrimLeft(mark, " "))
		if indent <= outer || indent < 2 {
			break
		}
		inner = append(inner, line[min(indent, len(mark)):])
	}
	bullet := strings.TrimSpace(mark)
	if strings.ContainsAny(bullet, "-*+") {
		bullet = "•"
	}
	for _, box := range [][2]string{{"[ ] ", "☐"}, {"[x] ", "☑"}, {"[X] ", "☑"}} {
		if rest, ok := strings.CutPrefix(inner[0], box[0]); ok {
			bullet, inner[0] = box[1], rest
			break
		}
	}
	bullet += " "
	body := slices.Concat(prefix, ink.Line{{Text: strings.Repeat(" ", ink.Text("", bullet).Width())}})
	begin := len(d.out)
	d.blocks(inner, body, depth+1)
	for begin < len(d.out) && len(d.out[begin]) == 0 { // a heading stands behind the bullet, without a blank line
		d.out = append(d.out[:begin], d.out[begin+1:]...)
	}
	if begin == len(d.out) { // an empty item
		d.out = append(d.out, body)
	}
	d.out[begin] = append(append(prefix[:len(prefix):len(prefix)], ink.Span{Style: ink.Cyan, Text: bullet}), d.out[begin][len(body):]...)
	return n
}
