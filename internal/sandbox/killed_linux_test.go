package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mycelium/internal/sandbox/jail"
)

// projectCommand is a command on a project that belongs to the test.
func projectCommand(t *testing.T, argv ...string) *Command {
	t.Helper()
	dir := open(t, os.Getuid())
	profile, _ := Find("project")
	c := &Command{Argv: argv, Dir: filepath.Join(dir, "project"), Project: filepath.Join(dir, "project"), Profile: profile,
		Home: filepath.Join(dir, "home"), Caches: filepath.Join(dir, "cache"), Scratch: filepath.Join(dir, "scratch"),
		Quarantine: filepath.Join(dir, "quarantine"), Environ: []string{"PATH=/usr/bin:/bin"}}
	for _, d := range []string{c.Caches, c.Scratch, c.Quarantine} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// self says how the child is started: by the test binary.
func self(t *testing.T) jail.Self {
	t.Helper()
	return jail.Self{Argv: []string{actor(t), jail.ChildName}}
}

// endless says "ready" and the descriptors' view of itself, and stays until it is killed, with children that left its session.
const endless = `mkdir -p .gemini; echo '{}' > .gemini/settings.json
setsid sleep infinity & setsid -f sleep infinity; echo ready; exec sleep infinity`

// TestKilled kills the program with -9 while a command runs, and then the first process of the sandbox, or the runtime of containers. Each
// time everything ends, and the next run puts away what would govern.
func TestKilled(t *testing.T) {
	for _, who := range []string{"the program", "the first process", "the program of a container", "the runtime of a container"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			backend := jail.Own
			if strings.HasSuffix(who, "of a container") {
				backend = jail.Container
			}
			c := projectCommand(t, "sh", "-c", endless)
			program := exec.CommandContext(t.Context(), self(t).Argv[0], "run-endless", c.Project, c.Home, c.Scratch, c.Quarantine,
				string(backend))
			out, err := program.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			program.Stderr = os.Stderr
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "ready" {
				t.Fatalf("it says %q", lines.Text())
			}
			first := childOf(t, program.Process.Pid)
			runtime := first
			if backend == jail.Container {
				first = childOf(t, runtime)
			}
			fd, err := unix.PidfdOpen(first, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unix.Close(fd) }()
			space := namespace(t, first)
			victim := program.Process.Pid
			switch who {
			case "the first process":
				victim = first
			case "the runtime of a container":
				victim = runtime
			}
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = program.Wait()
			// The first process ends last: the kernel ends all others of its namespace before.
			for {
				_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1) //nolint:gosec // a descriptor
				if err == nil {
					break
				}
				if !errors.Is(err, unix.EINTR) {
					t.Fatal(err)
				}
			}
			if left := inNamespace(space); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			next := *c
			next.Argv = []string{"sh", "-c", "test ! -e .gemini/settings.json"}
			if result, err := Run(t.Context(), self(t), &next); err != nil || result.ExitCode != 0 {
				t.Errorf("the file that would govern is still there: %v %+v", err, result)
			}
			if found, err := filepath.Glob(filepath.Join(c.Quarantine, "*", "settings.json")); err != nil || len(found) != 1 {
				t.Errorf("quarantine has %v (%v)", found, err)
			}
			if left, err := os.ReadDir(c.Scratch); err != nil || len(left) > 0 {
				t.Errorf("private copies are left: %v %v", left, err)
			}
		})
	}
}

// runEndless is the program that TestKilled kills.
func runEndless(args []string) int {
	profile, _ := Find("project")
	profile.Backend = jail.Backend(args[4])
	c := &Command{Argv: []string{"sh", "-c", endless}, Dir: args[0], Project: args[0], Profile: profile, Home: args[1], Scratch: args[2],
		Quarantine: args[3], Environ: []string{"PATH=/usr/bin:/bin"}, Out: os.Stdout, Err: os.Stderr}
	path, err := os.Executable()
	if err != nil {
		return 1
	}
	if _, err = Run(context.Background(), jail.Self{Argv: []string{path, jail.ChildName}}, c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childOf is the one child of a process.
func childOf(t *testing.T, pid int) int {
	t.Helper()
	all, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if data, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(data)) > 0 {
			child, err := strconv.Atoi(strings.Fields(string(data))[0])
			if err != nil {
				t.Fatal(err)
			}
			return child
		}
	}
	t.Fatal("it has no child")
	return 0
}

// namespace names the process namespace of a process.
func namespace(t *testing.T, pid int) string {
	t.Helper()
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// inNamespace lists the processes of a process namespace that have not ended.
func inNamespace(name string) []string {
	var out []string
	all, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, path := range all {
		status, err := os.ReadFile(strings.TrimSuffix(path, "ns/pid") + "status")
		if err != nil || bytes.Contains(status, []byte("State:\tZ")) {
			continue // it has ended
		}
		if of, err := os.Readlink(path); err == nil && of == name {
			out = append(out, path)
		}
	}
	return out
}

// TestMany runs fifty commands at once on one project. Nothing is left of them, and no mount shows outside.
func TestMany(t *testing.T) {
	c := projectCommand(t, "sh", "-c", "echo $$ > $0 && cat $0 && rm $0")
	before := mounts(t)
	errs := make(chan error, 50)
	for i := range cap(errs) {
		one := *c
		one.Argv = append(append([]string{}, c.Argv...), fmt.Sprintf("file-%d", i))
		go func() {
			result, err := Run(t.Context(), self(t), &one)
			if err == nil && result.ExitCode != 0 {
				err = fmt.Errorf("exit code %d", result.ExitCode)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if now := mounts(t); now != before {
		t.Errorf("mounts were\n%s\nand are\n%s", before, now)
	}
	if left, err := os.ReadDir(c.Scratch); err != nil || len(left) > 0 {
		t.Errorf("private copies are left: %v %v", left, err)
	}
}

// mounts are the mounts that this process sees below the folder for temporary files, where the sandbox's own are.
func mounts(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.Contains(line, " myc ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// TestRefuses takes away what a layer needs: the command does not run with a wall missing.
func TestRefuses(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	c := projectCommand(t, "touch", marker)
	c.Write = []string{filepath.Dir(marker)}
	w, err := c.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spec, err := c.spec(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	spec.Binds = append(spec.Binds, jail.Bind{Kind: jail.Tree, Source: "/usr/bin/env", Target: c.Project + "/absent"})
	_, err = jail.Start(t.Context(), self(t), spec, jail.Streams{})
	if err == nil || !strings.Contains(err.Error(), "layer mount") {
		t.Errorf("it ran, or failed otherwise: %v", err)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("the command ran")
	}
	if _, err := os.Lstat(c.Project + "/absent"); err == nil {
		t.Error("a placeholder is on the machine")
	}
	if err := w.end(); err != nil {
		t.Error(err)
	}
}

// TestNotTheWholeMachine: a command that would see / is refused, in words that say why.
func TestNotTheWholeMachine(t *testing.T) {
	t.Parallel()
	profile, _ := Find("standard")
	_, err := Run(t.Context(), self(t), &Command{Argv: []string{"true"}, Dir: "/", Read: []string{"/"}, Profile: profile})
	if err == nil || !strings.Contains(err.Error(), "the whole machine") {
		t.Error(err)
	}
}
