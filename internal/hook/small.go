package hook

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/harness"
	"mycelium/internal/state"
)

// small is one run of the small program myc-hook. If no daemon runs, it becomes `myc hook`, which decides by the files.
type small struct {
	args    []string // without the name of the program: AGENT and flags
	environ []string
}

// RunSmall is the main function of myc-hook. args do not include the name of the program. interrupted returns a context that ends when
// the program is to end. RunSmall returns the exit code.
func RunSmall(interrupted func() context.Context, args []string, in *os.File, out, errs io.Writer, environ []string) int {
	s := small{args, environ}
	if len(args) == 2 && args[0] == DoorGateway {
		return gatewayAt(args[1], in, out, errs)
	}
	f, ok := ParseFlags(append([]string{"hook"}, args...))
	if !ok {
		return BadEntry(errs, append([]string{Small}, args...))
	}
	project, err := s.project(f)
	p := Program{
		Flags: f, Project: project, Out: out, Err: errs, Getenv: s.getenv, Environ: environ,
		Interrupted: interrupted,
		Note:        func(ctx context.Context, event []byte, _ harness.Event, why string) { s.note(ctx, event, why) },
	}
	p.Alone = func(ctx context.Context, _ Command) int {
		at, _ := ctx.Deadline()
		return p.fault(s.become(p.event, []string{"--deadline", time.Until(at).String()}).Error())
	}
	p.In = patient{in, p.watch}
	p.begin()
	if err != nil {
		return p.fault(s.become(nil, nil).Error())
	}
	return p.run()
}

// project returns where the state of the project is. In the sandbox there is none to look at.
func (s *small) project(f Flags) (paths state.Paths, err error) {
	if f.Door != "" {
		return paths, nil
	}
	dir, found, err := f.ProjectDir(s.getenv)
	if err == nil {
		paths, err = f.Paths(dir, found)
	}
	return paths, err
}

// BadEntry reports an entry of an agent's configuration with other arguments than the installer writes, and returns the exit code. It
// blocks: nobody else reads the text of a command that an agent starts.
func BadEntry(errs io.Writer, args []string) int {
	_, _ = fmt.Fprintf(errs, "Mycelium denied this call: %q is not an entry that the installer writes. Nothing ran.\nhint: `myc hook install "+
		"AGENT` writes the entry; `myc hook --help` describes its flags\n", args)
	return harness.Block
}

// patient reads a file, and calls slow if no data arrives within a moment.
type patient struct {
	*os.File
	slow func()
}

// moment is how long an agent usually takes, at most, between starting the hook and writing the event, in milliseconds.
const moment = 50

func (p patient) Read(b []byte) (int, error) {
	ready := []unix.PollFd{{Fd: int32(p.Fd()), Events: unix.POLLIN}}
	if n, err := unix.Poll(ready, moment); n == 0 || err != nil {
		p.slow()
	}
	return p.File.Read(b)
}

// become replaces this process with `myc hook`, with the same arguments and more, and with the event if it was read. It returns only if
// that fails.
func (s *small) become(event []byte, more []string) error {
	path, err := myc()
	if err == nil && event != nil {
		if err = replaceStdin(event); err != nil {
			err = fmt.Errorf("pass the event to %s: %w", path, err)
		}
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", path, syscall.Exec(path, slices.Concat([]string{path, "hook"}, s.args, more), s.clean()))
}

// note has `myc hook` record a denial that was not decided.
func (s *small) note(ctx context.Context, event []byte, why string) {
	path, err := myc()
	if err != nil {
		return
	}
	cmd := exec.CommandContext(ctx, path, slices.Concat([]string{"hook"}, s.args, []string{"--fault", why})...)
	cmd.Env, cmd.Stdin = s.clean(), strings.NewReader(string(event))
	_ = cmd.Run()
}

// SameProgram reports whether a program, by its name or path, is the file at a path.
func SameProgram(path, program string) bool {
	if !filepath.IsAbs(program) {
		var err error
		if program, err = exec.LookPath(program); err != nil {
			return false
		}
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(program)
	return err == nil && os.SameFile(a, b)
}

// Programs are the names under which the whole program is installed. [Small] is installed beside it.
var Programs = [...]string{"myc", "mycelium", "mycelium-cli"}

// Small is the name of the small program.
const Small = "myc-hook"

// myc returns the path of the whole program: where the installer noted it, else beside this one.
func myc() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	if note, err := ReadInstalled(self); err == nil {
		if st, err := os.Stat(note.Myc); err == nil && st.Mode().IsRegular() {
			return note.Myc, nil
		}
		return "", fmt.Errorf("%s is gone; without a daemon it decides. `myc hook install` by a person mends it", note.Myc)
	}
	for _, name := range Programs {
		path := filepath.Join(filepath.Dir(self), name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is missing beside %s; without a daemon it decides", Programs[0], self)
}

// clean returns the environment without the variables that make the loader load other libraries. A project's settings may have set them.
func (s *small) clean() []string {
	return slices.DeleteFunc(slices.Clone(s.environ),
		func(kv string) bool { return strings.HasPrefix(kv, "LD_") || strings.HasPrefix(kv, "DYLD_") })
}

func (s *small) getenv(name string) string {
	for _, kv := range slices.Backward(s.environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// pipeHolds is how much a pipe holds on every system without a reader, in bytes.
const pipeHolds = 16 << 10

// replaceStdin replaces standard input with a text, also for the program that this process becomes.
func replaceStdin(text []byte) error {
	if len(text) <= pipeHolds {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		if _, err = w.Write(text); err == nil {
			err = w.Close()
		}
		if err != nil {
			return err
		}
		return unix.Dup2(int(r.Fd()), 0)
	}
	f, err := os.CreateTemp("", "myc-hook-")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return unix.Dup2(int(f.Fd()), 0)
}
