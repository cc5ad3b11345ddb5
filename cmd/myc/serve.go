package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"mycelium/internal/atomicfile"
	"mycelium/internal/daemon"
)

// defaultAddr is where HTTP is served (cli.md).
const defaultAddr = "127.0.0.1:8420"

type serveOptions struct {
	addr       string
	background bool
	auto       bool
}

func (a *app) serveCmd() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use: "serve", Short: "Run the daemon: MCP over HTTP at /mcp, and the owner of the project",
		Long: "Owns the project and serves MCP at http://ADDR/mcp. Every request needs the bearer token of a session\n" +
			"(myc session new), unless server.anonymous names a role for callers on this machine.",
		Example: "  myc serve --addr 127.0.0.1:8420 --background", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.serve(c.Context(), o) },
	}
	c.Flags().StringVar(&o.addr, "addr", "", "address to listen on (default: server.addr, else "+defaultAddr+")")
	c.Flags().BoolVar(&o.background, "background", false, "detach and return once it is up")
	c.Flags().BoolVar(&o.auto, "auto", false, "started by an attaching client: no HTTP, ends when idle")
	_ = c.Flags().MarkHidden("auto")
	return c
}

func (a *app) serve(ctx context.Context, o serveOptions) error {
	if !o.auto {
		if err := a.firstUse(); err != nil {
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
	a.daemon, a.serves = true, !o.auto
	n, err := a.openNode(ctx)
	if errors.Is(err, daemon.ErrOwned) {
		return hinted(fmt.Errorf("serve: another process owns this project"), "myc status shows it; myc stop ends it")
	}
	if err != nil {
		return err
	}
	defer n.close()
	n.auto = o.auto
	if !o.auto {
		addr := o.addr
		if addr == "" {
			addr = n.view.project.File.Server.Addr
		}
		if addr == "" {
			addr = defaultAddr
		}
		if err := n.listen(addr); err != nil {
			return err
		}
		a.announce(n)
	}
	if err := n.writeInfo(); err != nil {
		return err
	}
	return n.run(ctx)
}

// announce tells where a daemon serves and what is wrong with its files, whatever the level of the log is.
func (a *app) announce(n *node) {
	if a.logsJSON() {
		l := slog.New(slog.NewJSONHandler(a.err, nil))
		l.Info("serving MCP", "url", "http://"+n.addr+"/mcp", "project", n.dir)
		for _, p := range n.view.problems {
			l.Warn("a problem in the files", "problem", problemText(p))
		}
		return
	}
	fmt.Fprintf(a.err, "myc: serving MCP at http://%s/mcp for %s\n", n.addr, n.dir)
	for _, p := range n.view.problems {
		fmt.Fprintln(a.err, problemText(p))
	}
}

// serveBackground starts the daemon detached and returns when it answers.
func (a *app) serveBackground(ctx context.Context, o serveOptions) error {
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return err
	}
	if err := a.replaceAuto(ctx); err != nil {
		return err
	}
	args := []string{"serve"}
	if o.addr != "" {
		args = append(args, "--addr", o.addr)
	}
	argv, env, err := a.detached(dir, args...)
	if err != nil {
		return err
	}
	c, err := daemon.Attach(ctx, paths, argv, env)
	if err != nil {
		return err
	}
	defer c.Close()
	var s statusReply
	if err := answered(c.Call(ctx, "status", nil, &s)); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "myc: serving MCP at http://%s/mcp (pid %d)\n", s.Daemon.Addr, s.Daemon.PID)
	return nil
}

// replaceAuto ends an automatic daemon, which serves no HTTP, so that this one can take its place: its clients attach again by
// themselves. A daemon that a person started stays.
func (a *app) replaceAuto(ctx context.Context) error {
	c, paths, err := a.running(ctx)
	if err != nil || c == nil {
		return err
	}
	defer c.Close()
	var s statusReply
	if err := answered(c.Call(ctx, "status", nil, &s)); err != nil {
		return err
	}
	if s.Daemon.Addr != "" {
		return hinted(fmt.Errorf("serve: a daemon already runs: pid %d, http://%s/mcp", s.Daemon.PID, s.Daemon.Addr), "myc stop ends it")
	}
	if err := a.needPerson("replace the daemon"); err != nil {
		return err
	}
	if err := answered(c.Call(ctx, "stop", nil, nil)); err != nil {
		return err
	}
	return waitFree(ctx, paths)
}

// info is what daemon.json says of a daemon, for people and for `stop -f`.
type info struct {
	PID   int       `json:"pid"`
	Addr  string    `json:"addr,omitempty"`
	Since time.Time `json:"since"`
}

func (n *node) writeInfo() error {
	b, err := json.Marshal(info{os.Getpid(), n.addr, n.since.UTC()})
	if err == nil {
		err = atomicfile.Note(n.paths.Info, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("leave a note about this daemon: %w", err)
	}
	n.onClose(func() { _ = os.Remove(n.paths.Info) })
	return nil
}

// waitFree waits until nobody owns the project.
func waitFree(ctx context.Context, paths daemon.Paths) error {
	patience := 10 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline)
	}
	l, err := atomicfile.LockWait(paths.Lock, patience)
	if err != nil {
		return fmt.Errorf("wait for the daemon to end: %w", err)
	}
	return l.Unlock()
}

func (a *app) stop(ctx context.Context, force bool) error {
	if err := a.needPerson("stop the daemon"); err != nil {
		return err
	}
	patience := answerWithin
	if force {
		patience = 2 * time.Second // whoever forces has waited already
	}
	greeting, done := context.WithTimeout(ctx, patience)
	defer done()
	c, paths, err := a.running(greeting)
	if err == nil && c == nil {
		fmt.Fprintln(a.err, "myc: no daemon runs for this project")
		return nil
	}
	if err == nil {
		defer c.Close()
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err = answered(c.Call(short, "stop", nil, nil)); err == nil {
			err = waitFree(short, paths)
		}
	}
	if err == nil {
		return nil
	}
	if !force {
		return hinted(fmt.Errorf("stop: the daemon does not end: %w", err), "myc stop -f kills it")
	}
	return kill(ctx, paths)
}

// kill ends a daemon that does not answer. Its servers end with their keeper.
func kill(ctx context.Context, paths daemon.Paths) error {
	b, err := os.ReadFile(paths.Info)
	if errors.Is(err, fs.ErrNotExist) {
		return hinted(fmt.Errorf("stop: nothing says which process the daemon is"), "find it with: fuser "+paths.Lock)
	}
	if err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	var i info
	if err := json.Unmarshal(b, &i); err != nil || i.PID <= 1 {
		return fmt.Errorf("stop: %s holds no process id", paths.Info)
	}
	if err := syscall.Kill(i.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop: kill %d: %w", i.PID, err)
	}
	return waitFree(ctx, paths)
}
