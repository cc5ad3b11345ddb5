//go:build amd64 || arm64

package jail

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// controlFD is the descriptor of the child's socket. The specification comes through it, and the child's report goes back. The child ends
// when the other end closes, however the parent ended.
const controlFD = 3

// report is what the child says: first who it is, and then once more, before the command runs.
type report struct {
	Build  string      `json:"build,omitzero"` // of the child, as [Build] says it
	Failed *StageError `json:"failed,omitzero"`
	Start  string      `json:"start,omitzero"` // why the program could not be started
	ABI    int         `json:"abi,omitzero"`   // of Landlock
	Ports  []int       `json:"ports,omitzero"` // those of [Spec] at which there is a listener
}

// StartError says that the walls stand and the program could not be started in them: it is not there, or cannot be executed.
type StartError struct{ Reason string }

func (e *StartError) Error() string { return "start the command in the sandbox: " + e.Reason }

// Self says how the child is started.
type Self struct {
	Argv  []string // this program, with arguments with which it runs [Main]
	Small string   // a program that does so with the same arguments and starts faster; it is used if it is of the same [Build]
}

// Options are what is known of a command before its specification.
type Options struct {
	Network bool          // it has the network of the machine
	Without []Layer       // as in [Spec]
	Backend Backend       // likewise
	Grace   time.Duration // from SIGTERM to SIGKILL when the context ends; 0: SIGKILL at once
}

// Jailed is a command that runs.
type Jailed struct {
	ABI      int                  // of Landlock, by the kernel's count
	Listener net.Listener         // on the loopback of the command, if the specification asks for it; otherwise nil
	Local    map[int]net.Listener // likewise, by their ports

	received []net.Listener // with the last line
	cmd      *exec.Cmd
	control  *os.File
	mu       sync.Mutex // of control, once the command runs
	ended    bool       // control is closed
	grace    time.Duration
	streams  *passed
	stop     func() error // ends the child and all that is in its namespace
	folder   string       // of a container; "": there is none
	seated   *seated      // of Seatbelt, which has no child; the others are not set then
}

// Begun is a child that waits for its command, or is about to.
type Begun struct {
	self    Self
	options Options
	ctx     context.Context //nolint:containedctx // the life of the child
	end     context.CancelCauseFunc

	// mounts is a descriptor of the list of mounts, which tells once that they have changed since; -1: it is not known. It is no [os.File]:
	// the runtime would be told in our place.
	mounts int

	done chan struct{} // closed when the others are set
	j    *Jailed
	err  error
}

// Begin starts the child, which takes a while, and returns at once. Nothing of a command is in the child before [Begun.Start]. Another
// program has to be told the whole specification, so that its child starts there. The child and its command end with the context. The
// caller calls Close.
func Begin(ctx context.Context, self Self, o Options) *Begun {
	b := &Begun{self: self, options: o, done: make(chan struct{}), mounts: -1}
	b.ctx, b.end = context.WithCancelCause(ctx)
	if o.Backend.Other() {
		close(b.done)
		return b
	}
	if fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		b.mounts = fd
	}
	go func() {
		defer close(b.done)
		b.j, b.err = begin(b.ctx, self, o)
	}()
	return b
}

// Has reports whether the child was begun with these options.
func (b *Begun) Has(o Options) bool {
	return b.options.Network == o.Network && b.options.Grace == o.Grace && b.options.Backend == o.Backend &&
		slices.Equal(b.options.Without, o.Without)
}

// Waits reports whether the child waits for its command, or is about to. It may have been killed since it was begun, or the mounts of the
// machine have changed, and it has those of before.
func (b *Begun) Waits() bool {
	if b.mounts < 0 || polled(b.mounts, unix.POLLPRI) { // proc_pid_mountinfo(5)
		return false
	}
	select {
	case <-b.done:
	default:
		return true
	}
	if b.err != nil || b.j == nil || b.ctx.Err() != nil {
		return false
	}
	return !polled(int(b.j.control.Fd()), unix.POLLIN) // a child that ended has closed its end, and one that waits says nothing
}

// polled reports whether a file has something to tell.
func polled(fd int, events int16) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: events}}, 0) //nolint:gosec // a descriptor
	return err != nil || n > 0
}

// Start starts a command in the child. It returns when the command has been started in all its walls, and a [*StageError] if one of them
// could not be built.
func (b *Begun) Start(spec *Spec, streams Streams) (*Jailed, error) {
	<-b.done
	if b.options.Backend == Seatbelt {
		s, err := sit(b.ctx, b.options.Grace, spec, streams)
		if err != nil {
			return nil, err
		}
		return &Jailed{seated: s, Listener: s.listener, ended: true}, nil
	}
	switch {
	case b.options.Backend.Other():
		spec, b.j, b.err = launchWrapped(b.ctx, b.self.Argv, b.options, spec)
	case b.err != nil && b.ctx.Err() == nil:
		b.j, b.err = begin(b.ctx, b.self, b.options) // somebody may have killed it before it said that it waits
	}
	if b.err != nil {
		return nil, b.err
	}
	j := b.j
	b.j = nil
	if err := j.handOver(spec, streams); err != nil {
		j.kill()
		return nil, err
	}
	return j, nil
}

// End ends the child and its command as the end of the context does, for a reason.
func (b *Begun) End(why error) { b.end(why) }

// Ended returns the reason why the child was ended, or that of the context; nil if neither ended it.
func (b *Begun) Ended() error { return context.Cause(b.ctx) }

// Close ends the child if no command was started in it. It may be called more than once.
func (b *Begun) Close() {
	<-b.done
	defer b.end(nil)
	if b.mounts >= 0 {
		_ = unix.Close(b.mounts)
		b.mounts = -1
	}
	if b.j != nil {
		b.j.kill()
		b.j = nil
	}
}

// Start is [Begin] and [Begun.Start].
func Start(ctx context.Context, self Self, spec *Spec, streams Streams) (*Jailed, error) {
	return Begin(ctx, self, Options{Network: spec.Network, Without: spec.Without, Backend: spec.Backend}).Start(spec, streams)
}

func begin(ctx context.Context, self Self, o Options) (*Jailed, error) {
	if f := openSmall(self.Small); f != nil {
		j, err := launch(ctx, self.Argv, o, func(cmd *exec.Cmd) error {
			cmd.Path = "/proc/self/fd/" + strconv.Itoa(controlFD+len(cmd.ExtraFiles))
			cmd.ExtraFiles = append(cmd.ExtraFiles, f)
			cmd.SysProcAttr = attributes(o)
			return nil
		})
		_ = f.Close()
		if err == nil {
			return j, nil
		}
		// The whole program tells the cause.
	}
	return launch(ctx, self.Argv, o, func(cmd *exec.Cmd) error {
		cmd.SysProcAttr = attributes(o)
		return nil
	})
}

// launchWrapped starts the child by another program, and returns the specification with what the child compares. If the child does not
// start, the error has what that program said.
func launchWrapped(ctx context.Context, argv []string, o Options, spec *Spec) (told *Spec, j *Jailed, err error) {
	var data []*os.File
	said, folder := &beginning{}, ""
	j, err = launch(ctx, argv, o, func(cmd *exec.Cmd) (err error) {
		cmd.Stderr = said
		if o.Backend == Container {
			told, folder, err = container(cmd, argv, spec)
			cmd.Cancel = func() error { return endContainer(folder, cmd.Process) }
			return err
		}
		told, err = bubblewrap(cmd, argv, spec)
		data = cmd.ExtraFiles[1:]
		return err
	})
	for _, f := range data {
		_ = f.Close()
	}
	var stage *StageError
	if errors.As(err, &stage) && stage.Layer == User {
		err = &StageError{Layer: Mount, Doing: StartIn(o.Backend), Cause: cmp.Or(said.line(), spec.Program+": "+stage.Cause)}
	}
	if j != nil {
		j.folder = folder
	} else if folder != "" {
		_ = os.RemoveAll(folder)
	}
	return told, j, err
}

// openSmall opens the small program; nil if there is none, or if somebody else than this user and root can change it. The open file is
// executed, so that what was looked at is what runs.
func openSmall(path string) *os.File {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	const others = 0o022
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&others != 0 ||
		st.Uid != 0 && int(st.Uid) != os.Getuid() {
		_ = f.Close()
		return nil
	}
	return f
}

// launch starts the child, in the way that shape makes of its command, and finds out whether it builds the walls that are meant. Until then
// it has no stream of the command.
func launch(ctx context.Context, argv []string, o Options, shape func(*exec.Cmd) error) (*Jailed, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "sandbox"), os.NewFile(uintptr(pair[1]), "sandbox")
	defer theirs.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // this very program, or the small one of its build
	cmd.Env = []string{}
	cmd.ExtraFiles = []*os.File{theirs}
	if err := shape(cmd); err != nil {
		_ = ours.Close()
		return nil, err
	}
	stop := cmd.Cancel
	if o.Grace > 0 { // the child passes the signal on
		cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(syscall.SIGTERM) }, o.Grace
	}
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return nil, cloneError(err)
	}
	_ = theirs.Close()
	j := &Jailed{cmd: cmd, control: ours, grace: o.Grace, stop: stop}
	if err := j.agree(Build()); err != nil {
		j.kill()
		return nil, err
	}
	return j, nil
}

// agree reads who the child is.
func (j *Jailed) agree(build string) error {
	r, err := j.receive()
	switch {
	case err != nil:
		return err
	case r.Failed != nil:
		return r.Failed
	case r.Build != build:
		return &StageError{Layer: User, Doing: "start the program again", Cause: "it is of another build, and its walls may be others"}
	}
	return nil
}

// kill ends a child in which nothing runs.
func (j *Jailed) kill() {
	_ = j.control.Close()
	if j.Listener != nil {
		_ = j.Listener.Close()
	}
	_ = j.stop()
	_ = j.cmd.Wait()
	j.clean()
	if j.streams != nil {
		j.streams.sent()
		j.streams.wait(0)
	}
}

// clean removes the folder of a container.
func (j *Jailed) clean() {
	if j.folder != "" {
		_ = os.RemoveAll(j.folder)
	}
}

// attributes are the namespaces of the child and its rights in them: all that building the root needs. It loses them before the command
// starts.
func attributes(o Options) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	flags := map[Layer]uintptr{
		User: syscall.CLONE_NEWUSER, Mount: syscall.CLONE_NEWNS, PID: syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Net: syscall.CLONE_NEWNET,
	}
	for layer, flag := range flags {
		if slices.Contains(o.Without, layer) || layer == Net && o.Network {
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
	return &StageError{Layer: User, Doing: MakeSpaces, Errno: int(errno), Cause: errno.Error()}
}

// handOver sends the streams and the specification, and reads whether the command was started.
func (j *Jailed) handOver(spec *Spec, streams Streams) (err error) {
	sent := *spec
	sent.Build = Build()
	data, err := json.Marshal(&sent)
	if err != nil {
		return fmt.Errorf("the command or its environment is not valid UTF-8: %w", err)
	}
	if j.streams, err = streams.open(); err != nil {
		return fmt.Errorf("open the streams of the command: %w", err)
	}
	defer j.streams.sent()
	if err := j.send(append(data, '\n')); err != nil {
		return fmt.Errorf("send the command to the sandbox: %w", err)
	}
	r, err := j.receive()
	switch {
	case err != nil:
		return err
	case r.Failed != nil:
		return r.Failed
	case r.Start != "":
		return &StartError{r.Start}
	case spec.Listen && len(j.received) == 0 && !slices.Contains(spec.Without, Net):
		return &StageError{Layer: Net, Doing: "listen on the loopback", Cause: "the listener did not come"}
	}
	if spec.Listen && len(j.received) > 0 {
		j.Listener, j.received = j.received[0], j.received[1:]
	}
	j.Local = map[int]net.Listener{}
	for i, l := range j.received[:min(len(j.received), len(r.Ports))] {
		j.Local[r.Ports[i]] = l
	}
	j.ABI = r.ABI
	return nil
}

// send sends a line, and the streams with its first byte.
func (j *Jailed) send(line []byte) error {
	var fds [3]int
	for i, f := range j.streams.files {
		fds[i] = int(f.Fd())
	}
	err := send(int(j.control.Fd()), line[:1], fds[:]...)
	runtime.KeepAlive(j.streams)
	if err == nil {
		_, err = j.control.Write(line[1:])
	}
	return err
}

// receive reads a report.
func (j *Jailed) receive() (r report, err error) {
	line, err := j.line()
	if err != nil {
		return r, &StageError{Layer: User, Doing: "start the program again", Cause: "it ended before it said anything"}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("read the report of the sandbox: %w", err)
	}
	return r, nil
}

// mostListeners is how many listeners come with a line: that of [ListenAddr], and those of [Spec].Ports.
const mostListeners = 1 + 64

// line reads a line, and the listeners that may come with its first byte.
func (j *Jailed) line() ([]byte, error) {
	buf := make([]byte, 64<<10)
	n, fds, err := receive(int(j.control.Fd()), buf, mostListeners)
	if err != nil {
		return nil, err
	}
	if j.received, err = listenersOf(fds); err != nil {
		return nil, err
	}
	if bytes.HasSuffix(buf[:n], []byte("\n")) {
		return buf[:n], nil
	}
	rest, err := bufio.NewReader(j.control).ReadBytes('\n')
	return append(buf[:n], rest...), err
}

// listenersOf makes listeners of the descriptors that came with a message.
func listenersOf(fds []int) (out []net.Listener, err error) {
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "listener")
		l, e := net.FileListener(f)
		_ = f.Close()
		if err = errors.Join(err, e); e == nil {
			out = append(out, l)
		}
	}
	return out, err
}

// Wait waits for the end of the command and of everything that it started. It returns its exit code, 128 and the signal if
// one ended it, and the memory in bytes that its largest process had.
func (j *Jailed) Wait() (code int, most uint64, err error) {
	if j.seated != nil {
		return j.seated.wait()
	}
	err = j.cmd.Wait()
	j.mu.Lock()
	j.ended = true
	_ = j.control.Close()
	j.mu.Unlock()
	j.streams.wait(j.grace)
	j.clean()
	if usage, ok := j.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		most = uint64(max(usage.Maxrss, 0)) * 1024 //nolint:gosec // getrusage(2) counts in KiB
	}
	code, err = exitCode(err)
	return code, most, err
}
