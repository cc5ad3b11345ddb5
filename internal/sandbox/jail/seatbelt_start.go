//go:build unix

package jail

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// seated is a command that sandbox-exec(1) runs.
type seated struct {
	cmd      *exec.Cmd
	streams  *passed
	grace    time.Duration
	listener net.Listener // of the proxy; nil: there is none
	folder   string       // of the command, removed at its end
}

// The words with which the first program in the profile says how it stands.
const (
	seatHolds = "holds"
	seatOpen  = "open"
)

// seatScript is the first program in the profile, by sh(1). It starts no process, because the profile may forbid that. Its arguments are the
// canary, the limits as ulimit takes them, and the command. A canary that can be read says that the profile is not in force. Its descriptors
// are those of the command; on 3 it says how it stands, and 4 is the standard error of the command, so that the message of sandbox-exec
// itself is told as the cause. Of processes, bash has the limit as -u and dash as -p.
const seatScript = `if read -r MYCELIUM_CANARY <"$0"; then echo ` + seatOpen + ` >&3; exit 1; fi 2>/dev/null
ulimit -c 0 || exit 1
if [ "$1" != - ]; then ulimit -n "$1" || exit 1; fi
if [ "$2" != - ]; then ulimit -u "$2" 2>/dev/null || ulimit -p "$2" || exit 1; fi
shift 2
echo ` + seatHolds + ` >&3
exec 3>&- 2>&4 4>&-
exec "$@"
`

const shell = "/bin/sh"

// sit starts a command by sandbox-exec(1). It returns when the profile is in force and was seen to close a file; otherwise nothing of the
// command has run, and the error is a [*StageError].
func sit(ctx context.Context, grace time.Duration, spec *Spec, streams Streams) (s *seated, err error) {
	if spec.Memory > 0 {
		return nil, &StageError{Layer: Rules, Doing: LimitData, Cause: "macOS holds no program to such a limit"}
	}
	if err := spec.strict(); err != nil {
		return nil, err
	}
	s = &seated{grace: grace}
	defer func() {
		if err != nil {
			s.clean()
			s = nil
		}
	}()
	if s.folder, err = ownFolder(spec.Scratch); err != nil {
		return s, fmt.Errorf("make a folder for the command: %w", err)
	}
	port := 0
	if spec.Listen {
		if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0"); err != nil {
			return s, &StageError{Layer: Rules, Doing: "listen on the loopback", Cause: err.Error()}
		}
		if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
			port = at.Port
		}
	}
	seat, err := spec.behindLinks().Seatbelt(s.folder, port)
	if err != nil {
		return s, &StageError{Layer: Rules, Doing: "write the profile", Cause: err.Error()}
	}
	profile, canary := filepath.Join(s.folder, "profile.sb"), filepath.Join(s.folder, "canary")
	err = errors.Join(seat.lay(), os.WriteFile(profile, []byte(seat.Text), 0o600), os.WriteFile(canary, []byte("canary\n"), 0o600))
	if err != nil {
		return s, fmt.Errorf("lay out the folders of the command: %w", err)
	}
	program, err := seat.program()
	if err != nil {
		return s, err
	}
	args := []string{"-f", profile, shell, "-c", seatScript, canary, ulimit(spec.Files, unix.RLIMIT_NOFILE), ulimit(spec.Procs, unix.RLIMIT_NPROC), program}
	s.cmd = exec.CommandContext(ctx, spec.Program, append(args, seat.Argv[1:]...)...) //nolint:gosec // the program of the back end
	s.cmd.Env, s.cmd.Dir = seat.Env, seat.Dir
	// Without a terminal of its session, the command cannot type into the one of the person.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	s.cmd.Cancel = func() error { return s.kill(syscall.SIGKILL) }
	if grace > 0 {
		s.cmd.Cancel, s.cmd.WaitDelay = func() error { return s.kill(syscall.SIGTERM) }, grace
	}
	return s, s.start(streams)
}

// start starts the program and reads how the profile stands.
func (s *seated) start(streams Streams) (err error) {
	if s.streams, err = streams.open(); err != nil {
		return fmt.Errorf("open the streams of the command: %w", err)
	}
	defer s.streams.sent()
	ours, theirs, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer ours.Close()
	said := &beginning{}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.streams.files[0], s.streams.files[1], said
	s.cmd.ExtraFiles = []*os.File{theirs, s.streams.files[2]}
	if err = keepDescriptors(); err == nil {
		err = s.cmd.Start()
	}
	_ = theirs.Close()
	if err != nil {
		return &StageError{Layer: Rules, Doing: StartIn(Seatbelt), Cause: err.Error()}
	}
	stands, _ := bufio.NewReader(ours).ReadString('\n')
	if strings.TrimSpace(stands) == seatHolds {
		return nil
	}
	_ = s.kill(syscall.SIGKILL)
	err = s.cmd.Wait()
	cause := "a file that the profile closes could be read: the profile is not in force"
	if strings.TrimSpace(stands) != seatOpen {
		cause = cmp.Or(said.line(), fmt.Sprint("it ended before the command: ", err))
	}
	return &StageError{Layer: Rules, Doing: StartIn(Seatbelt), Cause: cause}
}

// leftOpen is how long the streams are read after the end of the command: a process that left its session may keep them open for ever.
const leftOpen = 2 * time.Second

// wait is [Jailed.Wait]. What the command left in its session ends with it.
func (s *seated) wait() (code int, most uint64, err error) {
	err = s.cmd.Wait()
	_ = s.kill(syscall.SIGKILL)
	s.streams.wait(max(s.grace, leftOpen))
	s.clean()
	code, err = exitCode(err)
	return code, 0, err
}

// kill sends a signal to every process of the command's group.
func (s *seated) kill(signal syscall.Signal) error { return syscall.Kill(-s.cmd.Process.Pid, signal) }

// clean removes the folder and the sockets of the command.
func (s *seated) clean() {
	if s.streams != nil {
		s.streams.sent()
	}
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

// exitCode is the exit code of a program that was waited for, 128 and the signal if one ended it.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded): // it ended well when it was told to
		return 0, nil
	case !errors.As(err, &exit):
		return 0, fmt.Errorf("wait for the sandbox: %w", err)
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// keepDescriptors closes the inherited descriptors of this process to the command: rules are about opening a file, not about one that is open.
func keepDescriptors() error {
	open, err := os.ReadDir("/dev/fd")
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// strict looks whether the parts that must be there are, and whether their paths lead through no link.
func (s *Spec) strict() error {
	for _, b := range s.Binds {
		if b.Kind != Tree || !b.Strict {
			continue
		}
		if to, err := filepath.EvalSymlinks(b.Source); err != nil || to != b.Source {
			return &StageError{Layer: Rules, Doing: "open " + b.Source, Cause: "it is not there any more, or a link leads to it"}
		}
	}
	return nil
}

// behindLinks adds the places to which links lead the paths of covers: rules are over paths without links. What is opened gets no such place,
// because the command may have set a link.
func (s *Spec) behindLinks() *Spec {
	out := *s
	for _, m := range s.Masks {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(m)); err == nil && dir != filepath.Dir(m) {
			out.Masks = append(slices.Clip(out.Masks), filepath.Join(dir, filepath.Base(m)))
		}
	}
	return &out
}

// ownFolder makes a folder, and returns its path without links.
func ownFolder(in string) (string, error) {
	dir, err := os.MkdirTemp(in, "seatbelt-")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// ulimit is a limit as ulimit takes it: no more than the caller's own, and - for none.
func ulimit(limit uint64, id int) string {
	var now unix.Rlimit
	if limit == 0 || unix.Getrlimit(id, &now) != nil {
		return "-"
	}
	return strconv.FormatUint(min(limit, now.Max), 10)
}

// lay makes the folders, links and files of the command.
func (s *Seat) lay() error {
	for _, dir := range s.Folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	for _, f := range s.Files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.Target), 0o700), os.WriteFile(f.Target, f.Data, 0o400)); err != nil {
			return err
		}
	}
	for _, l := range s.Links {
		to := l.Source
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(l.Target), to)
		}
		if _, err := os.Lstat(to); err != nil {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(l.Target), 0o700), os.Symlink(l.Source, l.Target)); err != nil {
			return err
		}
	}
	return nil
}

// program returns the program of the command.
func (s *Seat) program() (string, error) {
	found, err := lookPath(s.Argv[0], s.Env)
	if err != nil {
		return "", &StartError{err.Error()}
	}
	path := found
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", &StartError{s.Argv[0] + ": " + err.Error()}
	}
	return found, nil
}
