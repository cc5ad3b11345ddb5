package keeper

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper is two processes, and each ends what the other leaves. The owner starts the guard, which only waits; the guard starts the one
// that keeps the servers. If the second is killed, its descendants become those of the guard, which is a sub-reaper too, and the guard
// kills them, wherever they hid. If the guard is killed, the other one ends everything. So nothing stays if the owner is killed in the
// same moment as one of the two. What stays if all three are killed is found by the next start ([EndLeft]).

// guardedVar is set in the environment of the keeper that has a guard. Servers do not get that environment.
const guardedVar = "MYCELIUM_KEEPER_GUARDED"

// guardFD is the descriptor of a pipe in the keeper that has a guard. It ends when the guard does.
const guardFD = 5

// guard starts the keeper of the servers, and returns when it and everything that it left have ended. started is false where it cannot be
// started.
func guard() (started bool, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return false, fmt.Errorf("keeper: become a sub-reaper: %w", err)
	}
	exe, err := os.Executable()
	if err != nil {
		return false, err
	}
	alive, ours, err := os.Pipe()
	if err != nil {
		return false, err
	}
	defer func() { _ = ours.Close() }()
	const none = ^uintptr(0)
	files := []uintptr{0, 1, 2, none, none, alive.Fd()} // the runtime has descriptors of its own, with the numbers that are free
	if isKind(socketFD, unix.S_IFSOCK) {
		files[socketFD] = socketFD
	}
	if isKind(recordFD, unix.S_IFREG) {
		files[recordFD] = recordFD
	}
	pid, err := syscall.ForkExec(exe, os.Args, &syscall.ProcAttr{ // #nosec G702 -- our own program with its own arguments
		Dir: "/", Env: append(os.Environ(), guardedVar+"=1"), Files: files, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	_ = alive.Close()
	if err != nil {
		return false, err
	}
	for _, fd := range socketFDs {
		if isKind(fd, unix.S_IFSOCK) {
			_ = unix.Close(fd) // else the owner would not notice the end of the keeper
		}
	}
	caught := make(chan os.Signal, 1) // as in Run
	signal.Notify(caught, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	defer signal.Stop(caught)
	for {
		var status unix.WaitStatus
		switch ended, err := unix.Wait4(-1, &status, 0, nil); {
		case errors.Is(err, unix.EINTR), err == nil && ended != pid:
			continue
		case err != nil:
			return true, fmt.Errorf("keeper: wait for the keeper of the servers: %w", err)
		}
		if status.Exited() {
			return true, exitError(status.ExitStatus())
		}
		killDescendants()
		return true, fmt.Errorf("keeper: the keeper of the servers ended (%s)", exitText(status))
	}
}

// exitError is the end of the keeper that has said why on its standard error.
func exitError(code int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("keeper: exit status %d", code)
}

// killDescendants kills every descendant, and waits until none is left or killWithin is over. A process that was started while the others
// were killed is found when its parent has ended.
func killDescendants() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			signalAll(unix.SIGKILL)
			for wait := 0; ; wait = unix.WNOHANG { // for one, and then for all that have ended
				ended, err := unix.Wait4(-1, nil, wait, nil)
				if err != nil && !errors.Is(err, unix.EINTR) {
					return // no child is left
				}
				if ended == 0 {
					break
				}
			}
		}
	}()
	select {
	case <-gone:
	case <-time.After(killWithin):
	}
}

// whenGuardEnds calls end when the guard is gone.
func whenGuardEnds(end func()) {
	unix.CloseOnExec(guardFD)
	pipe := os.NewFile(guardFD, "guard")
	go func() {
		_, _ = pipe.Read(make([]byte, 1)) // nothing is ever written
		end()
	}()
}
