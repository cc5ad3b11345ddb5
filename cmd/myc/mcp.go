package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mycelium/internal/daemon"
	"mycelium/internal/policy"
)

func (a *app) mcpCmd() *cobra.Command {
	var p sessionParams
	var alone, dev, background bool
	run := func(c *cobra.Command, _ []string) error {
		if dev {
			a.verbose = true
		}
		transport := a.getenv("MCP_TRANSPORT")
		if transport != "" && transport != "stdio" && transport != "http" {
			return usageError("MCP_TRANSPORT: %q is neither stdio nor http", transport)
		}
		if background || transport == "http" {
			return a.serve(c.Context(), serveOptions{background: background})
		}
		return a.mcp(c.Context(), p, alone)
	}
	flags := func(c *cobra.Command) *cobra.Command {
		f := c.Flags()
		f.StringVar(&p.Role, "role", "", "first role of the session")
		f.StringSliceVar(&p.May, "may", nil, "further roles that the session may take")
		f.StringSliceVar(&p.Skills, "skill", nil, "active skills (default: the start set of the role)")
		f.StringVar(&p.Token, "token", "", "join the session of this token ("+tokenVar+" does the same)")
		f.BoolVar(&alone, "alone", false, "own the project in this process instead of attaching to its daemon")
		return c
	}
	cmd := flags(&cobra.Command{
		Use: "mcp", Short: "Serve MCP over stdio: what a client's configuration starts",
		Long: "Serves one MCP client over stdin and stdout. It attaches to the project's daemon and starts one if none runs.\n" +
			"Without --role, --may and --token the session is the one that session: in mycelium.yaml describes.",
		Example: "  myc mcp --role guest --may developer",
		Args:    noArgs, RunE: run,
	})
	start := flags(&cobra.Command{Use: "start", Short: "The same as myc mcp", Example: "  myc mcp start --background", Args: noArgs, RunE: run})
	start.Flags().BoolVar(&background, "background", false, "run the daemon in the background (as myc serve --background)")
	start.Flags().BoolVar(&dev, "dev", false, "log more; files are always reloaded when they change")
	status, stop := a.statusCmd(), a.stopCmd()
	cmd.AddCommand(start, status, stop, a.loginCmd(), a.logoutCmd())
	return cmd
}

// mcp serves one client on stdin and stdout.
func (a *app) mcp(ctx context.Context, p sessionParams, alone bool) error {
	if p.Token == "" {
		p.Token = a.getenv(tokenVar)
	}
	if role := a.getenv("MYCELIUM_CURRENT_ROLE"); p.Role == "" && role != "" {
		p.Role = role // it can only narrow: the owner takes it as it takes --role
	}
	if err := a.firstUse(); err != nil {
		return err
	}
	dir, err := a.projectDir()
	if err != nil {
		return err
	}
	paths, err := daemon.PathsOf(dir)
	if err != nil {
		return err
	}
	if !alone {
		return a.relay(ctx, dir, paths, p)
	}
	err = a.alone(ctx, p)
	if errors.Is(err, daemon.ErrOwned) {
		return a.relay(ctx, dir, paths, p) // under the same lock: the owner's socket serves us
	}
	return err
}

// alone owns the project in this process and serves the client without a way between; others may attach to its socket meanwhile.
func (a *app) alone(ctx context.Context, p sessionParams) error {
	n, end, err := a.own(ctx)
	if err != nil {
		return err
	}
	defer end()
	_, s, done, e := n.attach(ctx, daemon.Caller{PID: os.Getpid(), UID: os.Getuid()}, p)
	if e != nil {
		return answered(e)
	}
	defer done()
	return n.gateway.Stdio(ctx, s, a.in, a.out)
}

// handOver gives the owner the variables that mycelium.yaml names under env, as they are here: ${VAR} of server entries expands
// from them.
func (a *app) handOver(ctx context.Context, c *daemon.Client) error {
	var names []string
	if err := c.Call(ctx, "environ/names", nil, &names); err != nil || len(names) == 0 {
		return answered(err)
	}
	var environ []string
	for _, name := range names {
		if value := a.getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return answered(c.Call(ctx, "environ/set", environParams{environ}, nil))
}

// relay attaches to the daemon, starting it if none runs; where it cannot be started this process owns the project itself.
func (a *app) relay(ctx context.Context, dir string, paths daemon.Paths, p sessionParams) error {
	argv, env, err := a.detached(dir, "serve", "--auto")
	if err != nil {
		return err
	}
	return a.relayWith(ctx, p, func(ctx context.Context) (*daemon.Client, error) { return daemon.Attach(ctx, paths, argv, env) })
}

// relayWith carries lines between the client and the owner, and finds the owner again, with the same session, when it dies.
func (a *app) relayWith(ctx context.Context, p sessionParams, attach func(context.Context) (*daemon.Client, error)) error {
	dial := func(ctx context.Context) (net.Conn, error) {
		c, err := attach(ctx)
		if err != nil {
			return nil, err
		}
		if err := a.handOver(ctx, c); err != nil {
			_ = c.Close()
			return nil, err
		}
		var got attached
		conn, err := c.Stream(ctx, "mcp", p, &got)
		if err != nil {
			_ = c.Close()
			return nil, answered(err)
		}
		p = sessionParams{Token: got.Token, Own: p.Token == "" || p.Own}
		return conn, nil
	}
	in, out := a.in, a.out
	return daemon.Relay(ctx, in, out, dial)
}

func (a *app) callCmd() *cobra.Command {
	var p callParams
	var args string
	c := &cobra.Command{
		Use: "call TOOL", Short: "Call one tool through the door",
		Example: `  myc call files__read_file --role guest --args '{"path":"README.md"}'`,
		Args:    argRange(1, 1, "one tool name"),
		RunE: func(c *cobra.Command, rest []string) error {
			p.Tool = rest[0]
			p.Args = []byte(strings.TrimSpace(args))
			return a.call(c.Context(), p)
		},
	}
	c.Flags().StringVar(&args, "args", "{}", "arguments, a JSON object; - reads stdin")
	c.Flags().StringVar(&p.Role, "role", "", "role of the call (default: session.defaultRole)")
	c.Flags().StringSliceVar(&p.Skills, "skill", nil, "active skills (default: the start set of the role)")
	return c
}

func (a *app) call(ctx context.Context, p callParams) error {
	if string(p.Args) == "-" {
		b, err := io.ReadAll(a.in)
		if err != nil {
			return fmt.Errorf("read arguments from stdin: %w", err)
		}
		p.Args = b
	}
	if _, err := policy.ParseArgs(p.Args); err != nil {
		return usageError("call: --args: %w", err)
	}
	if p.Token == "" {
		p.Token = a.getenv(tokenVar)
	}
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	var r callResult
	if err := c.ask(ctx, "call", p, &r); err != nil {
		return err
	}
	if len(r.Error) > 0 {
		if r.Denied {
			a.warnBroken(ctx, c)
		}
		return a.callError(r)
	}
	return a.callOutput(r.Result)
}

func (a *app) statusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "The daemon, backends, sessions, and how much is concealed", Example: "  myc status --json", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.status(c.Context()) },
	}
}

func (a *app) stopCmd() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "stop", Short: "Stop the project's daemon", Example: "  myc stop", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.stop(c.Context(), force) },
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "kill it if it does not answer")
	return c
}

func (a *app) keeperCmd() *cobra.Command {
	return &cobra.Command{
		Use: "keeper", Short: "Own the processes of backends (started by the daemon)", Hidden: true, Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return runKeeper() },
	}
}

// stdinIsTerminal reports whether a person types. A character device alone is none: /dev/null is one.
func stdinIsTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
