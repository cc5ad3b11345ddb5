// Package base is what every family of commands stands on: the streams and flags of a run, tables, exit codes, and the client of the
// node.
package base

import (
	"fmt"
	"io"

	"mycelium/internal/node/project"
)

// App is one run of the program: its streams, the global flags and the project that they name.
type App struct {
	project.Loader
	In      io.Reader
	Out     io.Writer
	JSON    bool
	NoColor bool
}

// Exit ends a command with the exit code of another program, and prints nothing.
type Exit struct{ Code int }

// ExitWith is the error for an exit code; nil for 0.
func ExitWith(code int) error {
	if code == 0 {
		return nil
	}
	return Exit{code}
}

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", e.Code) }
