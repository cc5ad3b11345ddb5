package swarmed

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"mycelium/internal/config"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
)

// Run runs a command in the sandbox, or as it is where a person has accepted that.
func Run(ctx context.Context, p *config.Project, c *sandbox.Command, without bool) (*sandbox.Result, error) {
	if without {
		return unconfined(ctx, p, c)
	}
	return sandboxed.Run(ctx, p, c)
}

// unconfined runs a command as it is: without secrets all the same.
func unconfined(ctx context.Context, _ *config.Project, c *sandbox.Command) (*sandbox.Result, error) {
	run := ctx
	if c.Profile.Seconds > 0 {
		var cancel context.CancelFunc
		run, cancel = context.WithTimeout(ctx, time.Duration(c.Profile.Seconds*float64(time.Second)))
		defer cancel()
	}
	cmd := exec.CommandContext(run, c.Argv[0], c.Argv[1:]...) //nolint:gosec // a person wrote it
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Dir, project.Kept(c.Environ), c.In, c.Out, c.Err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && run.Err() == nil {
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	return &sandbox.Result{ExitCode: cmd.ProcessState.ExitCode(), TimedOut: run.Err() != nil && ctx.Err() == nil}, nil
}
