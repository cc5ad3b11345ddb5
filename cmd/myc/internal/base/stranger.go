package base

import (
	"context"
	"errors"
	"fmt"

	"mycelium/internal/daemon"
	"mycelium/internal/node"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// hintStranger says how to mend it if an error says that something else answers at the daemon's socket, and records that.
func (a *App) hintStranger(ctx context.Context, err error) error {
	var s *daemon.StrangerError
	if !errors.As(err, &s) {
		return err
	}
	if nerr := node.NoteStranger(ctx, &a.Loader, s, "cli"); nerr != nil {
		a.Logger().Warn("record who answers at the daemon's socket", "err", nerr)
	}
	return failure.Hint(err, fmt.Sprintf("a daemon of another version: myc stop -f ends it. Anything else: look at it (ps -fp %d) and end it "+
		"(kill %[1]d); until then hooks decide by the accepted files", s.PID))
}

// WarnStranger reports whether an error says that something else answers at the daemon's socket, and warns of it: an owner takes the
// socket from it.
func (a *App) WarnStranger(err error) bool {
	var s *daemon.StrangerError
	if !errors.As(err, &s) {
		return false
	}
	fmt.Fprintf(a.Err, "myc: warning: %s\n", text.OneLine(s.Error()))
	return true
}
