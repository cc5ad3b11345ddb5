// Package base is what every family of commands stands on: the streams and flags of a run, tables, failures, and the client of the node.
package base

import (
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
