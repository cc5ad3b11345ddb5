package agentshell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/harness/shellwords"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/text"
)

// exitTimedOut is the exit code of a command that was ended, as of timeout(1).
const exitTimedOut = 124

// errNotCalled returns the error for a run that no agent makes.
func errNotCalled() error { return errors.New("it is not called as an agent calls it") }

// portsName is the folder, in that of a session, with the ports of the servers that its commands have started.
const portsName = "ports"

// Shell is one run of the program that an agent starts before its shell.
type Shell struct {
	Program string // the name under which it was started
	Args    []string
	Environ []string
	In      *os.File
	Out     *os.File
	Err     *os.File
	// Refused records that a command of the agent's shell does not run.
	Refused func(n *Note, command string, why error)
	// Lacked records what a command lacked in the sandbox.
	Lacked func(n *Note, session, command string, l approval.Lacked) error

	served *served // nil: this process is the program
}

// Main runs what the agent asks for, and returns its exit code. What runs outside of the sandbox takes the place of this process.
func (s *Shell) Main() int {
	folder := filepath.Dir(s.Program)
	if !filepath.IsAbs(folder) || len(s.Args) == 0 {
		return s.refuse(nil, "", errNotCalled())
	}
	line := s.Args[0]
	note, err := readNote(folder)
	switch {
	case err != nil:
		return s.refuse(nil, line, err)
	case note.Served && s.served == nil:
		r := shim.Run{Program: s.Program, Args: s.Args, Environ: s.Environ, In: s.In, Out: s.Out, Err: s.Err}
		return r.Main()
	case note.Named:
		return s.named(folder, &note)
	case len(s.Args) != 1:
		return s.refuse(nil, "", errNotCalled())
	}
	if slices.Contains(note.Lines, line) {
		return s.become([]string{"/bin/sh", "-c", line}, s.environ())
	}
	if words, ok := shellwords.Split(line); ok && slices.Equal(words, note.Server) {
		return s.become(words, s.environ())
	}
	agent, _ := harness.Named(note.Agent)
	w, err := agent.Launch.Prefix.Unwrap(line)
	if err != nil {
		return s.refuse(&note, line, err)
	}
	dir, err := s.dir()
	if err != nil {
		return s.refuse(&note, w.Command, err)
	}
	ticket, err := take(folder, w.Command, dir, time.Now())
	if err != nil {
		return s.refuse(&note, w.Command, err)
	}
	shell, err := find(w.Shell)
	if err != nil {
		return s.refuse(&note, w.Command, err)
	}
	argv := []string{shell, "-c", line}
	if ticket.Box.None() {
		return s.runOutside(folder, &note, ticket, w, shell, argv, dir)
	}
	c, err := s.command(folder, &note, ticket, dir)
	if err == nil {
		err = makeFile(w.Folder, note.State)
	}
	if err != nil {
		return s.refuse(&note, w.Command, err)
	}
	if c.Argv, c.Write = argv, append(c.Write, w.Folder); w.Snapshot != "" {
		c.Read = append(c.Read, w.Snapshot)
	}
	return s.run(&note, c, &ran{folder: folder, command: w.Command, dir: dir, more: ticket.More})
}

// runOutside runs a command outside of the sandbox: by its own words, or where the policy has a wall, as [Shell.outside] says.
func (s *Shell) runOutside(folder string, n *Note, t Ticket, w harness.Wrapped, shell string, own []string, dir string) int {
	s.warn(folder, n, w.Command)
	if err := s.closeInput(n); err != nil {
		return s.refuse(n, w.Command, err)
	}
	if t.Outside == "" {
		return s.become(own, s.environ())
	}
	argv, environ, err := s.outside(n, w, shell, dir)
	if err != nil {
		return s.refuse(n, w.Command, err)
	}
	return s.become(argv, environ)
}

// closeInput takes the input from a command that will run outside of the sandbox, if the agent's model may type into it.
func (s *Shell) closeInput(n *Note) error {
	agent, _ := harness.Named(n.Agent)
	switch {
	case !agent.Types:
		return nil
	case s.served != nil: // the process that asked becomes the command
		s.served.answer.Typist = agent.Title
		return nil
	}
	return shim.CloseInput(agent.Title, s.In, s.Out, s.Err)
}

// refuse says to the agent that something does not run.
func (s *Shell) refuse(n *Note, command string, why error) int {
	fmt.Fprintf(s.Err, "Mycelium did not run this command: %s.\n", text.Visible(why.Error()))
	if n != nil && errors.Is(why, ErrNotAdmitted) {
		fmt.Fprintln(s.Err, "A command runs once for each call of the shell tool that the policy admits. Make the call again; if that fails "+
			"too, the hook is switched off or does not know the call, and only your person can help: myc doctor tells more.")
		if !n.Named {
			fmt.Fprintln(s.Err, "Did you type this line yourself, after an exclamation mark? It reaches no hook: type it in another terminal.")
		}
	}
	if n != nil {
		s.Refused(n, command, why)
	}
	return shim.Refused
}

// become makes this process, or the one that asked, another program.
func (s *Shell) become(argv, environ []string) int {
	if s.served != nil {
		s.served.answer.Argv, s.served.answer.Environ = argv, environ
		return 0
	}
	return shim.Become(argv, environ, s.Err)
}

// find returns a shell in the places where systems have it. A PATH could name another one.
func find(shell string) (string, error) {
	for _, dir := range []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"} {
		path := filepath.Join(dir, shell)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s on this machine", shell)
}

// command makes the command of the sandbox, without its arguments.
func (s *Shell) command(folder string, n *Note, t Ticket, dir string) (*sandbox.Command, error) {
	if t.Walls.Name == "" {
		return nil, errors.New("its ticket has no profile of the sandbox")
	}
	paths, err := n.paths()
	if err != nil {
		return nil, err
	}
	c, err := sandboxed.Command(n.Folder, paths, n.Home, s.Environ)
	if err != nil {
		return nil, err
	}
	c.Closed = t.Closed
	if s.served != nil {
		c.Environ, c.Session = over(c.Environ, s.served.asked.Environ), s.served.session
	}
	c.Dir, c.Profile, c.In, c.Out, c.Err = dir, t.Walls, s.In, s.Out, s.Err
	c.Temp, c.Hide, c.Asks = filepath.Join(folder, tempName), []string{n.State}, true
	if t.Walls.Project {
		c.Serves, c.ClosedPorts = filepath.Join(folder, portsName), t.ClosedPorts
	}
	c.Locks = sandbox.Locks{Folder: n.Project, Commit: cmp.Or(n.Commit, sandbox.NoCommit)}
	more := t.More.Grants()
	c.Give(more.Hosts, more.Packages, more.Read, more.Write)
	if file := filepath.Join(folder, gitName); exists(file) {
		c.GitConfig = file
	}
	return &c, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// over is an environment with the variables of another one in front, but its PATH, by which programs that prepare a sandbox are found.
func over(environ, other []string) []string {
	out := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name != "PATH" && slices.ContainsFunc(other, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(out, slices.DeleteFunc(slices.Clone(other), func(v string) bool { return strings.HasPrefix(v, "PATH=") })...)
}

// makeFile makes the file into which the command writes where it ends: only a file that exists can be shown in the sandbox. Whoever asks a
// [Server] names the folder, and may put a link in its place meanwhile. So the folder that was opened is looked at: the state is none of the
// agent's.
func makeFile(path, state string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("make the file for the folder in which the command ends: %w", err)
	}
	defer d.Close()
	if at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", d.Fd())); err == nil && within(at, state) {
		return fmt.Errorf("%s is in the state of Mycelium", path)
	} else if err != nil && runtime.GOOS == "linux" {
		return fmt.Errorf("find where %s lies: %w", path, err)
	}
	f, err := unix.Openat(int(d.Fd()), filepath.Base(path), unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EEXIST) {
		var st unix.Stat_t
		if err := unix.Fstatat(int(d.Fd()), filepath.Base(path), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			return fmt.Errorf("%s is not a file", path)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the file for the folder in which the command ends: %w", err)
	}
	return unix.Close(f)
}

// run runs a command in the sandbox, and says what did not stay of it and what it lacked.
func (s *Shell) run(n *Note, c *sandbox.Command, r *ran) int {
	ctx := context.Background()
	if s.served != nil {
		ctx = s.served.ctx
	} else {
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		defer stop()
	}
	self, err := sandboxed.Self()
	if err != nil {
		return s.refuse(n, r.command, err)
	}
	result, err := sandbox.Run(ctx, self, c)
	if result != nil {
		s.tell(n, c, r, result)
	}
	var start *jail.StartError
	switch {
	case errors.As(err, &start):
		fmt.Fprintf(s.Err, "myc: %s\n", text.Visible(start.Error()))
		return shim.NotFound
	case err != nil:
		return s.refuse(n, r.command, err)
	case result.TimedOut:
		fmt.Fprintf(s.Err, "myc: the command was ended after %s\n", c.Profile.Timeout())
		return exitTimedOut
	}
	return result.ExitCode
}
