// Package serve has the commands that run, end and attach to the process that owns a project.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/web"
	"mycelium/internal/daemon"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
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
	if !o.auto {
		if err := a.replaceAuto(ctx); err != nil {
			return err
		}
	}
	n, err := node.Open(ctx, node.Options{Loader: &a.Loader, Stays: true, Serves: !o.auto, Auto: o.auto})
	if errors.Is(err, daemon.ErrOwned) {
		return failure.Hint(fmt.Errorf("serve: another process owns this project"), "myc status shows it; myc stop ends it")
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
	if err := a.replaceAuto(ctx); err != nil {
		return err
	}
	args := []string{"serve"}
	if o.addr != "" {
		args = append(args, "--addr", o.addr)
	}
	c, err := a.Attach(ctx, args...)
	if err != nil {
		return err
	}
	defer c.Close()
	s, err := base.Call(ctx, c, api.Status, api.None{})
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

// replaceAuto ends an automatic daemon, which does not serve HTTP, so that this daemon can take its place. The clients attach again by
// themselves. A daemon that a person has started stays.
func (a *app) replaceAuto(ctx context.Context) error {
	c, err := a.Running(ctx)
	if a.WarnStranger(err) {
		return nil
	}
	if err != nil || c == nil {
		return err
	}
	defer c.Close()
	s, err := base.Call(ctx, c, api.Status, api.None{})
	if err != nil {
		return err
	}
	if s.Daemon.Addr != "" {
		return failure.Hint(fmt.Errorf("serve: a daemon already runs: pid %d, http://%s/mcp", s.Daemon.PID, s.Daemon.Addr),
			"myc stop ends it")
	}
	if err := a.NeedPerson("replace the daemon"); err != nil {
		return err
	}
	if _, err := base.Call(ctx, c, api.Stop, api.None{}); err != nil {
		return err
	}
	_, paths, err := a.Paths()
	if err != nil {
		return err
	}
	return a.awaitEnd(ctx, paths, c.Owner)
}
