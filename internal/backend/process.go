package backend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// MarkVar is the variable by which the keeper knows the processes of a server again that have left its group: a session of their own, or a
// parent that is gone. The kernel keeps the environment that a program was started with (proc(5), /proc/PID/environ); one that was started
// with another environment is found only at the end of the keeper. It also tells what a server runs from what a person does.
const MarkVar = "MYCELIUM_SERVER"

// process is a running server, in a process group of its own.
type process struct {
	pid                   int
	stdin, stdout, stderr *os.File
	exited                chan struct{} // closed when the process is gone
	stop                  func(grace time.Duration)

	mu        sync.Mutex
	status    string
	blameless bool // its end is not its own doing
}

// blamelessError is the end of a server that is not held against it.
type blamelessError struct{ error }

func (e blamelessError) Unwrap() error { return e.error }

// verdict is err, the end of the process, as what it counts for.
func (p *process) verdict(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blameless {
		return blamelessError{err}
	}
	return err
}

// how tells how it ended.
func (p *process) how() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// gone records the end. It is called once.
func (p *process) gone(status string) {
	p.mu.Lock()
	p.status = status
	p.mu.Unlock()
	close(p.exited)
}

// end ends the process and its group, and returns when they are gone: the closed input has a fifth of the grace to work, then comes
// SIGTERM, and after the grace SIGKILL.
func (p *process) end(grace time.Duration) {
	patience := time.NewTimer(grace / 5)
	defer patience.Stop()
	select {
	case <-p.exited:
		grace /= 5 // who is left of its group has no reason to stay
	case <-patience.C:
		grace -= grace / 5
	}
	p.stop(grace)
}

// spawner starts processes.
type spawner interface {
	// spawn starts a program in a group of its own. The environment is exactly env.
	spawn(argv, env []string, dir string) (*process, error)
	// close ends what is left and waits for it.
	close()
}

// direct starts processes as children of this one. It is used where there is no keeper: it cannot end what it started when this process is
// killed, nor grandchildren that left their group.
type direct struct{ wg sync.WaitGroup }

func (d *direct) spawn(argv, env []string, dir string) (*process, error) {
	ends, err := newPipes()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: env, Dir: dir, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if env == nil {
		cmd.Env = []string{}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.child[0], ends.child[1], ends.child[2]
	err = cmd.Start()
	closeAll(ends.child[:])
	if err != nil {
		closeAll(ends.ours[:])
		return nil, startError(err)
	}
	p := &process{pid: cmd.Process.Pid, stdin: ends.ours[0], stdout: ends.ours[1], stderr: ends.ours[2], exited: make(chan struct{})}
	p.stop = func(grace time.Duration) { endGroup(p, grace) }
	d.wg.Go(func() {
		err := cmd.Wait()
		status := "exit status 0"
		if err != nil {
			status = err.Error()
		}
		p.gone(status)
	})
	return p, nil
}

func (d *direct) close() { d.wg.Wait() }

// endGroup ends a process group that is not ours to reap: it can only be asked whether somebody is left.
func endGroup(p *process, grace time.Duration) {
	_ = syscall.Kill(-p.pid, syscall.SIGTERM)
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for killed := false; ; <-tick.C {
		if errors.Is(syscall.Kill(-p.pid, 0), syscall.ESRCH) {
			break
		}
		if time.Now().Before(deadline) {
			continue
		}
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		if killed { // whoever is left is a zombie of somebody else's
			break
		}
		killed = true
	}
	<-p.exited
}

// pipes are the three standard streams of a process, both ends.
type pipes struct{ ours, child [3]*os.File }

// pipeSize is how much of a message a pipe holds, in bytes: with the system's 64 KiB a larger one would be carried over in pieces, and
// both sides would wake up for each.
const pipeSize = 256 << 10

// newPipes makes them: our ends take deadlines, the child's are plain.
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
		if i == 1 { // what it answers; an input that nobody reads is to be noticed soon
			widen(r)
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
