//go:build !linux

package keeper

import (
	"context"
	"errors"
	"log/slog"
)

// Run is the body of the keeper process. It needs a sub-reaper, which only Linux has.
func Run() error { return errors.New("the keeper process exists on Linux only") }

// New starts processes as children of this one: there is no keeper on this system.
func New([]string, []string, string, *slog.Logger) Spawner { return &direct{} }

// EndLeft does nothing: there was no keeper.
func EndLeft(context.Context, string, *slog.Logger) error { return nil }
