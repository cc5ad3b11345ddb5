package agentshell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/harness/shellwords"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
	"mycelium/internal/text"
)

// The exit codes of a command that did not run, as those of shells (POSIX.1-2017, 2.8.2).
const (
	exitRefused  = 126
	exitNotFound = 127
	exitTimedOut = 124 // as timeout(1)
)

// errNotCalled returns the error for a run that no agent makes.
func errNotCalled() error { return errors.New("it is not called as an agent calls it") }

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
	case note.Named:
		return s.named(folder, &note)
	case len(s.Args) != 1:
		return s.refuse(nil, "", errNotCalled())
	}
	if slices.Contains(note.Lines, line) {
		return s.become([]string{"/bin/sh", "-c", line})
	}
	if words, ok := shellwords.Split(line); ok && slices.Equal(words, note.Server) {
		return s.become(words)
	}
	agent, _ := harness.Named(note.Agent)
	w, err := agent.Launch.Prefix.Unwrap(line)
	if err != nil {
		return s.refuse(&note, line, err)
	}
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
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
		return s.become(argv)
	}
	c, err := s.command(folder, &note, ticket, dir)
	if err == nil {
		err = makeFile(w.Folder)
	}
	if err != nil {
		return s.refuse(&note, w.Command, err)
	}
	if c.Argv, c.Write = argv, append(c.Write, w.Folder); w.Snapshot != "" {
		c.Read = append(c.Read, w.Snapshot)
	}
	return s.run(&note, c, &ran{folder: folder, command: w.Command, dir: dir, more: ticket.More})
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
	return exitRefused
}

// become makes this process another program.
func (s *Shell) become(argv []string) int {
	err := syscall.Exec(argv[0], argv, s.Environ) //nolint:gosec // it was admitted, or stood in the settings that a person started with
	fmt.Fprintf(s.Err, "myc: start %s: %v\n", argv[0], err)
	return exitNotFound
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
	c.Dir, c.Profile, c.In, c.Out, c.Err = dir, t.Walls, s.In, s.Out, s.Err
	c.Temp, c.Hide, c.Asks = filepath.Join(folder, tempName), []string{n.State}, true
	c.Give(t.More.Names(approval.NeedHost), t.More.Names(approval.NeedRead), t.More.Names(approval.NeedWrite))
	if file := filepath.Join(folder, gitName); exists(file) {
		c.GitConfig = file
	}
	return &c, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// makeFile makes the file into which the command writes where it ends: only a file that exists can be shown in the sandbox.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the agent names it, as it would for the shell
	if errors.Is(err, fs.ErrExist) {
		if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
			return fmt.Errorf("%s is not a file", path)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the file for the folder in which the command ends: %w", err)
	}
	return f.Close()
}

// run runs a command in the sandbox, and says what did not stay of it and what it lacked.
func (s *Shell) run(n *Note, c *sandbox.Command, r *ran) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
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
		return exitNotFound
	case err != nil:
		return s.refuse(n, r.command, err)
	case result.TimedOut:
		fmt.Fprintf(s.Err, "myc: the command was ended after %s\n", c.Profile.Timeout())
		return exitTimedOut
	}
	return result.ExitCode
}
