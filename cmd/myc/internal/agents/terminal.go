package agents

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// AtTerminal starts the program at the terminal of this process, as a person would start it. gone gets how it ended; end ends it, and waits
// for that. It dies with this process.
func (l *Launch) AtTerminal(path string, args []string) (gone <-chan error, end func(grace time.Duration), err error) {
	cmd := exec.Command(path, append(l.Options, args...)...) //nolint:noctx,gosec // end ends it; the program is the one that was found
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Environ, l.Dir, os.Stdin, os.Stdout, os.Stderr
	started, ended, over := make(chan error), make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the program dies with the thread that starts it
		defer runtime.UnlockOSThread()
		err := l.begin(cmd)
		if started <- err; err == nil {
			ended <- cmd.Wait()
			close(over)
		}
	}()
	if err := <-started; err != nil {
		return nil, nil, err
	}
	return ended, func(grace time.Duration) {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			_ = cmd.Process.Signal(signal)
			late := time.NewTimer(grace)
			select {
			case <-over:
				late.Stop()
				return
			case <-late.C:
			}
		}
		<-over
	}, nil
}
