package screen

import (
	"strings"
	"unicode"

	"mycelium/internal/agent/ink"
	"mycelium/internal/text"
)

// editor is the text that a person writes, of any number of lines.
type editor struct {
	text []rune
	at   int // the cursor: before this character
}

func (e *editor) String() string { return string(e.text) }

// set replaces the text. The cursor is at its end.
func (e *editor) set(s string) { e.text = []rune(s); e.at = len(e.text) }

// insert types a text at the cursor. Line feeds stay, tabs become spaces, and other control characters are left out: they are keys.
func (e *editor) insert(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\t", "    "))
	in := []rune(s)
	e.text = append(e.text[:e.at:e.at], append(in, e.text[e.at:]...)...)
	e.at += len(in)
}

// remove deletes from a place to the cursor, or from the cursor to a place.
func (e *editor) remove(to int) {
	from, to := min(e.at, to), max(e.at, to)
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

// step returns the place that is one character to the left or the right, with the marks that combine.
func (e *editor) step(by int) int {
	at := e.at + by
	for at > 0 && at < len(e.text) && text.Width(string(e.text[at])) == 0 && e.text[at] != '\n' {
		at += by
	}
	return min(max(at, 0), len(e.text))
}

// word returns where the word to the left or the right begins or ends.
func (e *editor) word(by int) int {
	at, in := e.at, false
	for {
		next := at
		if by < 0 {
			next--
		}
		if next < 0 || next >= len(e.text) {
			return at
		}
		if r := e.text[next]; unicode.IsLetter(r) || unicode.IsDigit(r) {
			in = true
		} else if in {
			return at
		}
		at += by
	}
}

// lineStart and lineEnd are the ends of the line in which the cursor is.
func (e *editor) lineStart() int {
	at := e.at
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

func (e *editor) lineEnd() int {
	at := e.at
	for at < len(e.text) && e.text[at] != '\n' {
		at++
	}
	return at
}

// vertical moves the cursor one line up or down, and reports whether there is one.
func (e *editor) vertical(by int) bool {
	column := text.Width(string(e.text[e.lineStart():e.at]))
	was := e.at
	if by < 0 {
		e.at = e.lineStart() - 1
	} else {
		e.at = e.lineEnd() + 1
	}
	if e.at < 0 || e.at > len(e.text) {
		e.at = was
		return false
	}
	e.at = e.lineStart()
	for used := 0; e.at < len(e.text) && e.text[e.at] != '\n'; e.at++ {
		if used += text.Width(string(e.text[e.at])); used > column {
			break
		}
	}
	return true
}

// key handles a key, by the name that it has in Bubble Tea, and reports whether it was one of the editor's.
func (e *editor) key(name, typed string) bool {
	switch name {
	case "left", "ctrl+b":
		e.at = e.step(-1)
	case "right", "ctrl+f":
		e.at = e.step(1)
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.word(-1)
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.word(1)
	case "home", "ctrl+a":
		e.at = e.lineStart()
	case "end", "ctrl+e":
		e.at = e.lineEnd()
	case "backspace", "ctrl+h":
		e.remove(e.step(-1))
	case "delete":
		e.remove(e.step(1))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.remove(e.word(-1))
	case "alt+d":
		e.remove(e.word(1))
	case "ctrl+u":
		e.remove(e.lineStart())
	case "ctrl+k":
		e.remove(e.lineEnd())
	case "ctrl+j", "alt+enter", "shift+enter":
		e.insert("\n")
	default:
		if typed == "" {
			return false
		}
		e.insert(typed)
	}
	return true
}

// lines draws the text behind a prompt, wrapped to a width, with the place of the cursor. At most height lines are drawn: those around
// the cursor.
func (e *editor) lines(prompt ink.Line, width, height int) (out []ink.Line, x, y int) {
	indent := ink.Text("", strings.Repeat(" ", prompt.Width()))
	room := max(2, width-prompt.Width()-1) // the cursor may stand behind the last character
	row, used, from := 0, 0, 0
	first := true
	flush := func(to int) {
		lead := indent
		if first {
			lead, first = prompt, false
		}
		out = append(out, append(lead[:len(lead):len(lead)], ink.Span{Text: ink.Clean(string(e.text[from:to]))}))
		from, used = to, 0
		row++
	}
	for i := 0; ; i++ {
		w := 0
		if i < len(e.text) && e.text[i] != '\n' {
			w = text.Width(ink.Clean(string(e.text[i])))
		}
		if used+w > room {
			flush(i)
		}
		if i == e.at {
			x, y = prompt.Width()+used, row
		}
		if i == len(e.text) {
			break
		}
		if e.text[i] == '\n' {
			flush(i)
			from = i + 1
			continue
		}
		used += w
	}
	flush(len(e.text))
	top := max(0, min(y-height/2, len(out)-height))
	return out[top:min(len(out), top+height)], x, y - top
}
