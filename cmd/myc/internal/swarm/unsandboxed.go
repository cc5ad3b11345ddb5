package swarm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/config"
	"mycelium/internal/node/acts"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/node/sandboxed"
	"mycelium/internal/sandbox"
	"mycelium/internal/swarm/book"
)

// bounds makes sure that workers run in the sandbox, or that a person at a terminal takes it on themselves that they do not. It returns the
// session as it is then.
func (a *app) bounds(ctx context.Context, o *opened, s *book.Session, without bool) (*book.Session, error) {
	if without {
		return a.unbound(ctx, o, s)
	}
	if s.Unsandboxed != nil { // of the driver before this one
		changed, err := o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
			s.Unsandboxed = nil
			return []book.Event{{Kind: "session", Text: "workers run in the sandbox again"}}, nil
		})
		if err != nil {
			return s, err
		}
		s = changed
	}
	if _, err := a.verify(ctx, o, o.Dir, []string{"true"}, false); err != nil {
		return s, failure.Hint(fmt.Errorf("the swarm starts no workers where the sandbox cannot be built: %w", err),
			"myc sandbox capabilities says what is missing")
	}
	return s, nil
}

// unbound records that a person has workers run outside of the sandbox.
func (a *app) unbound(ctx context.Context, o *opened, s *book.Session) (*book.Session, error) {
	if !base.StdinIsTerminal(a.In) {
		return s, failure.New(failure.Denied, errors.New("--unsandboxed: only a person at a terminal may do this"),
			"leave it out: workers run in the sandbox")
	}
	if !a.Confirm("Without the sandbox, workers and what verifies their work reach what you reach: your files, your network. Go on? [y/N] ") {
		return s, errors.New("nothing was started")
	}
	by := acts.User(os.Getuid())
	note := fmt.Sprintf("workers of the swarm run without the sandbox, session %s, by %s", s.ID, by)
	record, err := acts.Record(ctx, o.project, acts.Act{Act: "swarm auto --unsandboxed", Item: s.ID}, note)
	if err != nil {
		return s, err
	}
	return o.Change(ctx, s.ID, "", func(s *book.Session) ([]book.Event, error) {
		s.Unsandboxed = &book.Unsandboxed{At: time.Now(), By: by, Record: record}
		return []book.Event{{Kind: "session", Text: "workers run without the sandbox, by " + by}}, nil
	})
}

// confined runs a command in the sandbox, or as it is where a person has accepted that.
func confined(ctx context.Context, p *config.Project, c *sandbox.Command, without bool) (*sandbox.Result, error) {
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
