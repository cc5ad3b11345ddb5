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
}

// Jailed is a command that runs.
type Jailed struct {
	ABI      int
	Listener net.Listener
}

// Self says how the child is started.
type Self struct {
	Argv  []string
	Small string
}

// Options are what is known of a command before its specification.
type Options struct {
	Network bool
	Without []Layer
	Backend Backend
	Grace   time.Duration
}

// Begun is a child that waits for its command.
type Begun struct{}

// Begin starts nothing: there is no sandbox for this system.
func Begin(context.Context, Self, Options) *Begun { return &Begun{} }

// Has has nothing to compare.
func (*Begun) Has(Options) bool { return true }

// Start refuses.
func (*Begun) Start(*Spec, Streams) (*Jailed, error) {
	return nil, &StageError{Layer: User, Doing: "make the namespaces", Cause: "there is no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH}
}

// End has nothing to end.
func (*Begun) End(error) {}

// Ended says that nothing ended it.
func (*Begun) Ended() error { return nil }

// Close has nothing to end.
func (*Begun) Close() {}

// StartError says that the program could not be started in the walls.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return "start the command in the sandbox: " + e.Reason }

// Start refuses.
func Start(ctx context.Context, self Self, spec *Spec, streams Streams) (*Jailed, error) {
	return Begin(ctx, self, Options{}).Start(spec, streams)
}

// Wait has nothing to wait for.
func (*Jailed) Wait() (code int, most uint64, err error) { return 0, 0, errors.New("nothing runs") }

// Bound reports whether a program may have a path socket.
func Bound(*os.Root, string) bool { return true }

// Main is the body of the child.
func Main() int { return 1 }
