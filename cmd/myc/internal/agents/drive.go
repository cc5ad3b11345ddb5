package agents

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"mycelium/internal/agent"
	"mycelium/internal/keeper"
	"mycelium/internal/text"
)

// Start starts the program with its standard streams for our own agent, in a process group of its own: an interrupt at the terminal is for
// us. It dies with this process.
func (l *Launch) Start(path string, args []string) (*agent.Program, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		_, _ = childIn.Close(), in.Close()
		return nil, err
	}
	stderr := &keeper.Tail{Most: maxTail}
	cmd := exec.Command(path, args...) //nolint:noctx,gosec // the engine ends it; the program is the one that was found
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Environ, l.Dir, childIn, childOut, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	started, gone := make(chan error), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the program dies with the thread that starts it
		defer runtime.UnlockOSThread()
		err := l.begin(cmd)
		_, _ = childIn.Close(), childOut.Close()
		if started <- err; err == nil {
			gone <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		_, _ = in.Close(), out.Close()
		return nil, err
	}
	end := func(grace time.Duration) error {
		defer out.Close()
		return endGroup(cmd.Process.Pid, gone, grace)
	}
	return &agent.Program{In: in, Out: out, End: end, Stderr: func() string { return text.Visible(stderr.String()) }}, nil
}

// endGroup waits for a program whose input has ended. After a time its group is asked to end, and then ended.
func endGroup(pid int, gone <-chan error, grace time.Duration) error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		late := time.NewTimer(grace)
		select {
		case err := <-gone:
			late.Stop()
			return err
		case <-late.C:
			_ = syscall.Kill(-pid, signal)
		}
	}
	return <-gone
}

// maxTail is how much of what a program says on stderr is kept, in bytes.
const maxTail = 4 << 10

// proxied reports whether an environment sends HTTP to a proxy. Events and their token are not for a proxy, so a program asks the daemon.
func proxied(environ []string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		name, value, _ := strings.Cut(strings.ToUpper(kv), "=")
		return value != "" && slices.Contains([]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}, name)
	})
}
