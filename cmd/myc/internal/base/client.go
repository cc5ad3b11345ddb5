package base

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
	"mycelium/internal/rpc"
)

// Client is a command's connection to the owner of the project. Where nobody owns it the command becomes the owner until
// done is called: the same program in this process, under the same lock.
type Client struct {
	*daemon.Client
	Done func()
}

// Connect attaches to the owner, or becomes it.
func (a *App) Connect(ctx context.Context) (*Client, error) {
	if err := a.FirstUse(); err != nil {
		return nil, err
	}
	dir, err := a.ProjectDir()
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
			return &Client{Client: c, Done: func() { _ = c.Close() }}, nil
		}
		if !errors.Is(err, daemon.ErrNotRunning) {
			return nil, err
		}
		own, err := a.become(ctx, paths)
		if !errors.Is(err, daemon.ErrOwned) {
			return own, err
		}
	}
	return nil, failure.Hint(fmt.Errorf("another process owns this project and does not answer"), "myc doctor says which; myc stop -f ends it")
}

// become opens the project in this process and attaches to itself.
func (a *App) become(ctx context.Context, paths daemon.Paths) (*Client, error) {
	_, end, err := node.Own(ctx, node.Options{Loader: &a.Loader})
	if err != nil {
		return nil, err
	}
	c, err := daemon.Dial(ctx, paths)
	if err != nil {
		end()
		return nil, err
	}
	return &Client{Client: c, Done: func() { _ = c.Close(); end() }}, nil
}

// Running attaches to an owner that runs already; nil without one.
func (a *App) Running(ctx context.Context) (*daemon.Client, daemon.Paths, error) {
	dir, err := a.ProjectDir()
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

// AnswerWithin is how long the owner may take to greet: one that is frozen must not freeze every command with it.
const AnswerWithin = 10 * time.Second

// dial attaches to the owner, and gives up on one that does not answer.
func dial(ctx context.Context, paths daemon.Paths) (*daemon.Client, error) {
	short, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	c, err := daemon.Dial(short, paths)
	if err != nil && errors.Is(err, context.DeadlineExceeded) {
		return nil, failure.Hint(fmt.Errorf("the daemon of this project does not answer: %w", err), "myc stop -f ends it")
	}
	return c, err
}

// Ask is one question to the owner, its refusals as failures with their exit codes.
func (c *Client) Ask(ctx context.Context, method string, params, out any) error {
	return Answered(c.Call(ctx, method, params, out))
}

// WarnBroken says on stderr that a file does not load, where that may be why something is hidden or refused.
func (a *App) WarnBroken(ctx context.Context, c *Client) {
	var s api.StatusReply
	if err := c.Ask(ctx, "status", nil, &s); err == nil && s.Problem != "" {
		fmt.Fprintf(a.Err, "myc: warning: a file does not load: %s\n", project.VisibleText(s.Problem))
	}
}

// Operate is an operator's act: refused to agents here already, and once more by the owner.
func (a *App) Operate(ctx context.Context, act, method string, params, out any) error {
	if err := a.NeedPerson(act); err != nil {
		return err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Done()
	return c.Ask(ctx, method, params, out)
}

// Answered gives an owner's error the exit code that it deserves.
func Answered(err error) error {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case api.CodeDenied:
		return failure.Denied(e, "")
	case api.CodeNoRole:
		if strings.Contains(e.Message, `no skill "`) {
			return failure.Hint(e, "myc skill list shows the skills, and why one takes no effect")
		}
		return failure.Hint(e, "myc policy roles lists the roles that exist")
	}
	return e
}

// Detached is the argument vector and the environment of an automatic daemon: what it was given here less credentials.
func (a *App) Detached(dir string, args ...string) ([]string, []string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	argv := []string{self, "-C", dir}
	if a.Config != "" {
		abs, err := filepath.Abs(a.Config)
		if err != nil {
			return nil, nil, fmt.Errorf("configuration file %s: %w", a.Config, err)
		}
		argv = append(argv, "--config", abs)
	}
	if a.Verbose {
		argv = append(argv, "-v")
	}
	var env []string
	for _, e := range a.Environ {
		name, _, _ := strings.Cut(e, "=")
		if name == "ANTHROPIC_API_KEY" || name == "MYCELIUM_CURRENT_ROLE" || strings.HasPrefix(name, "CLAUDE") || name == hook.TokenVar {
			continue // an agent's mark or credential is not the daemon's
		}
		env = append(env, e)
	}
	return append(argv, args...), env, nil
}

// HandOver gives the owner the variables that mycelium.yaml names under env, as they are here: ${VAR} of server entries expands
// from them.
func (a *App) HandOver(ctx context.Context, c *daemon.Client) error {
	var names []string
	if err := c.Call(ctx, "environ/names", nil, &names); err != nil || len(names) == 0 {
		return Answered(err)
	}
	var environ []string
	for _, name := range names {
		if value := a.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return Answered(c.Call(ctx, "environ/set", api.EnvironParams{Environ: environ}, nil))
}
