//go:build !linux

package backend

import (
	"errors"
	"log/slog"
)

// RunKeeper is the body of the keeper process. It needs a sub-reaper, which only Linux has.
func RunKeeper() error { return errors.New("the keeper process exists on Linux only") }

// newSpawner starts processes as our own children: there is no keeper here.
func newSpawner([]string, variables, *slog.Logger) spawner { return &direct{} }
