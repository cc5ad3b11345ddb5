package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"mycelium/internal/rpc"
	"mycelium/internal/state"
)

// bed is a temporary folder with the program, a home and projects. It is removed at the end.
type bed struct {
	dir  string
	myc  string
	self string
	env  []string
}

func newBed(ctx context.Context, myc string) (*bed, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	b := &bed{dir: dir, myc: myc}
	for _, d := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return nil, errors.Join(err, b.remove())
		}
	}
	b.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"ENABLE_DASHBOARD=false",
		"LANG=C.UTF-8"}
	if b.self, err = os.Executable(); err == nil && myc == "" {
		b.myc = filepath.Join(dir, "myc")
		var out []byte
		if out, err = b.goBuild(ctx, b.myc, "mycelium/cmd/myc"); err != nil {
			err = fmt.Errorf("build: %w: %s", err, out)
		}
	} else if err == nil {
		b.myc, err = filepath.Abs(myc)
	}
	if err != nil {
		return nil, errors.Join(err, b.remove())
	}
	return b, nil
}

// state is the state folder of the bed.
func (b *bed) state() state.Root {
	return state.Root(filepath.Join(b.dir, "home", ".local", "state", "mycelium"))
}

// goBuild builds a program of this module.
func (b *bed) goBuild(ctx context.Context, file, pkg string, environ ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", "build", "-o", file, pkg)
	c.Env = append(os.Environ(), environ...)
	return c.CombinedOutput()
}

func (b *bed) remove() error { return os.RemoveAll(b.dir) }

func (b *bed) close() { _ = b.remove() }

// project creates a project with myc init. With echo, it adds the echo server and a skill that grants it.
func (b *bed) project(ctx context.Context, name string, withEcho bool) (string, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	if _, err := b.output(ctx, dir, "init"); err != nil {
		return "", err
	}
	if !withEcho {
		return dir, nil
	}
	for _, f := range [][2]string{
		{"mycelium.yaml", fmt.Sprintf("\nmcpServers:\n  echo: {command: %q, args: [echo]}\n", b.self)},
		{"skills/bench/SKILL.md", "---\nname: bench\ndescription: Calls the echo server.\nallowedRoles: [bench]\nallowedTools: " +
			"[echo__echo]\n---\nCall echo.\n"},
		{"roles/bench.yaml", "id: bench\nname: Bench\ndescription: Calls the echo server.\nallowedSkills: [bench]\n"},
	} {
		if err := appendTo(filepath.Join(dir, f[0]), f[1]); err != nil {
			return "", err
		}
	}
	for _, command := range [][]string{{"trust", "--yes"}, {"tools", "sync"}} { // the new files, and the tools of the new server
		if _, err := b.output(ctx, dir, command...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func appendTo(file, text string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, append(old, text...), 0o600) //nolint:gosec // in a folder that we made
}

// command returns a run of the program in a project.
func (b *bed) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, b.myc, args...)
	c.Dir, c.Env = dir, b.env
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	return c
}

func (b *bed) output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	c := b.command(ctx, dir, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("myc %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

// peer is a process that speaks JSON-RPC over its pipes.
type peer struct {
	*conn
	cmd    *exec.Cmd
	stdin  io.Closer
	ended  chan struct{}
	stderr bytes.Buffer
}

func connect(cmd *exec.Cmd) (*peer, error) {
	p := &peer{cmd: cmd, ended: make(chan struct{})}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = &p.stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin, p.conn = in, newConn(out, in)
	go func() {
		defer close(p.ended)
		p.read()
	}()
	return p, nil
}

// ask makes a request that must succeed.
func (p *peer) ask(ctx context.Context, method, params string) error {
	m, err := p.call(ctx, method, []byte(params))
	if err != nil {
		return fmt.Errorf("%s: %w: %s", method, err, p.stderr.String())
	}
	if m.Result == nil {
		return fmt.Errorf("%s: %s", method, m.Error)
	}
	return nil
}

const initialize = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`

// hello sends what a client sends before its first list.
func (p *peer) hello(ctx context.Context) error {
	if err := p.ask(ctx, "initialize", initialize); err != nil {
		return err
	}
	return p.send(rpc.Message{Method: "notifications/initialized"})
}

// end closes the stdin of the process and returns its CPU time.
func (p *peer) end() time.Duration {
	_ = p.stdin.Close()
	<-p.ended
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// cpu returns the CPU time of the threads of running processes.
func cpu(pids ...int) time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, f := range files {
			raw, _ := os.ReadFile(f)
			ns, _, _ := strings.Cut(string(raw), " ")
			n, _ := strconv.ParseInt(ns, 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}

// resident returns the resident memory of a running process: its own, and pages of the program's file.
func resident(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	var parts []string
	for line := range strings.Lines(string(raw)) {
		for _, key := range []string{"VmRSS", "RssAnon", "RssFile"} {
			if kb, ok := strings.CutPrefix(line, key+":"); ok {
				n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kb), " kB"))
				parts = append(parts, fmt.Sprintf("%s %.1f MiB", key, float64(n)/1024))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// quantile returns a quantile of values, which it sorts.
func quantile[T cmp.Ordered](values []T, q float64) T {
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}

func table(rows [][]string) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t")+"\t")
	}
	_ = w.Flush()
}
