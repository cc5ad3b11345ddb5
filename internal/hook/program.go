package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mycelium/internal/harness"
)

// Program is one run of the small program myc-hook. It passes the event to the daemon and prints the answer. Where no daemon runs it
// becomes `myc hook`, which decides by the files.
type Program struct {
	Args    []string // behind the name of the program: AGENT and flags
	In      io.Reader
	Out     io.Writer
	Err     io.Writer
	Environ []string

	mu       sync.Mutex // guards what follows; it is held for good once this process becomes another
	event    []byte     // what was read of the event
	answered bool       // something was printed
}

// Run answers one event, and returns the exit code. What goes wrong denies where a tool comes next.
func (p *Program) Run(ctx context.Context) int {
	f, ok := ParseFlags(append([]string{"hook"}, p.Args...))
	if !ok { // myc says what is wrong
		return p.refuse(p.become(nil))
	}
	dir, err := filepath.Abs(ProjectDir(f.Agent, f.Dir, p.getenv))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return p.refuse(p.become(nil))
	}
	d := Daemon{Dir: dir, Token: p.getenv(TokenVar), Alone: func(ctx context.Context, _ harness.Event) (harness.Answer, error) {
		var more []string
		if at, ok := ctx.Deadline(); ok {
			more = []string{"--deadline", time.Until(at).String()}
		}
		return harness.Answer{}, p.become(more)
	}}
	c := Command{
		Flags: f, In: reader{p}, Out: writer{p}, Err: p.Err, Getenv: p.getenv, Decide: d.Decide, Own: p.isMyc,
		Note: func(ctx context.Context, _ harness.Event, why string) { p.note(ctx, why) },
	}
	return c.Run(ctx)
}

// refuse blocks what comes next, whatever the event is.
func (p *Program) refuse(err error) int {
	_, _ = fmt.Fprintf(p.Err, "Mycelium denied this call: %v. Nothing ran.\n", err)
	return harness.Block
}

// reader reads the event and keeps it.
type reader struct{ *Program }

func (r reader) Read(b []byte) (int, error) {
	n, err := r.In.Read(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.event) <= harness.MaxInput {
		r.event = append(r.event, b[:n]...)
	}
	return n, err
}

// writer prints the answer, unless this process has become another, which prints its own.
type writer struct{ *Program }

func (w writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = true
	return w.Out.Write(b)
}

// become replaces this process by `myc hook` with the same arguments, and more, and the event that was read. It returns only if that
// fails.
func (p *Program) become(more []string) error {
	path, err := myc()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answered {
		return errors.New("the answer came too late")
	}
	if p.event != nil {
		if err := replaceStdin(p.event); err != nil {
			return fmt.Errorf("pass the event to %s: %w", path, err)
		}
	}
	argv := slices.Concat([]string{path, "hook"}, p.Args, more)
	return fmt.Errorf("start %s: %w", path, syscall.Exec(path, argv, p.clean()))
}

// note has `myc hook` record a denial that nobody decided.
func (p *Program) note(ctx context.Context, why string) {
	path, err := myc()
	if err != nil {
		return
	}
	p.mu.Lock()
	event := string(p.event)
	p.mu.Unlock()
	cmd := exec.CommandContext(ctx, path, slices.Concat([]string{"hook"}, p.Args, []string{"--fault", why})...)
	cmd.Env, cmd.Stdin = p.clean(), strings.NewReader(event)
	_ = cmd.Run()
}

// isMyc reports whether a server that an agent started is our program: one of the same name that is not is no gateway of ours.
func (p *Program) isMyc(program string) bool {
	path, err := myc()
	return err == nil && SameProgram(path, program)
}

// SameProgram reports whether a program, as somebody calls it, is the file at a path.
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

// Programs are the names under which the whole program is installed. Small is that of the small one, which stands beside it.
var Programs = [...]string{"myc", "mycelium", "mycelium-cli"}

// Small is the name of the small program.
const Small = "myc-hook"

// myc is the whole program beside this one.
func myc() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	for _, name := range Programs {
		path := filepath.Join(filepath.Dir(self), name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode().Perm()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s beside %s, which decides where no daemon runs", Programs[0], self)
}

// clean is the environment without what makes the loader of a dynamic program load something else: a project's settings may have set it.
func (p *Program) clean() []string {
	return slices.DeleteFunc(slices.Clone(p.Environ), func(kv string) bool { return strings.HasPrefix(kv, "LD_") || strings.HasPrefix(kv, "DYLD_") })
}

func (p *Program) getenv(name string) string {
	for _, kv := range slices.Backward(p.Environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// pipeHolds is what every system's pipe holds without a reader, in bytes.
const pipeHolds = 16 << 10

// replaceStdin makes a text what is read from standard input, also by the program that this process becomes.
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
