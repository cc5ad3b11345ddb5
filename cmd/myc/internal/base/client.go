package base

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
)

// AnswerWithin is how long the node of a project may take to answer a connection. It keeps a frozen node from freezing every command.
const AnswerWithin = 10 * time.Second

// Client is a connection to the node of a project.
type Client struct {
	conn  *daemon.Client
	end   func() // closes the node, where this process opened it; else nil
	Owner int    // process id of the node
}

// Close closes the connection, and the node where this process opened it.
func (c *Client) Close() {
	_ = c.conn.Close()
	if c.end != nil {
		c.end()
	}
}

// Wait returns when the node is gone, with nil, or when ctx ends. The client cannot be used any more.
func (c *Client) Wait(ctx context.Context) error { return c.conn.Wait(ctx) }

// Connect attaches to the node of the project. Where none runs, this process is the node until the client is closed: the same
// program, under the same lock. While a daemon starts, or the node ends, Connect waits for the next node.
func (a *App) Connect(ctx context.Context) (*Client, error) {
	if err := a.CheckTrust(); err != nil {
		return nil, err
	}
	for {
		c, other := a.Running(ctx)
		if c != nil || other != nil && !a.WarnStranger(other) {
			return c, other
		}
		c, err := a.become(ctx)
		switch {
		case errors.Is(err, daemon.ErrSilent):
			return nil, failure.Hint(errors.New("another process owns this project and does not answer"),
				"myc doctor says which; myc stop -f ends it")
		case !errors.Is(err, daemon.ErrOwned) && !errors.Is(err, daemon.ErrNotRunning):
			return c, err
		case other != nil:
			return nil, other
		}
	}
}

// become opens the node in this process and attaches to it. The error is daemon.ErrNotRunning if a person has stopped it at once.
func (a *App) become(ctx context.Context) (*Client, error) {
	_, end, err := node.Own(ctx, node.Options{Loader: &a.Loader, Kind: daemon.Command})
	if err != nil {
		return nil, err
	}
	c, err := a.Running(ctx)
	switch {
	case err != nil:
		end()
		return nil, err
	case c == nil:
		end()
		return nil, daemon.ErrNotRunning
	}
	c.end = end
	return c, nil
}

// Running attaches to a node that runs already; nil if none runs. If something else answers, the error wraps a *daemon.StrangerError.
func (a *App) Running(ctx context.Context) (*Client, error) {
	_, paths, err := a.Paths()
	if err != nil {
		return nil, err
	}
	short, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	c, err := daemon.Dial(short, paths)
	switch {
	case errors.Is(err, daemon.ErrNotRunning):
		return nil, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, failure.Hint(fmt.Errorf("the daemon of this project does not answer: %w", err), "myc stop -f ends it")
	case err != nil:
		return nil, a.hintStranger(ctx, err)
	}
	return &Client{conn: c, Owner: c.Owner()}, nil
}

// Replace starts a daemon with these arguments, and attaches to it when it answers, even if another process is the node: it asks that one
// to leave. The error shows the daemon's log if that process stays.
func (a *App) Replace(ctx context.Context, args ...string) (*Client, error) {
	dir, paths, err := a.Paths()
	if err != nil {
		return nil, err
	}
	argv, env, err := a.detached(dir, args)
	if err != nil {
		return nil, err
	}
	c, err := daemon.Replace(ctx, paths, argv, env)
	if err != nil {
		return nil, a.hintStranger(ctx, err)
	}
	return &Client{conn: c, Owner: c.Owner()}, nil
}

// Attach attaches to the daemon of the project. If none runs, it starts one with these arguments; without arguments, a daemon that ends
// when it is idle. A daemon that it starts takes the socket from whatever else answers there.
func (a *App) Attach(ctx context.Context, args ...string) (*Client, error) {
	dir, paths, err := a.Paths()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args = []string{"serve", "--auto"}
	}
	argv, env, err := a.detached(dir, args)
	if err != nil {
		return nil, err
	}
	c, err := daemon.Dial(ctx, paths)
	if err == nil {
		return &Client{conn: c, Owner: c.Owner()}, nil
	}
	a.WarnStranger(a.hintStranger(ctx, err))
	c, err = daemon.Attach(ctx, paths, argv, env)
	if err != nil {
		return nil, a.hintStranger(ctx, err)
	}
	return &Client{conn: c, Owner: c.Owner()}, nil
}

// detached returns the command line and the environment of a daemon.
func (a *App) detached(dir string, args []string) (argv, environ []string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	argv = []string{self, "-C", dir}
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
	paths, err := a.State()
	if err != nil {
		return nil, nil, err
	}
	if environ, err = a.DaemonEnviron(); err != nil {
		return nil, nil, err
	}
	return slices.Concat(argv, paths.Pin(), args), environ, nil
}

// Call sends a request to the node.
func Call[P, R any](ctx context.Context, c *Client, m op.Op[P, R], p P) (R, error) {
	return socket.Call(ctx, c.conn, m, p)
}

// Operate sends a request that only a person may make. An agent is refused here, and again by the node.
func Operate[P, R any](ctx context.Context, a *App, m op.Op[P, R], p P) (reply R, err error) {
	if err := a.NeedPerson(m.Act); err != nil {
		return reply, err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return reply, err
	}
	defer c.Close()
	return Call(ctx, c, m, p)
}

// Stream sends a request whose connection then carries something else. It ends the use of the client for requests.
func Stream[P, R any](ctx context.Context, c *Client, m op.Op[P, R], p P) (conn net.Conn, reply R, err error) {
	conn, err = c.conn.Stream(ctx, m.Name, p, &reply)
	return conn, reply, failure.FromRPC(err)
}

// HandOver gives the node the variables that mycelium.yaml names under env, with their values here: ${VAR} in server entries expands
// from them.
func (a *App) HandOver(ctx context.Context, c *Client) error {
	names, err := Call(ctx, c, api.EnvironNames, op.None{})
	if err != nil || len(names) == 0 {
		return err
	}
	var environ []string
	for _, name := range names {
		if value := a.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	_, err = Call(ctx, c, api.EnvironSet, api.EnvironParams{Environ: environ})
	return err
}
