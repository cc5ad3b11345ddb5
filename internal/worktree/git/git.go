// Package git runs the git program for code that must not be led by what surrounds it. No variable of the environment reaches git
// but those named here, hooks and monitors are switched off, nothing is collected or asked in between, and what git prints is
// bounded.
//
// What a person has configured for files, filters and merge drivers, does run, because files are not right without them.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Git is git in one folder. The zero values of all fields but Dir are useful.
type Git struct {
	Dir      string     // the working folder, absolute
	Home     string     // where the settings of the account are; $HOME if empty
	Env      []string   // further variables, such as GIT_DIR
	Settings []string   // further options before the command: "-c", "name=value"
	Most     int        // bytes that Run returns; 16 MiB if 0
	Files    []*os.File // further files of git, which are its descriptors from 3 on
	Inside   Inside     // git runs within the walls of a worker; nil: it runs here
	Hold     *os.File   // a lock file: its lock is held until git has ended, also when this process is killed; nil: none
}

const (
	mostOutput = 16 << 20        // bytes of what Run returns
	mostErrors = 2 << 10         // bytes of what git says went wrong
	graceTime  = 2 * time.Second // between asking git to end, so that it removes its lock files, and killing it
)

// Error is what git says when it fails.
type Error struct {
	Command string // such as "update-ref"
	Code    int    // exit status; -1 if git did not start, or was killed
	Text    string // the end of what it wrote to its standard error output, at most 2 KiB
	err     error
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("git %s: %v", e.Command, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.Command, e.Text)
}

// Unwrap returns why the program ended: of the context if it was over.
func (e *Error) Unwrap() error { return e.err }

// Code returns the exit status of git. It is 0 without an error, and -1 for an error that is no exit status.
func Code(err error) int {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return -1
}

// Run returns what git prints. The error is an [*Error]; one that wraps [bytes.ErrTooLarge] if git prints more than the bound.
func (g Git) Run(ctx context.Context, args ...string) ([]byte, error) {
	most := g.Most
	if most == 0 {
		most = mostOutput
	}
	bounded := &limited{left: most}
	err := g.Pipe(ctx, nil, bounded, args...)
	if e, ok := errors.AsType[*Error](err); ok && bounded.left < 0 { // git may have died of the pipe that was closed
		e.err = bytes.ErrTooLarge
	}
	return bounded.b.Bytes(), err
}

// Line returns the one line that git prints, without its end.
func (g Git) Line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Run(ctx, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// List returns the names that git prints, each of which ends with a NUL (-z).
func (g Git) List(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.Run(ctx, args...)
	return Names(out), err
}

// Names splits what git prints with -z.
func Names(out []byte) []string {
	var names []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name = strings.TrimPrefix(name, "\n"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Inside runs a program within the walls of the worker in whose tree dir lies, and copies what it prints. The program finds what the worker
// finds, and changes nothing. If it fails, the error is a [StatusError].
type Inside func(ctx context.Context, dir string, in io.Reader, out io.Writer, argv []string) error

// StatusError says with which status a program within the walls of a worker ended.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("it ended with status %d", int(e)) }

// Bare runs a program as [Inside] says, without any walls, and with nothing of this process in its environment.
func Bare(ctx context.Context, dir string, in io.Reader, out io.Writer, argv []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // of our own
	cmd.Dir, cmd.Stdin, cmd.Stdout = dir, in, out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1"}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return StatusError(exit.ExitCode())
	}
	return err
}

// pipeInside is [Git.Pipe] within the walls of a worker. What git says of an error stays there.
func (g Git) pipeInside(ctx context.Context, in io.Reader, out io.Writer, args []string) error {
	err := g.Inside(ctx, g.Dir, in, out, append(append([]string{"git"}, g.options()...), args...))
	if err == nil {
		return nil
	}
	code := -1
	if status, ok := errors.AsType[StatusError](err); ok {
		code = int(status)
	}
	return &Error{Command: command(args), Code: code, err: err}
}

// Pipe runs git with an input, which may be nil, and copies what it prints.
func (g Git) Pipe(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	if g.Inside != nil {
		return g.pipeInside(ctx, in, out, args)
	}
	cmd := exec.CommandContext(ctx, "git", append(g.options(), args...)...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Env = g.Dir, in, out, g.environ()
	cmd.WaitDelay = graceTime
	cmd.ExtraFiles = g.Files
	if g.Hold != nil {
		cmd.ExtraFiles = append(slices.Clone(g.Files), g.Hold)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	said := &ending{}
	cmd.Stderr = said
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	code := -1
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	return &Error{Command: command(args), Code: code, Text: strings.TrimSpace(string(said.b)), err: err}
}

// command returns the command in the arguments, which follows the options.
func command(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a
		}
	}
	return ""
}

func (g Git) options() []string {
	return append([]string{"--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null",
		"-c", "diff.external=", "-c", "log.showSignature=false", "-c", "core.quotePath=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "commit.gpgsign=false", "-c", "core.untrackedCache=false", "-c", "core.splitIndex=false", "-c", "submodule.recurse=false",
		"-c", "core.filesRefLockTimeout=2000"}, g.Settings...)
}

func (g Git) environ() []string {
	home := g.Home
	if home == "" {
		home = os.Getenv("HOME")
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1"}
	return append(env, g.Env...)
}

// limited is a buffer that refuses more than a number of bytes. It does not embed the buffer, whose ReadFrom would go around the bound.
type limited struct {
	b    bytes.Buffer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, bytes.ErrTooLarge
	}
	return l.b.Write(b)
}

// ending keeps the last bytes that are written to it.
type ending struct{ b []byte }

func (e *ending) Write(b []byte) (int, error) {
	e.b = append(e.b, b...)
	if over := len(e.b) - mostErrors; over > 0 {
		e.b = append(e.b[:0], e.b[over:]...)
	}
	return len(b), nil
}
