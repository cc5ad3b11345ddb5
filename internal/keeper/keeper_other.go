//go:build !linux

package keeper

import (
	"errors"
	"log/slog"
)

// Run is the body of the keeper process. It needs a sub-reaper, which only Linux has.
func Run() error { return errors.New("the keeper process exists on Linux only") }

// New starts processes as children of this one: there is no keeper on this system.
func New([]string, []string, *slog.Logger) Spawner { return &direct{} }
