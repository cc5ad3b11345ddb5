//go:build amd64 || arm64

package jail

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Streams are the standard streams of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	Grace time.Duration // from SIGTERM to SIGKILL when the context ends; 0: SIGKILL at once
}

// controlFD is the descriptor of the child's socket. The specification comes through it, and the child's report goes back. The child ends
// when the other end closes, however the parent ended.
const controlFD = 3

// report is what the child says once, before the command runs.
type report struct {
	Failed *StageError `json:"failed,omitzero"`
	Start  string      `json:"start,omitzero"` // why the program could not be started
	ABI    int         `json:"abi,omitzero"`   // of Landlock
}

// StartError says that the walls stand and the program could not be started in them: it is not there, or cannot be executed.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return "start the command in the sandbox: " + e.Reason }

// Jailed is a command that runs.
type Jailed struct {
	ABI      int          // of Landlock, by the kernel's count
	Listener net.Listener // on the loopback of the command, if the specification asks for it; otherwise nil

	cmd     *exec.Cmd
	control *os.File
}

// Start starts the command of a specification. self is the argument vector with which this program runs [Main]. It returns when the
// command has been started in all its walls, and a [*StageError] if one of them could not be built. The command ends with the context.
func Start(ctx context.Context, self []string, spec *Spec, streams Streams) (*Jailed, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "sandbox"), os.NewFile(uintptr(pair[1]), "sandbox")
	defer theirs.Close()
	cmd := exec.CommandContext(ctx, self[0], self[1:]...) //nolint:gosec // this very program
	cmd.Env = []string{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.Err
	cmd.ExtraFiles = []*os.File{theirs}
	if spec.Backend == Bubblewrap {
		if spec, err = bubblewrap(cmd, self, spec); err != nil {
			_ = ours.Close()
			return nil, err
		}
		for _, f := range cmd.ExtraFiles[1:] {
			defer f.Close()
		}
	} else {
		cmd.SysProcAttr = attributes(spec)
	}
	if streams.Grace > 0 { // the child passes the signal on
		cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, streams.Grace
	}
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, cloneError(err)
	}
	_ = theirs.Close()
	j := &Jailed{cmd: cmd, control: ours}
	if err := j.handOver(spec); err != nil {
		_ = ours.Close()
		if j.Listener != nil {
			_ = j.Listener.Close()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return j, nil
}

// attributes are the namespaces of the child and its rights in them: all that building the root needs. It loses them before the command
// starts.
func attributes(spec *Spec) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	flags := map[Layer]uintptr{
		User: syscall.CLONE_NEWUSER, Mount: syscall.CLONE_NEWNS, PID: syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Net: syscall.CLONE_NEWNET,
	}
	for layer, flag := range flags {
		if slices.Contains(spec.Without, layer) || layer == Net && spec.Network {
			continue
		}
		a.Cloneflags |= flag
	}
	if a.Cloneflags&syscall.CLONE_NEWUSER != 0 {
		// Ids are what they are outside, so that files and programs see their owner. A user may map no other id.
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		// Without ambient capabilities the child would lose its rights in the new namespace when it executes.
		a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_CHROOT}
	}
	return a
}

// cloneError tells which layer the kernel refused. The user namespace is the first, and all others depend on it.
func cloneError(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	return &StageError{Layer: User, Doing: "make the namespaces", Errno: int(errno), Cause: errno.Error()}
}

// handOver sends the specification, and reads whether the command was started.
func (j *Jailed) handOver(spec *Spec) error {
	data, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("the command or its environment is not valid UTF-8: %w", err)
	}
	if _, err := j.control.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("send the command to the sandbox: %w", err)
	}
	line, err := j.receive()
	if err != nil {
		if spec.Backend == Bubblewrap {
			return &StageError{Layer: Mount, Doing: "start the program in bubblewrap", Cause: "bubblewrap ended; why is on standard error"}
		}
		return &StageError{Layer: User, Doing: "start the program again", Cause: "it ended before it said anything"}
	}
	var r report
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read the report of the sandbox: %w", err)
	}
	j.ABI = r.ABI
	switch {
	case r.Failed != nil:
		return r.Failed
	case r.Start != "":
		return &StartError{r.Start}
	case spec.Listen && j.Listener == nil && !slices.Contains(spec.Without, Net):
		return &StageError{Layer: Net, Doing: "listen on the loopback", Cause: "the listener did not come"}
	}
	return nil
}

// receive reads the report, and the listener that comes with its first byte.
func (j *Jailed) receive() ([]byte, error) {
	buf, rights := make([]byte, 64<<10), make([]byte, unix.CmsgSpace(4))
	n, got, _, _, err := unix.Recvmsg(int(j.control.Fd()), buf, rights, unix.MSG_CMSG_CLOEXEC)
	for errors.Is(err, unix.EINTR) {
		n, got, _, _, err = unix.Recvmsg(int(j.control.Fd()), buf, rights, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	if j.Listener, err = listenerOf(rights[:got]); err != nil {
		return nil, err
	}
	if bytes.HasSuffix(buf[:n], []byte("\n")) {
		return buf[:n], nil
	}
	rest, err := bufio.NewReader(j.control).ReadBytes('\n')
	return append(buf[:n], rest...), err
}

// listenerOf makes a listener of the descriptor that came with a message; nil if none came.
func listenerOf(rights []byte) (net.Listener, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil, err
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// Wait waits for the end of the command and of everything that it started. It returns its exit code, 128 and the signal if
// one ended it, and the memory in bytes that its largest process had.
func (j *Jailed) Wait() (code int, most uint64, err error) {
	err = j.cmd.Wait()
	_ = j.control.Close()
	if usage, ok := j.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		most = uint64(max(usage.Maxrss, 0)) * 1024 //nolint:gosec // getrusage(2) counts in KiB
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded): // it ended well when it was told to
		return 0, most, nil
	case !errors.As(err, &exit):
		return 0, most, fmt.Errorf("wait for the sandbox: %w", err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), most, nil
	}
	return exit.ExitCode(), most, nil
}
