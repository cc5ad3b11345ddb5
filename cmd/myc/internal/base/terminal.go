package base

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

func OutputIsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// StdinIsTerminal reports whether a person types. A character device alone is none: /dev/null is one.
func StdinIsTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Agreed asks a person at a terminal; no answer is a no.
func (a *App) Agreed(question string) bool {
	fmt.Fprint(a.Err, question)
	line, err := bufio.NewReader(a.In).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}
