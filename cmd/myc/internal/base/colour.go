package base

import (
	"os"
	"strings"

	"golang.org/x/term"
)

// Colour is how a text looks on a terminal: a parameter of the escape sequence SGR (ECMA-48, 8.3.117).
type Colour string

// The colours of tables.
const (
	Plain  Colour = ""
	Bold   Colour = "1"
	Faint  Colour = "2"
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
)

// Coloured reports whether the output may have colours: it is a terminal, and the person has not refused them.
func (a *App) Coloured() bool {
	return !a.NoColor && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb" && OutputIsTerminal(a.Out)
}

// Paint returns a text in a colour where the output may have colours.
func (a *App) Paint(c Colour, s string) string {
	if c == Plain || !a.Coloured() {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// usualWidth is the width of a terminal that does not tell it: that of the VT100.
const usualWidth = 80

// Width is the number of cells of a line of the terminal, or of the screen that shows the output; 0 where the output is no terminal.
func (a *App) Width() int {
	if s, ok := a.Out.(interface{ Width() int }); ok {
		return s.Width()
	}
	f, ok := a.Out.(*os.File)
	if !ok || !OutputIsTerminal(f) {
		return 0
	}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return usualWidth
}

// ByEffect is the colour of an effect, an outcome or a state, which more words may follow ("failed until 12:00").
func ByEffect(cell string) Colour {
	switch word, _, _ := strings.Cut(cell, " "); word {
	case "allow", "ok", "ready", "active", "visible":
		return Green
	case "ask", "unfinished", "pending", "starting":
		return Yellow
	case "deny", "denied", "error", "unknown", "disabled", "failed":
		return Red
	}
	return Plain
}
