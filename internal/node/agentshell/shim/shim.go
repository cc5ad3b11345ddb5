// Package shim is the program that an agent starts before its shell, where another process answers for it: the one that started the agent.
// It is all that starts for each command, so it is part of the small program.
//
// Behind the light wall an agent's shell cannot write the state, so it can take no ticket and start no sandbox. The program asks the
// process that started the agent, and gives it its streams. A command of the sandbox is started there. A command outside of the sandbox is
// started by the program itself, behind the light wall.
package shim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Name is the name of the link to the program, in the folder of a run.
const Name = "myc-shell"

// Path returns the program of a run, by the folder of the run.
func Path(folder string) string { return filepath.Join(folder, Name) }

// Is reports whether a program was started as the one before an agent's shell, by the name under which it was started.
func Is(program string) bool { return filepath.Base(program) == Name }

// The exit codes of a command that did not run, as those of shells (POSIX.1-2017, 2.8.2).
const (
	Refused  = 126
	NotFound = 127
)

// socketName is the socket in the folder of a run.
const socketName = "shell.sock"

// Socket returns the address of the socket in an open folder: its whole path may be longer than that of a socket may be (unix(7)).
func Socket(folder *os.File) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "/proc/self/fd/" + strconv.Itoa(int(folder.Fd())) + "/" + socketName}
}

// Asked is the message of the program. Its streams come with the first byte.
type Asked struct {
	Args    []string `json:"args"`
	Environ []string `json:"environ"`
	Dir     string   `json:"dir"`            // with links resolved
	Shell   string   `json:"shell,omitzero"` // the name of the shell that started it
}

// Answered is the answer, when the command has ended.
type Answered struct {
	Exit    int      `json:"exit"`
	Argv    []string `json:"argv,omitempty"` // the program that the asking one becomes
	Environ []string `json:"environ,omitempty"`
	Typist  string   `json:"typist,omitzero"` // the agent whose model may type into it, so that it gets no input; empty: nobody does
}

// Run is one run of the program.
type Run struct {
	Program string // the name under which it was started: absolute, in the folder of the run
	Args    []string
	Environ []string
	In      *os.File
	Out     *os.File
	Err     *os.File
}

// Main asks, and returns the exit code. A command outside of the sandbox takes the place of this process.
func (r *Run) Main() int {
	a, err := r.Ask()
	if err == nil && a.Typist != "" {
		err = CloseInput(a.Typist, r.In, r.Out, r.Err)
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(r.Err, "Mycelium did not run this command: %v.\n", err)
		return Refused
	case len(a.Argv) > 0:
		return Become(a.Argv, a.Environ, r.Err)
	}
	return a.Exit
}

// Ask returns the answer of the process that started the agent.
func (r *Run) Ask() (a Answered, err error) {
	dir, err := Dir()
	if err != nil {
		return a, err
	}
	folder := filepath.Dir(r.Program)
	if !filepath.IsAbs(folder) {
		return a, errors.New("it is not called as an agent calls it")
	}
	at, err := os.Open(folder)
	if err != nil {
		return a, err
	}
	defer func() { _ = at.Close() }()
	c, err := net.DialUnix("unix", nil, Socket(at))
	if err != nil {
		return a, fmt.Errorf("the myc that started this agent does not answer: %w", err)
	}
	defer func() { _ = c.Close() }()
	q, err := json.Marshal(Asked{Args: r.Args, Environ: r.Environ, Dir: dir, Shell: Caller()})
	if err != nil {
		return a, err
	}
	q = append(q, '\n')
	rights := unix.UnixRights(int(r.In.Fd()), int(r.Out.Fd()), int(r.Err.Fd()))
	if _, _, err = c.WriteMsgUnix(q[:1], rights, nil); err == nil {
		_, err = c.Write(q[1:])
	}
	if err != nil {
		return a, err
	}
	line, err := bufio.NewReader(c).ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("the myc that started this agent ended before it answered: %w", err)
	}
	return a, json.Unmarshal(line, &a)
}

// Dir is the folder in which the program was started, with links resolved.
func Dir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// Caller is the name of the shell that started the program: zsh, or bash for every other one.
func Caller() string {
	if path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", os.Getppid())); err == nil && filepath.Base(path) == "zsh" {
		return "zsh"
	}
	return "bash"
}

// CloseInput takes the input from a command that will run outside of the sandbox, if the model of an agent may type into it: no hook is asked
// about that text. A terminal is refused, because a program can read it by its other descriptors.
func CloseInput(agent string, in *os.File, others ...*os.File) error {
	for _, f := range append(others, in) {
		if term.IsTerminal(int(f.Fd())) {
			return errors.New("it would run outside of the sandbox on a terminal, into which " + agent + " types without a question; call it " +
				"without a terminal")
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	return unix.Dup2(int(null.Fd()), int(in.Fd()))
}

// Become makes this process another program. If that fails, it says so and returns the exit code.
func Become(argv, environ []string, errs io.Writer) int {
	err := syscall.Exec(argv[0], argv, environ) //nolint:gosec // it was admitted, or stood in the settings that a person started with
	_, _ = fmt.Fprintf(errs, "myc: start %s: %v\n", argv[0], err)
	return NotFound
}
