package differ

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// access is what a process did to a path, or to a host.
type access string

const (
	executes access = "execute"
	reads    access = "read"
	lists    access = "list"  // it opens a folder
	makes    access = "make"  // it opens a file for writing, without emptying it, and the file is made if it is not there
	writes   access = "write" // it writes, makes or replaces
	deletes  access = "delete"
	marks    access = "mark" // it sets rights, owner or times
	connects access = "connect"
)

// event is one thing that a process did.
type event struct {
	Access  access
	Path    string // absolute, as the process named it; for connects the address
	Real    string // with links resolved
	Program string // the base name of the program of the process
	Shell   bool   // the process is the shell of the command, or a fork of it
	Argv    []string
}

func (e event) String() string {
	s := fmt.Sprintf("%s: %s %s", e.Program, e.Access, e.Path)
	if e.Real != e.Path && e.Real != "" {
		s += " (" + e.Real + ")"
	}
	if e.Access == executes {
		s += fmt.Sprintf(" %q", e.Argv)
	}
	return s
}

// process is one that is traced.
type process struct {
	program string
	shell   bool
	code    bool    // it runs code that the command names as a file: what it does is not in the command
	next    []event // what the system call would do in which it is now
}

// Bounds of one command: one that exceeds them is ended there.
const (
	maxCalls     = 60_000 // system calls
	maxProcesses = 150
	maxSeconds   = 5 // of a processor, for each process
)

// tracer runs commands, and says what their processes did. It owns a thread: ptrace belongs to one, and so does the filter that stops the
// processes only in the system calls that are looked at. The thread itself may not make these, because nobody traces it.
type tracer struct {
	todo chan order
	null *os.File
}

// order is a command to run.
type order struct {
	shell, command, dir string
	env                 []string
	done                chan<- result
}

type result struct {
	events []event
	err    error
}

func newTracer() (*tracer, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	t := &tracer{make(chan order), null}
	filtered := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever
		filtered <- filter()
		for o := range t.todo {
			events, err := trace(o, null.Fd())
			o.done <- result{events, err}
		}
	}()
	return t, <-filtered
}

// run runs a command in a shell and returns what it did.
func (t *tracer) run(shell, command, dir string, env []string) ([]event, error) {
	done := make(chan result)
	t.todo <- order{shell, command, dir, env, done}
	r := <-done
	return r.events, r.err
}

// filter has the kernel stop what this thread will start in the system calls that are looked at.
func filter() error {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // the number of the call
	for _, nr := range watched() {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_TRACE})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("set a filter of system calls: %w", errno)
	}
	return nil
}

// watched are the system calls that are looked at, besides execve, of which ptrace tells.
func watched() []int {
	all := []int{unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT,
		unix.SYS_SYMLINKAT, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_TRUNCATE, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT,
		unix.SYS_UTIMENSAT, unix.SYS_CONNECT}
	for nr := range older {
		all = append(all, nr)
	}
	return all
}

// tracing is one command that runs.
type tracing struct {
	processes map[int]*process
	told      map[int]bool // the processes of which their parents' events have told
	gone      map[int]bool // those that ended before that
	events    []event
}

// errEndless says that a command did too much.
var errEndless = errors.New("the command does not end")

func trace(o order, null uintptr) ([]event, error) {
	pid, err := syscall.ForkExec("/usr/bin/"+o.shell, []string{o.shell, "-c", o.command}, &syscall.ProcAttr{Dir: o.dir, Env: o.env,
		Files: []uintptr{null, null, null}, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true}})
	if err != nil {
		return nil, err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, syscall.WALL, nil); err != nil {
		return nil, err
	}
	t := tracing{processes: map[int]*process{pid: {program: o.shell, shell: true}}, told: map[int]bool{pid: true}, gone: map[int]bool{}}
	limit := unix.Rlimit{Cur: maxSeconds, Max: maxSeconds}
	if err := unix.Prlimit(pid, unix.RLIMIT_CPU, &limit, nil); err != nil {
		return nil, err
	}
	const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESECCOMP
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		return nil, err
	}
	if err := syscall.PtraceCont(pid, 0); err != nil {
		return nil, err
	}
	err = t.follow()
	return t.events, err
}

// follow waits for all processes.
func (t *tracing) follow() error {
	var ended error
	born, calls := 1, 0
	for len(t.processes) > 0 {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if status.Exited() || status.Signaled() {
			delete(t.processes, pid)
			if !t.told[pid] {
				t.gone[pid] = true
			}
			continue
		}
		p := t.processes[pid]
		if p == nil { // the kernel tells of its first stop before it tells of its birth
			p = t.bornOf(parent(pid))
			t.processes[pid] = p
		}
		signal, ends := 0, false
		switch stop := status.StopSignal(); {
		case stop == syscall.SIGTRAP|0x80: // a system call ends
			t.called(pid, p)
		case stop == syscall.SIGTRAP && status.TrapCause() > 0:
			switch cause := status.TrapCause(); cause {
			case unix.PTRACE_EVENT_SECCOMP: // one begins
				calls++
				t.called(pid, p)
				ends = len(p.next) > 0
			case unix.PTRACE_EVENT_EXEC:
				t.executed(pid, p)
			case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
				child, err := syscall.PtraceGetEventMsg(pid)
				if err == nil {
					born++
					t.told[int(child)] = true
				}
				if err == nil && !t.gone[int(child)] && t.processes[int(child)] == nil { // the kernel may tell of its end first, too
					t.processes[int(child)] = t.bornOf(pid)
				}
			}
		case stop == syscall.SIGSTOP, stop == syscall.SIGTRAP:
		default:
			signal = int(stop)
		}
		if born > maxProcesses || calls > maxCalls {
			ended = errEndless
			for pid := range t.processes {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if ends {
			_ = syscall.PtraceSyscall(pid, signal) // it may be dead
		} else {
			_ = syscall.PtraceCont(pid, signal)
		}
	}
	return ended
}

// bornOf returns a new process whose parent is another one: it is the same program until it executes one.
func (t *tracing) bornOf(pid int) *process {
	p := t.processes[pid]
	if p == nil {
		return &process{}
	}
	return &process{program: p.program, shell: p.shell, code: p.code}
}

// parent returns the process that began another one, or the process of a thread (proc_pid_status(5)); 0 if that is not known.
func parent(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var group, above int
	for line := range strings.Lines(string(text)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "Tgid":
			group, _ = strconv.Atoi(strings.TrimSpace(value))
		case "PPid":
			above, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	if group != pid {
		return group
	}
	return above
}

// executed is called when a process has become another program.
func (t *tracing) executed(pid int, p *process) {
	var info stopState
	if err := info.of(pid); err != nil {
		return
	}
	// The stack of a new program: the number of its arguments, these, a zero, its variables, a zero, and pairs of a kind and a value.
	c := call{pid: pid}
	at := info.sp + 8
	argv := c.list(at)
	at += 8 * uint64(len(argv)+1)
	for c.number(at) != 0 {
		at += 8
	}
	const pathOfProgram = 31 // AT_EXECFN of linux/auxvec.h
	for at += 8; c.number(at) != 0 && c.number(at) != pathOfProgram; at += 16 {
	}
	e := c.event(executes, unix.AT_FDCWD, c.number(at+8), true)
	e.Argv = argv
	t.add(p, e)
	p.program, p.shell = filepath.Base(e.Path), false
	if underAny(e.Path, home, "/tmp") {
		p.code = true
	}
	if len(argv) > 1 && slices.Contains([]string{"sh", "bash", "dash"}, p.program) && !strings.HasPrefix(argv[1], "-") {
		script := argv[1]
		if !strings.HasPrefix(script, "/") {
			if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil {
				script = dir + "/" + script
			}
		}
		t.add(p, event{Access: executes, Path: script, Real: resolved(script, true)})
		p.code = true
	}
}

func (t *tracing) add(p *process, e event) {
	e.Program, e.Shell = p.program, p.shell
	if !p.code && e.Path != "" && !slices.ContainsFunc(t.events, func(o event) bool { return o.String() == e.String() && o.Shell == e.Shell }) {
		t.events = append(t.events, e)
	}
}

// stopState says at which system call a process has stopped: struct ptrace_syscall_info of linux/ptrace.h.
type stopState struct {
	op     uint8
	_      [3]byte
	arch   uint32
	ip, sp uint64
	nr     uint64 // at its end: what it returns
	args   [6]uint64
	_      [2]uint64 // at a stop by a filter there is more
}

// of asks for the state of a process that is stopped.
func (i *stopState) of(pid int) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(pid), unsafe.Sizeof(*i), uintptr(unsafe.Pointer(i)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// called is called where a system call begins or ends.
func (t *tracing) called(pid int, p *process) {
	var info stopState
	if err := info.of(pid); err != nil {
		return
	}
	if info.op == unix.PTRACE_SYSCALL_INFO_EXIT {
		for _, e := range p.next {
			if int64(info.nr) >= 0 || e.Access == connects {
				t.add(p, e)
			}
		}
		p.next = nil
		return
	}
	if p.code {
		return
	}
	c := call{pid, info.args}
	if name, ok := older[int(info.nr)]; ok { // takes paths from the working directory
		info.nr, c.args = uint64(name.now), name.args(info.args)
	}
	p.next = nil
	add := func(e event) { p.next = append(p.next, e) }
	switch info.nr {
	case unix.SYS_OPENAT, unix.SYS_OPENAT2:
		flags := c.args[2]
		if info.nr == unix.SYS_OPENAT2 {
			flags = binary.NativeEndian.Uint64(c.bytes(c.args[2], 8))
		}
		if flags&unix.O_PATH == 0 { // also where it fails: the next time there may be such a file
			t.add(p, c.event(opened(flags), c.fd(0), c.args[1], flags&unix.O_NOFOLLOW == 0))
		}
	case unix.SYS_UNLINKAT:
		add(c.event(deletes, c.fd(0), c.args[1], false))
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		add(c.event(deletes, c.fd(0), c.args[1], false))
		add(c.event(writes, c.fd(2), c.args[3], false))
	case unix.SYS_LINKAT:
		add(c.event(reads, c.fd(0), c.args[1], c.args[4]&unix.AT_SYMLINK_FOLLOW != 0))
		add(c.event(writes, c.fd(2), c.args[3], false))
	case unix.SYS_SYMLINKAT:
		add(c.event(writes, c.fd(1), c.args[2], false))
	case unix.SYS_MKDIRAT, unix.SYS_MKNODAT:
		add(c.event(writes, c.fd(0), c.args[1], false))
	case unix.SYS_TRUNCATE:
		add(c.event(writes, unix.AT_FDCWD, c.args[0], true))
	case unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT:
		if c.args[1] != 0 {
			add(c.event(marks, c.fd(0), c.args[1], true))
		}
	case unix.SYS_CONNECT:
		if host := address(c.bytes(c.args[1], int(min(c.args[2], 128)))); host != "" {
			add(event{Access: connects, Path: host})
		}
	}
}

// opened says what an open with these flags does.
func opened(flags uint64) access {
	switch {
	case flags&unix.O_ACCMODE == unix.O_RDONLY && flags&(unix.O_CREAT|unix.O_TRUNC) == 0:
		if flags&unix.O_DIRECTORY != 0 {
			return lists
		}
		return reads
	case flags&unix.O_TRUNC == 0 && flags&unix.O_APPEND == 0:
		return makes
	}
	return writes
}

// address returns the host of a socket's address; "" for one of this machine's files.
func address(b []byte) string {
	if len(b) < 2 {
		return ""
	}
	switch binary.NativeEndian.Uint16(b) {
	case unix.AF_INET:
		if len(b) >= 8 {
			return fmt.Sprintf("%d.%d.%d.%d", b[4], b[5], b[6], b[7])
		}
	case unix.AF_INET6:
		return fmt.Sprintf("%x", b[8:min(24, len(b))])
	}
	return ""
}

// call is a system call that begins.
type call struct {
	pid  int
	args [6]uint64
}

func (c call) fd(i int) int64 { return int64(int32(c.args[i])) }

// bytes reads memory of the process; fewer where there are no more.
func (c call) bytes(at uint64, n int) []byte {
	out := make([]byte, n)
	got := 0
	page := os.Getpagesize()
	for got < n {
		part := min(n-got, page-int((at+uint64(got))%uint64(page)))
		local := []unix.Iovec{{Base: &out[got]}}
		local[0].SetLen(part)
		k, err := unix.ProcessVMReadv(c.pid, local, []unix.RemoteIovec{{Base: uintptr(at) + uintptr(got), Len: part}}, 0)
		if err != nil || k <= 0 {
			break
		}
		got += k
	}
	return out[:got]
}

// number reads a number; 0 where there is none.
func (c call) number(at uint64) uint64 {
	b := c.bytes(at, 8)
	if len(b) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(b)
}

// text reads a text that ends with a zero.
func (c call) text(at uint64) string {
	var out []byte
	for len(out) < 2*unix.PathMax {
		b := c.bytes(at+uint64(len(out)), 256)
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(out, b[:i]...))
		}
		if out = append(out, b...); len(b) < 256 {
			break
		}
	}
	return string(out)
}

// list reads a list of texts that ends with a nil.
func (c call) list(at uint64) (out []string) {
	for i := range uint64(200) {
		p := c.number(at + 8*i)
		if p == 0 {
			break
		}
		out = append(out, c.text(p))
	}
	return out
}

// event returns what the process does to a path below an open folder. With follow set, a link at its end is followed.
func (c call) event(a access, at int64, path uint64, follow bool) event {
	name := c.text(path)
	if name == "" { // the call fails, or is about the open folder itself
		return event{}
	}
	if !strings.HasPrefix(name, "/") {
		from := fmt.Sprintf("/proc/%d/cwd", c.pid)
		if at != unix.AT_FDCWD {
			from = fmt.Sprintf("/proc/%d/fd/%d", c.pid, at)
		}
		dir, err := os.Readlink(from)
		if err != nil {
			dir = "/?"
		}
		name = dir + "/" + name // not cleaned: the kernel follows links before dots
	}
	return event{Access: a, Path: name, Real: resolved(name, follow)}
}

// resolved returns a path with links resolved as the kernel does. What does not exist stays as it is.
func resolved(name string, follow bool) string {
	if follow {
		if to, err := filepath.EvalSymlinks(name); err == nil {
			return to
		}
		if to, err := os.Readlink(strings.TrimRight(name, "/")); err == nil { // it leads to what does not exist
			if !strings.HasPrefix(to, "/") {
				to = dirOf(name) + to
			}
			return resolved(to, false)
		}
	}
	dir, last := dirOf(name), filepath.Base(name)
	if last == ".." || last == "." {
		dir, last = name, ""
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	return filepath.Join(dir, last)
}

// dirOf returns the folder of a path, with a slash, not cleaned.
func dirOf(name string) string {
	name = strings.TrimRight(name, "/")
	return name[:strings.LastIndexByte(name, '/')+1]
}

// underAny reports whether a path lies in one of the folders.
func underAny(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}
