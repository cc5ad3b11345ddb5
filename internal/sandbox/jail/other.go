//go:build !linux || !(amd64 || arm64)

package jail

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"
)

// Jailed is a command that runs.
type Jailed struct {
	ABI      int
	Listener net.Listener
	Local    map[int]net.Listener

	seated *seated
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

// Begun is a command that is about to start: there is no child.
type Begun struct {
	options Options
	ctx     context.Context //nolint:containedctx // the life of the command
	end     context.CancelCauseFunc
}

// Begin starts nothing.
func Begin(ctx context.Context, _ Self, o Options) *Begun {
	b := &Begun{options: o}
	b.ctx, b.end = context.WithCancelCause(ctx)
	return b
}

// Has reports whether the command was begun with these options.
func (b *Begun) Has(o Options) bool {
	return b.options.Network == o.Network && b.options.Grace == o.Grace && b.options.Backend == o.Backend &&
		slices.Equal(b.options.Without, o.Without)
}

// Waits reports whether the command can be started.
func (b *Begun) Waits() bool { return b.ctx.Err() == nil }

// Start starts a command by [Seatbelt], and refuses every other back end.
func (b *Begun) Start(spec *Spec, streams Streams) (*Jailed, error) {
	if b.options.Backend != Seatbelt {
		return nil, &StageError{Layer: User, Doing: MakeSpaces, Cause: "there is no sandbox for " + runtime.GOOS + "/" + runtime.GOARCH}
	}
	s, err := sit(b.ctx, b.options.Grace, spec, streams)
	if err != nil {
		return nil, err
	}
	return &Jailed{seated: s, Listener: s.listener}, nil
}

// End ends the command as the end of the context does, for a reason.
func (b *Begun) End(why error) { b.end(why) }

// Ended returns the reason why the command was ended, or that of the context; nil if neither ended it.
func (b *Begun) Ended() error { return context.Cause(b.ctx) }

// Close lets go of the context.
func (b *Begun) Close() { b.end(nil) }

// StartError says that the program could not be started in the walls.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return "start the command in the sandbox: " + e.Reason }

// Start refuses.
func Start(ctx context.Context, self Self, spec *Spec, streams Streams) (*Jailed, error) {
	return Begin(ctx, self, Options{Network: spec.Network, Without: spec.Without, Backend: spec.Backend}).Start(spec, streams)
}

// Wait waits for the end of the command. It returns its exit code, 128 and the signal if one ended it.
func (j *Jailed) Wait() (code int, most uint64, err error) { return j.seated.wait() }

// Dial finds nobody: the command has no loopback of its own.
func (*Jailed) Dial(int) (net.Conn, error) { return nil, net.ErrClosed }

// Listen listens nowhere.
func (*Jailed) Listen(int) (net.Listener, error) { return nil, net.ErrClosed }

// Ports are none.
func (*Jailed) Ports() []int { return nil }

// Bound reports whether a program may have a path socket.
func Bound(*os.Root, string) bool { return true }

// Main is the body of the child.
func Main() int { return 1 }

// BeginAround refuses.
func BeginAround(Self, Around, *exec.Cmd) error {
	return &StageError{Layer: User, Doing: MakeSpaces, Cause: "there is no light wall for " + runtime.GOOS + "/" + runtime.GOARCH}
}

// AroundMain is the body of the child of the light wall.
func AroundMain() int { return 1 }

// Lost has no mounts to look at.
func Lost(int, []Point) ([]Point, error) {
	return nil, errors.New("there is no light wall for " + runtime.GOOS)
}
