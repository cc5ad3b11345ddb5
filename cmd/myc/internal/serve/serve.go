// Package serve has the commands that run, end and attach to the process that owns a project.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/web"
	"mycelium/internal/daemon"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/node/project"
	"mycelium/internal/op"
	"mycelium/internal/op/failure"
	"mycelium/internal/op/socket"
	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// app is the program with the commands of this family.
type app struct{ *base.App }

// Serve is `myc serve`.
func Serve(a *base.App) *cobra.Command { return (&app{a}).serveCmd() }

// Stop is `myc stop`.
func Stop(a *base.App) *cobra.Command { return (&app{a}).stopCmd() }

// MCP is `myc mcp`.
func MCP(a *base.App) *cobra.Command { return (&app{a}).mcpCmd() }

// Keeper is `myc keeper`.
func Keeper(a *base.App) *cobra.Command { return (&app{a}).keeperCmd() }

// defaultAddr is the address of the HTTP server.
const defaultAddr = "127.0.0.1:8420"

type serveOptions struct {
	addr       string
	background bool
	auto       bool
}

func (a *app) serveCmd() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use: "serve", Short: "Run the project's daemon, and serve MCP over HTTP",
		Long: "Run the daemon that owns the project, and serve MCP at http://ADDR/mcp. Every request needs the bearer token of a session\n" +
			"(myc session new), unless server.anonymous names a role for callers on this machine.",
		Example: "  myc serve --addr 127.0.0.1:8420 --background", Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), o) },
	}
	c.Flags().StringVar(&o.addr, "addr", "", "address to listen on (default: server.addr, else "+defaultAddr+")")
	c.Flags().BoolVar(&o.background, "background", false, "run in the background, and return when the daemon is ready")
	c.Flags().BoolVar(&o.auto, "auto", false, "started by an attaching client: no HTTP, ends when idle")
	_ = c.Flags().MarkHidden("auto")
	return c
}

func (a *app) serve(ctx context.Context, o serveOptions) error {
	a.Agent = a.Agent || o.auto // a client of an agent may have started it
	if !o.auto {
		if err := a.CheckTrust(); err != nil {
			return err
		}
	}
	if o.background {
		return a.serveBackground(ctx, o)
	}
	opened := node.Options{Loader: &a.Loader, Kind: daemon.Automatic}
	if !o.auto {
		opened.Kind, opened.Ask = daemon.Served, a.askToLeave
	}
	n, err := node.Open(ctx, opened)
	if errors.Is(err, daemon.ErrOwned) {
		return a.owned()
	}
	if err != nil {
		return err
	}
	defer n.Close()
	if !o.auto {
		if err := n.Listen(ctx, cmp.Or(o.addr, n.View().Project.File.Server.Addr, defaultAddr)); err != nil {
			return err
		}
		a.announce(n)
	}
	if err := n.WriteInfo(); err != nil {
		return err
	}
	web.Start(a.App)
	return n.Run(ctx)
}

// announce prints where the daemon serves and the problems of its files, at every level of the log.
func (a *app) announce(n *node.Node) {
	dir := n.View().Project.Dir
	if a.LogsJSON() {
		l := slog.New(slog.NewJSONHandler(a.Err, nil))
		l.Info("serving MCP", "url", "http://"+n.Addr()+"/mcp", "project", dir)
		for _, p := range problemsOf(n.View()) {
			l.Warn("a problem in the files", "problem", project.ProblemText(p))
		}
		return
	}
	fmt.Fprintf(a.Err, "myc: serving MCP at http://%s/mcp for %s\n", n.Addr(), dir)
	for _, p := range problemsOf(n.View()) {
		fmt.Fprintln(a.Err, project.ProblemText(p))
	}
}

// problemsOf are the problems of the files in force, and of those that wait to be accepted.
func problemsOf(v *project.View) []policy.Problem {
	waiting := v.Unaccepted()
	for i := range waiting {
		waiting[i].Message += "; the file cannot be accepted"
	}
	return slices.Concat(v.Problems, v.Names(), v.Unworkable(), waiting)
}

// serveBackground starts a detached daemon and returns when it answers.
func (a *app) serveBackground(ctx context.Context, o serveOptions) error {
	c, err := a.Running(ctx) // for a refusal before anything starts
	if err != nil && !a.WarnStranger(err) {
		return err
	}
	if c != nil {
		err = a.mayReplace(ctx, c)
		c.Close()
		if err != nil {
			return err
		}
	}
	args := []string{"serve"}
	if o.addr != "" {
		args = append(args, "--addr", o.addr)
	}
	said := time.AfterFunc(sayWaiting, a.sayOwner)
	c, err = a.Replace(ctx, args...)
	said.Stop()
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := base.Call(ctx, c, api.Status, op.None{})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "myc: serving MCP at http://%s/mcp (pid %d)\n", s.Daemon.Addr, s.Daemon.PID)
	a.WarnDamage(s)
	for _, u := range s.Unworkable {
		fmt.Fprintln(a.Err, text.Visible(u))
	}
	return nil
}

// sayWaiting is how long myc serve waits for another process before it says so.
const sayWaiting = 2 * time.Second

// sayOwner says for which process myc serve waits.
func (a *app) sayOwner() {
	_, paths, err := a.Paths()
	if err != nil {
		return
	}
	if pid, kind, _ := daemon.Owning(paths); pid != 0 && kind != daemon.Served {
		fmt.Fprintf(a.Err, "myc: waiting until the calls of process %d (%s) have ended; myc stop -f cancels them\n", pid, ownerName(kind))
	}
}

// ownerName is a kind of owner in words.
func ownerName(kind daemon.Kind) string {
	return cmp.Or(map[daemon.Kind]string{
		daemon.Command: "a command", daemon.Automatic: "a daemon that a client started", daemon.Served: "myc serve",
		daemon.Alone: "myc mcp --alone",
	}[kind], "of an earlier version")
}

// owned is the failure of myc serve where another process owns the project and stays.
func (a *app) owned() error {
	what, hint := "another process owns this project", "myc status shows it; myc stop ends it"
	if _, paths, err := a.Paths(); err == nil {
		if pid, kind, _ := daemon.Owning(paths); pid != 0 {
			what = fmt.Sprintf("process %d (%s) owns this project", pid, ownerName(kind))
		}
	}
	return failure.Hint(fmt.Errorf("serve: %s", what), hint)
}

// mayReplace refuses to replace a daemon that a person has started, or a gateway that serves its own client. A daemon that a client has
// started gives way to a person's when its calls have ended, and its clients attach to the next one by themselves. A command always does.
func (a *app) mayReplace(ctx context.Context, c *base.Client) error {
	_, paths, err := a.Paths()
	if err != nil {
		return err
	}
	s, err := base.Call(ctx, c, api.Status, op.None{})
	pid, kind, _ := daemon.Owning(paths)
	switch {
	case err != nil:
		return err
	case pid == c.Owner && kind == daemon.Command:
		return nil
	case pid == c.Owner && kind == daemon.Alone:
		return a.owned()
	case s.Daemon.Addr != "":
		return failure.Hint(fmt.Errorf("serve: a daemon already runs: pid %d, http://%s/mcp", s.Daemon.PID, s.Daemon.Addr),
			"myc stop ends it")
	}
	return a.NeedPerson(api.GiveWay.Act)
}

// askToLeave asks the owner of the project to give way.
func (a *app) askToLeave(ctx context.Context, c *daemon.Client, of daemon.Kind) error {
	err := a.NeedPerson(api.GiveWay.Act)
	switch {
	case err != nil && of == daemon.Command:
		return nil // it ends without being asked
	case err != nil:
		return err
	case of != "":
		_, err = socket.Call(ctx, c, api.GiveWay, op.None{})
		return err
	}
	s, err := socket.Call(ctx, c, api.Status, op.None{})
	switch {
	case err != nil:
		return err
	case s.Daemon.Addr != "":
		return daemon.ErrOwned
	}
	_, err = socket.Call(ctx, c, api.Stop, op.None{})
	return err
}
