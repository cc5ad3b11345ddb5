//go:build amd64 || arm64

package jail

import (
	"bufio"
	"errors"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Main is the body of the child. It returns the exit code of the command.
func Main() int {
	// The command gets the three streams and nothing else that somebody left open.
	closeErr := unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	_ = os.WriteFile("/proc/self/comm", []byte("myc"), 0) // else lists of processes would have the number of a descriptor
	build := Build()
	control := os.NewFile(controlFD, "sandbox")
	c := &child{control: control, in: bufio.NewReader(control), spec: &Spec{}}
	if closeErr != nil {
		c.say(report{Failed: failed(User, "close what is open (Linux 5.11 or later)", closeErr)})
		return 1
	}
	c.say(report{Build: build})
	if err := c.receive(); err != nil {
		_, _ = os.Stderr.WriteString("myc: no command on descriptor 3 (this command is started by Mycelium, not by people)\n")
		return 2
	}
	if c.spec.Build != build {
		c.say(report{Failed: &StageError{Layer: User, Doing: "start the program again", Cause: "it is of another build than the first one"}})
		return 1
	}
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		return c.main()
	}
	// The first thread stands for the process: whoever asks the kernel about process 1 is compared with it. It stays outside of the walls
	// of the command, so that Landlock keeps the command from it too.
	code := make(chan int)
	go func() {
		runtime.LockOSThread() // another thread, because the first one is locked
		code <- c.main()
	}()
	return <-code
}

// main builds the walls for this thread, and runs the command from it.
func (c *child) main() int {
	if err := c.build(); err != nil {
		c.say(report{Failed: err})
		return 1
	}
	go func() {
		c.connect()
		os.Exit(1) // the parent is gone: nobody waits for the command any more
	}()
	return c.run()
}

// receive takes over the streams, which come with the first byte, and reads the specification.
func (c *child) receive() error {
	first := make([]byte, 1)
	n, fds, err := receive(controlFD, first, 3)
	if err != nil || n == 0 {
		return errors.Join(err, io.ErrUnexpectedEOF)
	}
	if len(fds) != 3 {
		return errors.New("the streams did not come")
	}
	for i, fd := range fds {
		if err := unix.Dup3(fd, i, 0); err != nil {
			return err
		}
		_ = unix.Close(fd)
	}
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(append(first, line...), c.spec)
}

// child is the state of the child before the command runs.
type child struct {
	in      *bufio.Reader // of control
	spec    *Spec
	control *os.File
	abi     int

	listeners []int // descriptors, for the parent
	ports     []int // those of the last ones
}

// say sends the one report.
func (c *child) say(r report) {
	r.ABI, r.Ports = c.abi, c.ports
	data, err := json.Marshal(r)
	if err != nil {
		return
	}
	_ = send(int(c.control.Fd()), append(data, '\n'), c.listeners...) // where it fails, the parent is gone
	for _, fd := range c.listeners {
		_ = unix.Close(fd) // only the parent has them
	}
	c.listeners = nil
}

func (c *child) has(l Layer) bool { return !slices.Contains(c.spec.Without, l) }

// build builds every layer, in order. The last ones hold for this thread and for what it starts.
func (c *child) build() *StageError {
	switch {
	case c.spec.Backend.Other():
		if err := c.complete(); err != nil {
			return err
		}
	case c.has(Mount):
		if err := c.root(); err != nil {
			return err
		}
	}
	if c.has(Net) && !c.spec.Network {
		if !c.spec.Backend.Other() { // which have done it
			if err := loopback(); err != nil {
				return failed(Net, "bring up the loopback", err)
			}
		}
		if err := c.listen(); err != nil {
			return failed(Net, "listen on the loopback", err)
		}
	}
	if c.has(PID) && c.spec.Host != "" && !c.spec.Backend.Other() {
		if err := unix.Sethostname([]byte(c.spec.Host)); err != nil {
			return failed(PID, "set the host name", err)
		}
	}
	if err := os.Chdir(c.spec.Dir); err != nil {
		return failed(Mount, "enter "+c.spec.Dir, err)
	}
	if err := c.limits(); err != nil {
		return err
	}
	for _, layer := range []struct {
		layer Layer
		build func() *StageError
	}{{Privilege, c.dropPrivileges}, {Landlock, c.landlock}, {Seccomp, c.seccomp}} {
		if !c.has(layer.layer) {
			continue
		}
		if err := layer.build(); err != nil {
			return err
		}
	}
	return nil
}

// failed makes the report of a step.
func failed(l Layer, doing string, err error) *StageError {
	out := &StageError{Layer: l, Doing: doing, Cause: err.Error()}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		out.Errno, out.Cause = int(errno), errno.Error()
	}
	return out
}

// run starts the command and waits for it. A command that may not start processes takes the place of this one.
func (c *child) run() int {
	program, err := lookPath(c.spec.Argv[0], c.spec.Env)
	if err != nil {
		c.say(report{Start: err.Error()})
		return 127
	}
	if !c.spec.Fork && c.has(Seccomp) {
		c.say(report{})
		err := syscall.Exec(program, c.spec.Argv, c.spec.Env) //nolint:gosec // the command that was asked for
		_, _ = os.Stderr.WriteString("myc: " + c.spec.Argv[0] + ": " + err.Error() + "\n")
		return 126
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	pid, err := syscall.ForkExec(program, c.spec.Argv, &syscall.ProcAttr{Env: c.spec.Env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		c.say(report{Start: c.spec.Argv[0] + ": " + err.Error()})
		return 126
	}
	c.say(report{})
	go func() {
		for s := range signals {
			_ = syscall.Kill(pid, s.(syscall.Signal))
		}
	}()
	return reap(pid)
}

// reap waits for the command, and takes the zombies of what it left behind. Its exit ends them all.
func reap(pid int) int {
	for {
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1
		case got != pid:
		case ws.Signaled():
			return 128 + int(ws.Signal())
		case ws.Exited():
			return ws.ExitStatus()
		}
	}
}
