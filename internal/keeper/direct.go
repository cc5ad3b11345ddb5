package keeper

import (
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// direct starts processes as children of this process, where there is no keeper. It cannot end them when this process is killed, nor
// grandchildren that left their group.
type direct struct{ wg sync.WaitGroup }

// Spawn starts a program as a child of this process.
func (d *direct) Spawn(argv, env []string, dir string) (*Process, error) {
	ends, err := newPipes()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Env: env, Dir: dir, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if env == nil {
		cmd.Env = []string{} // nil would mean the environment of this process
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends.child[0], ends.child[1], ends.child[2]
	err = cmd.Start()
	closeAll(ends.child[:])
	if err != nil {
		closeAll(ends.ours[:])
		return nil, startError(err)
	}
	p := &Process{PID: cmd.Process.Pid, Stdin: ends.ours[0], Stdout: ends.ours[1], Stderr: ends.ours[2], Exited: make(chan struct{})}
	p.stopGroup = func(grace time.Duration) { stopChild(p, grace) }
	d.wg.Go(func() {
		err := cmd.Wait()
		status := "exit status 0"
		if err != nil {
			status = err.Error()
		}
		p.exit(status, false)
	})
	return p, nil
}

// Close waits until every process has exited.
func (d *direct) Close() { d.wg.Wait() }

// stopChild ends the process group of a child. Grandchildren are not ours to reap: we can only ask whether the group still exists.
func stopChild(p *Process, grace time.Duration) {
	_ = syscall.Kill(-p.PID, syscall.SIGTERM)
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for killed := false; ; <-tick.C {
		if errors.Is(syscall.Kill(-p.PID, 0), syscall.ESRCH) {
			break
		}
		if time.Now().Before(deadline) {
			continue
		}
		_ = syscall.Kill(-p.PID, syscall.SIGKILL)
		if killed { // what is left are zombies of other parents
			break
		}
		killed = true
	}
	<-p.Exited
}
