package keeper

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Process is a running child process, in a process group of its own.
type Process struct {
	PID                   int
	Stdin, Stdout, Stderr *os.File      // our ends of its pipes; they take deadlines
	Exited                chan struct{} // closed when the process has exited

	stopGroup func(grace time.Duration) // ends the process group and waits for it

	mu         sync.Mutex
	status     string
	keeperDied bool
}

// Status says how the process ended, in the words of os/exec. It is empty while the process runs.
func (p *Process) Status() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// KeeperDied reports whether the process was killed because its keeper died. The process itself is not at fault then.
func (p *Process) KeeperDied() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keeperDied
}

// exit records how the process ended. It is called once.
func (p *Process) exit(status string, keeperDied bool) {
	p.mu.Lock()
	p.status, p.keeperDied = status, keeperDied
	p.mu.Unlock()
	close(p.Exited)
}

// Stop ends the process and its group, and returns when both are gone. The caller has closed Stdin before: the process has a fifth
// of the grace to exit because of that. Then the group gets SIGTERM, and SIGKILL when the grace is over.
func (p *Process) Stop(grace time.Duration) {
	first := time.NewTimer(grace / 5)
	defer first.Stop()
	select {
	case <-p.Exited:
		grace /= 5 // the rest of the group has no reason to stay
	case <-first.C:
		grace -= grace / 5
	}
	p.stopGroup(grace)
}

// Spawner starts processes.
type Spawner interface {
	// Spawn starts a program in a process group of its own. argv begins with an absolute path; the environment is exactly env.
	Spawn(argv, env []string, dir string) (*Process, error)
	// Close ends every process that still runs and waits for its end.
	Close()
}

// pipes are the three standard streams of a process, both ends.
type pipes struct{ ours, child [3]*os.File }

// pipeSize is the capacity of the pipe for standard output, in bytes. With the system's 64 KiB a larger message would cross in
// pieces, and both sides would wake up for each piece.
const pipeSize = 256 << 10

// newPipes makes the pipes. Our ends take deadlines; the child's ends are plain blocking files.
func newPipes() (*pipes, error) {
	var p pipes
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(p.ours[:])
			closeAll(p.child[:])
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		if i == 0 {
			p.child[i], p.ours[i] = r, w
		} else {
			p.ours[i], p.child[i] = r, w
		}
		if i == 1 { // standard input stays small: a process that does not read it must be noticed soon
			enlargePipe(r)
		}
	}
	return &p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// startError drops the parts of an exec error that repeat the command line, which may hold secrets.
func startError(err error) error {
	var pathErr *os.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("start process: %w", err)
}
