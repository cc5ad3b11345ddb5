package base

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
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

// Editor opens a file in $VISUAL or $EDITOR, else in vi, and returns when the person has left the editor.
func Editor(ctx context.Context, a *App, path string) error {
	program := cmp.Or(a.Getenv("VISUAL"), a.Getenv("EDITOR"), "vi")
	//nolint:gosec // the person's own editor, which may have arguments
	run := exec.CommandContext(ctx, "sh", "-c", program+` "$1"`, "sh", path)
	run.Stdin, run.Stdout, run.Stderr, run.Env = a.In, a.Out, a.Err, a.Environ
	if err := run.Run(); err != nil {
		return fmt.Errorf("the editor %s: %w", program, err)
	}
	return nil
}

// OpenBrowser opens an address if there is a browser. The address is printed in any case.
func OpenBrowser(ctx context.Context, a *App, address string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	} else if a.Getenv("DISPLAY") == "" && a.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if path, err := exec.LookPath(program); err == nil {
		cmd := exec.CommandContext(ctx, path, address)
		if cmd.Start() == nil {
			_ = cmd.Process.Release()
		}
	}
}
