// Package drive has what drives a session of the swarm: here, or in the background.
package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/agents"
	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/swarm/open"
	"mycelium/internal/atomicfile"
	"mycelium/internal/node/swarmed"
	"mycelium/internal/op/failure"
	"mycelium/internal/swarm"
	"mycelium/internal/swarm/book"
	"mycelium/internal/swarm/worker"
	"mycelium/internal/text"
	"mycelium/internal/tmux"
)

// unsafeProgram is the flag by which a person accepts that agents could change this program.
const unsafeProgram = "unsafe-program"

// WorkerFlags gives a command the flags that say how workers are started.
func WorkerFlags(a *open.App, c *cobra.Command) {
	c.Flags().BoolVar(&a.Anywhere, unsafeProgram, false, "run a myc that lies where an agent may write")
	agents.WallFlag(c.Flags(), &a.Wall, "each worker that is a Claude Code")
}

// app is the program as a driver.
type app struct{ *open.App }

// drivable refuses a session that nobody can drive here.
func (a *app) drivable(s *book.Session) error {
	if err := s.CheckClosed(); err != nil {
		return err
	}
	if !s.Open() {
		return failure.Hint(fmt.Errorf("session %s has ended: %s", s.ID, s.State.Words()),
			"myc swarm merge takes over what has landed; myc swarm retry FEATURE and myc swarm plan add open it again")
	}
	if s.State == book.Paused {
		return failure.Hint(errors.New("the session is paused"), "myc swarm resume")
	}
	return swarmed.Present(a.Environ, s.Settings.Runner)
}

// Auto drives the session, and tells what happens. Without the sandbox, a person is asked first.
func Auto(ctx context.Context, program *open.App, o *open.Swarm, s *book.Session, unsandboxed bool) error {
	a := &app{program}
	if err := a.drivable(s); err != nil {
		return err
	}
	s, err := a.bounds(ctx, o, s, unsandboxed)
	if err != nil {
		return err
	}
	if err := o.Auto(ctx, s.ID, "", 0); err != nil { // all of it, also what an agent began to start one by one
		return err
	}
	options, err := a.options(ctx, o, s)
	if err != nil {
		return err
	}
	if account := swarmed.AccountFor(s.Settings.Runner, a.Environ); account != "" {
		fmt.Fprintln(a.Err, "myc: "+swarmed.AccountLine(account))
	}
	told := make(chan struct{})
	follow, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(told)
		a.Follow(follow, o, s.ID)
	}()
	err = a.drive(ctx, o, options, s.ID)
	stop()
	<-told
	if ctx.Err() != nil {
		fmt.Fprintln(a.Err, "myc: the driver has ended; the workers go on\nhint: myc swarm auto drives them on, myc swarm pause stops them")
		return base.Exit{Code: 1}
	}
	return err
}

// lockWithin is how long a driver waits for its lock. A process that the last driver was about to start when it was killed has the lock
// until it has become a program of its own.
const lockWithin = time.Second

// drive drives a session. A lease of a driver that was killed does not hold this one up: its lock tells that it is gone.
func (a *app) drive(ctx context.Context, o *open.Swarm, options swarm.Options, id string) error {
	return a.driveAfter(ctx, o, options, id, lockWithin)
}

// driveAfter is drive for one who waits for the driver before it to end.
func (a *app) driveAfter(ctx context.Context, o *open.Swarm, options swarm.Options, id string, within time.Duration) error {
	lock, err := atomicfile.LockWait(o.DriverLock(), within)
	if errors.Is(err, atomicfile.ErrLocked) {
		err = failure.Hint(errors.New("another process drives the swarm of this project"), "myc swarm status says which")
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	driver, err := o.Driver(ctx, id)
	if err == nil && driver != "" {
		err = o.Release(ctx, id, driver)
	}
	if err != nil {
		return err
	}
	defer a.tellPeople(ctx, o, id)()
	return swarm.New(options, id).Run(ctx)
}

// options are what the driver of a session stands on.
func (a *app) options(ctx context.Context, o *open.Swarm, s *book.Session) (swarm.Options, error) {
	g, err := o.Ground(ctx, s.ID)
	if err != nil {
		return swarm.Options{}, err
	}
	host, _ := os.Hostname()
	self, err := os.Executable()
	if err != nil {
		return swarm.Options{}, fmt.Errorf("find this program: %w", err)
	}
	rights, err := a.Rights(o)
	if err != nil {
		return swarm.Options{}, err
	}
	return swarm.Options{Book: o.Book, Rights: rights, Ask: a.Ask(s.Settings.Role, s.Settings.Model), Ground: g, Folder: o.Folder,
		Anywhere: a.Anywhere, Wall: string(a.Wall), Logger: a.Logger(),
		Holder: fmt.Sprintf("myc swarm auto, process %d on %s", os.Getpid(), host),
		Start: func(ctx context.Context, folder worker.Folder, window string) error {
			return a.startWorker(ctx, o, self, folder, window)
		},
		Verify: func(ctx context.Context, tree string, argv []string) (swarm.Checked, error) {
			return a.verify(ctx, o, tree, argv, s.Unsandboxed != nil)
		},
		Governs: func(path string) bool { return swarmed.Governs(g.Prefix(), path) },
	}, nil
}

// startWorker starts a worker in a terminal of its own.
func (a *app) startWorker(ctx context.Context, o *open.Swarm, self string, folder worker.Folder, window string) error {
	server, err := swarmed.Terminals(o.Paths, a.Getenv("XDG_RUNTIME_DIR"))
	if err != nil {
		return err
	}
	order, _, err := folder.Order()
	if err != nil {
		return err
	}
	server.Env = swarmed.WorkerEnviron(a.Environ, order.Runner)
	argv := []string{self, "-C", o.Dir}
	argv = append(append(argv, o.Paths.Pin()...), "swarm", "worker", string(folder))
	_, err = server.Open(ctx, tmux.Window{Session: window, Name: window, Dir: o.Dir, Command: argv})
	if err != nil {
		return text.Hinted(err, "the swarm needs tmux")
	}
	return nil
}

// verify runs a command on a working tree, in the sandbox or without.
func (a *app) verify(ctx context.Context, o *open.Swarm, tree string, argv []string, without bool) (swarm.Checked, error) {
	return swarmed.Verify(ctx, swarmed.Place{Project: o.Project, State: o.Paths, Environ: a.Environ, Unsandboxed: without}, tree, argv)
}
