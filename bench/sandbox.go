package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/hook"
	"mycelium/internal/node/agentshell"
	"mycelium/internal/node/agentshell/shim"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/sandbox/jail"
)

// The limits of the issue on a start in the sandbox: over the command alone, against the bare start of the program, and in memory of its
// own.
const (
	sandboxLimit  = 20 * time.Millisecond
	sandboxRatio  = 4
	sandboxMemory = 10 << 10 // KiB
)

// manyFiles is the size of the larger project, in files: all are looked at before and after each command.
const manyFiles = 10_000

// measureSandbox starts a command that does nothing, alone and in the sandbox, by turns.
func measureSandbox(ctx context.Context, b *bed, o options) error {
	if o.myc == "" { // with the program that is measured, the one beside it is
		beside := filepath.Join(filepath.Dir(b.myc), hook.Small)
		if out, err := b.goBuild(ctx, beside, "mycelium/cmd/myc-hook", "CGO_ENABLED=0"); err != nil {
			return fmt.Errorf("build: %w: %s", err, out)
		}
	}
	small, err := b.project(ctx, "sandboxed", false)
	if err != nil {
		return err
	}
	large, err := b.project(ctx, "sandboxed-large", false)
	if err != nil {
		return err
	}
	for n := range manyFiles {
		dir := filepath.Join(large, "d", fmt.Sprint(n/100))
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project of the measurement
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o600); err != nil {
			return err
		}
	}
	inside := func(dir, profile string) func() *exec.Cmd {
		return func() *exec.Cmd { return b.command(ctx, dir, "sandbox", "exec", "--profile", profile, "--", "true") }
	}
	ways := []struct {
		name string
		make func() *exec.Cmd
		wall []time.Duration
	}{
		{name: "true", make: func() *exec.Cmd { return exec.CommandContext(ctx, "true") }},
		{name: "myc version", make: func() *exec.Cmd { return b.command(ctx, small, "version") }},
		{name: "strict", make: inside(small, "strict")},
		{name: "standard", make: inside(small, "standard")},
		{name: "project", make: inside(small, "project")},
		{name: fmt.Sprintf("project, %d files", manyFiles), make: inside(large, "project")},
	}
	for range o.starts {
		for i := range ways {
			began := time.Now()
			if out, err := ways[i].make().CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", ways[i].name, err, out)
			}
			ways[i].wall = append(ways[i].wall, time.Since(began))
		}
	}
	own := quantile(ways[1].wall, 0.5)
	rows := [][]string{{"a command that does nothing", "least", "median", "over the command alone", "of myc version"}}
	for _, w := range ways {
		median := quantile(w.wall, 0.5)
		rows = append(rows, []string{w.name, ms(quantile(w.wall, 0)), ms(median), ms(median - quantile(ways[0].wall, 0.5)),
			fmt.Sprintf("%.2f", float64(median)/float64(own))})
	}
	fmt.Println()
	table(rows)
	fmt.Printf("limits of the issue: %s over the command alone, %d times myc version\n", ms(sandboxLimit), sandboxRatio)
	if err := b.sandboxMemory(ctx, small); err != nil {
		return err
	}
	return b.measureSession(ctx, o, []string{small, large})
}

// sessionLimit is the aim of issue 30 for the second and later commands of a session.
const sessionLimit = 10 * time.Millisecond

// measureSession starts a command that does nothing as the process does that started an agent: the runs of one session after the first, in
// turn with runs of their own; and the program that the agent starts before its shell, which asks that process and is refused here.
func (b *bed) measureSession(ctx context.Context, o options, dirs []string) error {
	self := jail.Self{Argv: []string{b.myc, jail.ChildName}, Small: filepath.Join(filepath.Dir(b.myc), hook.Small)}
	profile, _ := sandbox.Find("project")
	rows := [][]string{{"a command that does nothing, without the start of a program", "least", "median"}}
	for _, dir := range dirs {
		c, err := sandboxed.Command(dir, b.state().Of(dir), filepath.Join(b.dir, "home"), os.Environ())
		if err != nil {
			return err
		}
		c.Argv, c.Profile, c.Out, c.Err = []string{"true"}, profile, io.Discard, io.Discard
		kept := c
		kept.Session = &sandbox.Session{}
		defer kept.Session.Close()
		took := map[*sandbox.Command][]time.Duration{}
		for n := range o.starts + 1 {
			for _, c := range []*sandbox.Command{&c, &kept} {
				began := time.Now()
				if r, err := sandbox.Run(ctx, self, c); err != nil || r.ExitCode != 0 {
					return fmt.Errorf("run: %+v %w", r, err)
				}
				if n > 0 {
					took[c] = append(took[c], time.Since(began))
				}
			}
		}
		for _, w := range []struct {
			name string
			c    *sandbox.Command
		}{{"by itself", &c}, {"in a session", &kept}} {
			rows = append(rows, []string{filepath.Base(dir) + ", " + w.name, ms(quantile(took[w.c], 0)), ms(quantile(took[w.c], 0.5))})
		}
	}
	asks, err := b.shimStarts(ctx, o, dirs[0])
	if err != nil {
		return err
	}
	rows = append(rows, []string{"the program before the shell", ms(quantile(asks, 0)), ms(quantile(asks, 0.5))})
	fmt.Println()
	table(rows)
	fmt.Printf("limit of the issue: %s for the second and later commands of a session\n", ms(sessionLimit))
	return nil
}

// shimStarts starts the program before an agent's shell, which asks for a command that nobody admitted.
func (b *bed) shimStarts(ctx context.Context, o options, dir string) (took []time.Duration, err error) {
	folder, err := os.MkdirTemp(b.dir, "shell")
	if err != nil {
		return nil, err
	}
	n := agentshell.Note{Agent: "claude", Folder: dir, Project: dir, State: string(b.state()), Served: true}
	if err := agentshell.Prepare(folder, b.myc, n, os.Environ()); err != nil {
		return nil, err
	}
	s := &agentshell.Server{Folder: folder, Shell: func() agentshell.Shell {
		return agentshell.Shell{Refused: func(*agentshell.Note, string, error) {}}
	}}
	end, err := s.Listen()
	if err != nil {
		return nil, err
	}
	defer end()
	for range o.starts {
		c := exec.CommandContext(ctx, shim.Path(folder), "true")
		began := time.Now()
		out, err := c.CombinedOutput()
		took = append(took, time.Since(began))
		if !strings.Contains(string(out), "Mycelium did not run this command") {
			return nil, fmt.Errorf("ask: %w: %s", err, out)
		}
	}
	return took, nil
}

// sandboxMemory prints the memory of the sandbox's own process that it shares with no other.
func (b *bed) sandboxMemory(ctx context.Context, dir string) error {
	out, err := b.command(ctx, dir, "sandbox", "exec", "--", "cat", "/proc/1/status").Output()
	if err != nil {
		return fmt.Errorf("read the memory of the sandbox: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			fmt.Printf("memory of the sandbox's own: %s of %d kB\n", strings.TrimSpace(rest), sandboxMemory)
		}
	}
	return nil
}
