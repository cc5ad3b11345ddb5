//go:build !linux || !(amd64 || arm64)

package jail

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"time"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Grace    time.Duration // from SIGTERM to SIGKILL when the context ends; 0: SIGKILL at once
}

// Jailed is a command that runs.
type Jailed struct {
	ABI      int
	Listener net.Listener
}

// StartError says that the program could not be started in the walls.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return "start the command in the sandbox: " + e.Reason }

// Start refuses: there is no sandbox for this system.
func Start(context.Context, []string, *Spec, Streams) (*Jailed, error) {
	return nil, &StageError{Layer: User, Doing: "make the namespaces", Cause: "there is no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH}
}

// Wait has nothing to wait for.
func (*Jailed) Wait() (code int, most uint64, err error) { return 0, 0, errors.New("nothing runs") }

// Bound reports whether a program may have a path socket.
func Bound(*os.Root, string) bool { return true }

// Main is the body of the child.
func Main() int { return 1 }
