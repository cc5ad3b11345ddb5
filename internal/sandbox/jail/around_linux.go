//go:build amd64 || arm64

package jail

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// BeginAround starts a program behind the light wall, with the streams of cmd and in a process group of its own if cmd says so; it sets the
// other fields. It returns when every mount
// stands and the program is about to start, and a [*StageError] if one could not be made: then nothing has run. The caller waits for cmd,
// which is the child: it passes signals on, unless it has a process group of its own, whose signals the program gets too; it ends with the
// program, and has its exit code. The program ends with the child, and the child with the thread that called BeginAround.
func BeginAround(self Self, a Around, cmd *exec.Cmd) error {
	if f := openSmall(self.Small); f != nil {
		small := *cmd
		err := beginAround(self, a, &small, f)
		_ = f.Close()
		if err == nil {
			*cmd = small //nolint:govet // it was not used before
			return nil
		}
		// The whole program tells the cause.
	}
	return beginAround(self, a, cmd, nil)
}

func beginAround(self Self, a Around, cmd *exec.Cmd, small *os.File) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("make socket pair: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "around"), os.NewFile(uintptr(pair[1]), "around")
	defer ours.Close()
	defer theirs.Close()
	argv := append(slices.Clone(self.Argv[:len(self.Argv)-1]), AroundName)
	cmd.Path, cmd.Args, cmd.Env, cmd.ExtraFiles = argv[0], argv, []string{}, []*os.File{theirs}
	if small != nil {
		cmd.Path = "/proc/self/fd/" + strconv.Itoa(controlFD+1)
		cmd.ExtraFiles = append(cmd.ExtraFiles, small)
	}
	group := cmd.SysProcAttr != nil && cmd.SysProcAttr.Setpgid
	cmd.SysProcAttr = attributes(Options{Network: true, Without: []Layer{PID}})
	cmd.SysProcAttr.Setpgid = group // else the program reads the terminal
	if err := cmd.Start(); err != nil {
		return cloneError(err)
	}
	_ = theirs.Close()
	j := &Jailed{control: ours}
	err = j.agree(Build())
	if err == nil {
		a.Build = Build()
		var data []byte
		if data, err = json.Marshal(&a); err != nil {
			err = fmt.Errorf("the program or its environment is not valid UTF-8: %w", err)
		} else if _, err = ours.Write(append(data, '\n')); err != nil {
			err = &StageError{Layer: User, Doing: "start the program again", Cause: err.Error()}
		} else {
			var r report
			if r, err = j.receive(); err == nil && r.Failed != nil {
				err = r.Failed
			} else if err == nil && r.Start != "" {
				err = &StartError{r.Start}
			}
		}
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return err
}

// AroundMain is the body of the child of the light wall. It returns the exit code of the program.
func AroundMain() int {
	closeErr := unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	_ = os.WriteFile("/proc/self/comm", []byte("myc"), 0)
	control := os.NewFile(controlFD, "around")
	c := &child{control: control, in: bufio.NewReader(control)}
	if closeErr != nil {
		c.say(report{Failed: failed(User, "close what is open (Linux 5.11 or later)", closeErr)})
		return 1
	}
	build := Build()
	c.say(report{Build: build})
	line, err := c.in.ReadBytes('\n')
	var a Around
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	switch {
	case err != nil:
		_, _ = os.Stderr.WriteString("myc: no program on descriptor 3 (this command is started by Mycelium, not by people)\n")
		return 2
	case a.Build != build:
		c.say(report{Failed: &StageError{Layer: User, Doing: "start the program again", Cause: "it is of another build than the first one"}})
		return 1
	}
	return c.around(&a)
}

// around mounts the points, starts the program on a thread without rights, and mounts lost points again while it runs.
func (c *child) around(a *Around) int {
	runtime.LockOSThread()
	if err := fixPoints(a.Points); err != nil {
		c.say(report{Failed: err})
		return 1
	}
	// The working directory that was inherited is below no mount of these, and "." would stay there.
	if !filepath.IsAbs(a.Dir) {
		c.say(report{Failed: &StageError{Layer: Mount, Doing: "enter " + a.Dir, Cause: "it is no absolute path"}})
		return 1
	}
	if err := os.Chdir(a.Dir); err != nil {
		c.say(report{Failed: failed(Mount, "enter "+a.Dir, err)})
		return 1
	}
	// Not by package os: its poller would ask for the same file's events too, and the kernel tells of each only once.
	table, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		c.say(report{Failed: failed(Mount, "read the mounts", err)})
		return 1
	}
	go keepPoints(a.Points, table) // on another thread, which keeps the rights
	if err := c.dropRights(kept()); err != nil {
		c.say(report{Failed: err})
		return 1
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	pid, err := syscall.ForkExec(a.Argv[0], a.Argv, &syscall.ProcAttr{Dir: a.Dir, Env: a.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}})
	if err != nil {
		c.say(report{Start: a.Argv[0] + ": " + err.Error()})
		return 126
	}
	c.say(report{})
	_ = c.control.Close()
	group := unix.Getpgrp() == os.Getpid()
	go func() {
		for s := range signals {
			if group {
				continue // who ends it signals the group, which the program is in
			}
			if s == syscall.SIGTERM || s == syscall.SIGHUP { // the terminal sends the others to the program too
				_ = syscall.Kill(pid, s.(syscall.Signal))
			}
		}
	}()
	return reap(pid)
}

// kept is the one right that the program keeps: where it is root, the kernel asks for it before it lets anybody make a user namespace that
// has root, as that of our sandbox (user_namespaces(7)). With it, capabilities can be given to files, and the bounding set takes them away.
func kept() []uintptr {
	if os.Getuid() == 0 {
		return []uintptr{unix.CAP_SETFCAP}
	}
	return nil
}

// fixPoints makes every point a mount point.
func fixPoints(points []Point) *StageError {
	// Nothing that is mounted here shows outside; mounts of a person outside show here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return failed(Mount, "keep the mounts inside", err)
	}
	trees := make([]tree, len(points))
	for i, p := range points { // before the first of them covers anything
		at, err := place(p.Path)
		if err == nil {
			trees[i], err = openPoint(at, p.Fixed)
			_ = unix.Close(at)
		}
		if err != nil {
			return failed(Mount, "open "+p.Path, err)
		}
	}
	for i, p := range points {
		err := trees[i].put(p.Path)
		_ = unix.Close(trees[i].fd)
		if err != nil {
			return failed(Mount, "mount "+p.Path, err)
		}
	}
	return nil
}

// openPoint makes a detached copy of the mounts at a place. A copy that is not fixed keeps the flags that they have.
func openPoint(at int, fixed bool) (tree, error) {
	fd, err := unix.OpenTree(at, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil || !fixed {
		return tree{fd: fd}, err
	}
	err = unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	return tree{fd: fd}, err
}

// The times after which a lost point is tried again, in milliseconds: the kernel tells of the lost mount before the new file has its name,
// and git removes a file before it makes the next one.
const (
	firstTry = 1
	lastTry  = 1000
)

// keepPoints mounts lost points again: the kernel detaches a mount when the file is replaced outside, as editors and git do. A point that
// cannot be mounted again stays lost, which the hook finds.
func keepPoints(points []Point, table int) {
	runtime.LockOSThread()
	for wait, tried := -1, 0; ; {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(table), Events: unix.POLLPRI}}, wait) //nolint:gosec // a descriptor
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		now, err := readPoints("self")
		if err != nil {
			return
		}
		lost := false
		for _, p := range points {
			if p.Fixed && !now.has(p) && remount(p) != nil {
				lost = true
			}
		}
		if wait = -1; lost {
			wait = min(max(2*tried, firstTry), lastTry)
		}
		tried = wait
	}
}

// remount makes a point a mount point again. The file is looked up once, so that a file that is being replaced is not mounted in the place
// of the next one: the kernel mounts nothing where a file was.
func remount(p Point) error {
	at, err := place(p.Path)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	t, err := openPoint(at, p.Fixed)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(t.fd) }()
	return t.putAt(at)
}

// Lost returns the points that a process does not have as mount points, or not as they should be.
func Lost(pid int, points []Point) ([]Point, error) {
	now, err := readPoints(strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(points), now.has), nil
}

// mounted says of the mount points of a process whether the last mount at each is read-only.
type mounted map[string]bool

func (m mounted) has(p Point) bool {
	fixed, ok := m[p.Path]
	return ok && (fixed || !p.Fixed)
}

// readPoints reads the mount points of a process (proc_pid_mountinfo(5)).
func readPoints(process string) (mounted, error) {
	data, err := os.ReadFile("/proc/" + process + "/mountinfo")
	if err != nil {
		return nil, err
	}
	const target, options = 4, 5
	out := mounted{}
	for line := range bytes.Lines(data) {
		fields := strings.SplitN(string(line), " ", options+2)
		if len(fields) < options+2 {
			return nil, fmt.Errorf("a line of the mounts of process %s has %d fields", process, len(fields))
		}
		out[unescape(fields[target])] = slices.Contains(strings.Split(fields[options], ","), "ro")
	}
	return out, nil
}

// unescape undoes the kernel's writing of spaces, tabs, line feeds and backslashes: \ and three octal digits.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
