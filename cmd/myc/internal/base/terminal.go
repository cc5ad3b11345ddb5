package base

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// OutputIsTerminal reports whether a person reads. A character device is not enough: /dev/null is one.
func OutputIsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// StdinIsTerminal reports whether a person types.
func StdinIsTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Confirm asks a person at a terminal. Every answer but y is a no.
func (a *App) Confirm(question string) bool {
	answer, ok := Ask(a, question)
	return ok && strings.EqualFold(answer, "y")
}

// ConfirmUnless asks a person at a terminal. The key Enter is a yes, and so is y; anything else is a no.
func (a *App) ConfirmUnless(question string) bool {
	answer, ok := Ask(a, question)
	return ok && (answer == "" || strings.EqualFold(answer, "y"))
}

// Ask returns the answer of a person, a line; false if none came.
func Ask(a *App, question string) (string, bool) {
	fmt.Fprint(a.Err, question)
	line, err := bufio.NewReader(a.In).ReadString('\n')
	return strings.TrimSpace(line), err == nil
}
