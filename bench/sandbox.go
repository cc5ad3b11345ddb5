package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/hook"
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
	return b.sandboxMemory(ctx, small)
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
