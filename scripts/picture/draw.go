package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
)

// Sizes of a cell of the terminal, in pixels.
const (
	cellWidth, cellHeight = 7.8, 17
	margin                = 16
)

// colours are those of the escape sequences that the demo uses.
var colours = map[string]string{
	"1": "font-weight:bold", "2": "fill-opacity:0.6", "31": "fill:#ff7b72", "32": "fill:#7ee787", "33": "fill:#e3b341",
}

// draw returns lines of a terminal as SVG, one text element a line.
func draw(lines []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" `+
		`font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13">`,
		columns*cellWidth+2*margin, len(lines)*cellHeight+2*margin)
	b.WriteString("\n" + `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>` + "\n")
	var st look // tmux tells only what changes, also from line to line
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#c9d1d9" xml:space="preserve">`, margin, margin+(i+1)*cellHeight-4)
		st = drawLine(&b, st, line)
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// look is how text looks: parts of a style of CSS.
type look struct{ weight, colour string }

// drawLine writes the parts of a line, each in its style, and returns the style at its end. The line begins in st.
func drawLine(b *strings.Builder, st look, line string) look {
	for i, part := range strings.Split(line, "\x1b[") {
		codes, rest := "", part
		if i > 0 {
			codes, rest, _ = strings.Cut(part, "m")
			codes = cmp.Or(codes, "0")
		}
		for code := range strings.SplitSeq(codes, ";") {
			switch code {
			case "":
			case "0":
				st = look{}
			case "1", "2":
				st.weight = colours[code]
			case "22":
				st.weight = ""
			case "39":
				st.colour = ""
			default:
				st.colour = colours[code]
			}
		}
		if rest == "" {
			continue
		}
		style := strings.Trim(st.weight+";"+st.colour, ";")
		if style != "" {
			fmt.Fprintf(b, `<tspan style="%s">`, style)
		}
		_ = xml.EscapeText(b, []byte(rest))
		if style != "" {
			b.WriteString("</tspan>")
		}
	}
	return st
}
