package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/rpc"
)

// client is a command's connection to the owner of the project. Where nobody owns it the command becomes the owner until
// done is called: the same program in this process, under the same lock.
type client struct {
	*daemon.Client
	done func()
}

// connect attaches to the owner, or becomes it.
func (a *app) connect(ctx context.Context) (*client, error) {
	if err := a.firstUse(); err != nil {
		return nil, err
	}
	dir, err := a.projectDir()
	if err != nil {
		return nil, err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return nil, err
	}
	for range 2 { // an owner may end between our two questions; not twice
		c, err := dial(ctx, paths)
		if err == nil {
			return &client{Client: c, done: func() { _ = c.Close() }}, nil
		}
		if !errors.Is(err, daemon.ErrNotRunning) {
			return nil, err
		}
		own, err := a.become(ctx, paths)
		if !errors.Is(err, daemon.ErrOwned) {
			return own, err
		}
	}
	return nil, hinted(fmt.Errorf("another process owns this project and does not answer"), "myc doctor says which; myc stop -f ends it")
}

// become opens the project in this process and attaches to itself.
func (a *app) become(ctx context.Context, paths daemon.Paths) (*client, error) {
	_, end, err := a.own(ctx)
	if err != nil {
		return nil, err
	}
	c, err := daemon.Dial(ctx, paths)
	if err != nil {
		end()
		return nil, err
	}
	return &client{Client: c, done: func() { _ = c.Close(); end() }}, nil
}

// own opens the project in this process and runs it until end is called, which returns when everything is closed.
func (a *app) own(ctx context.Context) (n *node, end func(), err error) {
	if n, err = a.openNode(ctx); err != nil {
		return nil, nil, err
	}
	runCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	finished := make(chan error, 1)
	go func() { finished <- n.run(runCtx) }()
	return n, func() {
		cancel()
		if err := <-finished; err != nil && !errors.Is(err, context.Canceled) {
			n.logger.Warn("close project", "err", err)
		}
		n.close()
	}, nil
}

// running attaches to an owner that runs already; nil without one.
func (a *app) running(ctx context.Context) (*daemon.Client, daemon.Paths, error) {
	dir, err := a.projectDir()
	if err != nil {
		return nil, daemon.Paths{}, err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return nil, paths, err
	}
	c, err := dial(ctx, paths)
	if errors.Is(err, daemon.ErrNotRunning) {
		return nil, paths, nil
	}
	return c, paths, err
}

// answerWithin is how long the owner may take to greet: one that is frozen must not freeze every command with it.
const answerWithin = 10 * time.Second

// dial attaches to the owner, and gives up on one that does not answer.
func dial(ctx context.Context, paths daemon.Paths) (*daemon.Client, error) {
	short, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	c, err := daemon.Dial(short, paths)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, hinted(fmt.Errorf("the daemon of this project does not answer: %w", err), "myc stop -f ends it")
	}
	return c, err
}

// ask is one question to the owner, its refusals as failures with their exit codes.
func (c *client) ask(ctx context.Context, method string, params, out any) error {
	return answered(c.Call(ctx, method, params, out))
}

// warnBroken says on stderr that a file does not load, where that may be why something is hidden or refused.
func (a *app) warnBroken(ctx context.Context, c *client) {
	var s statusReply
	if err := c.ask(ctx, "status", nil, &s); err == nil && s.Problem != "" {
		fmt.Fprintf(a.err, "myc: warning: a file does not load: %s\n", visibleText(s.Problem))
	}
}

// operate is an operator's act: refused to agents here already, and once more by the owner.
func (a *app) operate(ctx context.Context, act, method string, params, out any) error {
	if err := a.needPerson(act); err != nil {
		return err
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	return c.ask(ctx, method, params, out)
}

// answered gives an owner's error the exit code that it deserves.
func answered(err error) error {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case codeDenied:
		return deniedError(e, "")
	case codeNoRole:
		if strings.Contains(e.Message, `no skill "`) {
			return hinted(e, "myc skill list shows the skills, and why one takes no effect")
		}
		return hinted(e, "myc policy roles lists the roles that exist")
	}
	return e
}

// detached is the argument vector and the environment of an automatic daemon: what it was given here less credentials.
func (a *app) detached(dir string, args ...string) ([]string, []string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	argv := []string{self, "-C", dir}
	if a.config != "" {
		abs, err := filepath.Abs(a.config)
		if err != nil {
			return nil, nil, fmt.Errorf("configuration file %s: %w", a.config, err)
		}
		argv = append(argv, "--config", abs)
	}
	if a.verbose {
		argv = append(argv, "-v")
	}
	var env []string
	for _, e := range a.environ {
		name, _, _ := strings.Cut(e, "=")
		if name == "ANTHROPIC_API_KEY" || name == "MYCELIUM_CURRENT_ROLE" || strings.HasPrefix(name, "CLAUDE") || name == tokenVar {
			continue // an agent's mark or credential is not the daemon's
		}
		env = append(env, e)
	}
	return append(argv, args...), env, nil
}
