package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/cmd/myc/internal/relay"
	"mycelium/internal/daemon"
	"mycelium/internal/hook"
	"mycelium/internal/node"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
)

// Front is a command `mcp` of a family that has a built-in server: it serves just the tools of that server, under their bare names, to one
// client over stdio. The session and the policy are as for `myc mcp`.
func Front(b *base.App, server string) *cobra.Command {
	a := &app{b}
	p := api.SessionParams{Only: server}
	c := &cobra.Command{
		Use: "mcp", Short: "Serve just these tools to one MCP client over stdio",
		Long: "As myc mcp, with the tools of the built-in server " + server + " only, under their bare names. A tool is there if a\n" +
			"skill of the session's role grants it, and each call is decided and recorded as everywhere.",
		Args: base.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.mcp(c.Context(), p, false) },
	}
	sessionFlags(c, &p)
	return c
}

// sessionFlags are the flags that describe the session of a client.
func sessionFlags(c *cobra.Command, p *api.SessionParams) {
	f := c.Flags()
	f.StringVar(&p.Role, "role", "", "first role of the session")
	f.StringSliceVar(&p.May, "may", nil, "further roles that the session may take")
	f.StringSliceVar(&p.Skills, "skill", nil, "active skills (default: those that are active at the start)")
	f.StringVar(&p.Token, "token", "", "join the session of this token ("+hook.TokenVar+" does the same)")
}

func (a *app) mcpCmd() *cobra.Command {
	var p api.SessionParams
	var alone, dev, background bool
	var addr string
	run := func(c *cobra.Command, _ []string) error {
		if dev {
			a.Verbose = true
		}
		transport := a.Getenv("MCP_TRANSPORT")
		if transport != "" && transport != "stdio" && transport != "http" {
			return failure.Usagef("MCP_TRANSPORT: %q is neither stdio nor http", transport)
		}
		if addr != "" {
			if err := noSession(c); err != nil {
				return err
			}
		}
		if background || addr != "" || transport == "http" {
			return a.serve(c.Context(), serveOptions{addr: addr, background: background})
		}
		return a.mcp(c.Context(), p, alone)
	}
	flags := func(c *cobra.Command) *cobra.Command {
		sessionFlags(c, &p)
		c.Flags().BoolVar(&alone, "alone", false, "own the project in this process instead of attaching to its daemon")
		return c
	}
	cmd := flags(&cobra.Command{
		Use: "mcp", Short: "Serve MCP over stdio to one client",
		Long: "Serve one MCP client over standard input and output. The command connects to the project's daemon, and starts one if none\n" +
			"runs. Without --role, --may and --token, session: in mycelium.yaml describes the session.",
		Example: "  myc mcp --role guest --may developer",
		Args:    base.NoArgs, RunE: run,
	})
	start := flags(&cobra.Command{Use: "start", Short: "The same as myc mcp, or with --addr the same as myc serve",
		Example: "  myc mcp start --background\n  myc mcp start --addr 127.0.0.1:8420", Args: base.NoArgs, RunE: run})
	start.Flags().StringVar(&addr, "addr", "", "serve MCP over HTTP on this HOST:PORT (as myc serve --addr)")
	start.Flags().BoolVar(&background, "background", false, "run the daemon in the background (as myc serve --background)")
	start.Flags().BoolVar(&dev, "dev", false, "log more; files are always reloaded when they change")
	cmd.AddCommand(start, a.stopCmd(), a.installCmd(), a.loginCmd(), a.logoutCmd())
	return cmd
}

// noSession refuses the flags that describe the session of one client, where many are served over HTTP: none would have that session.
func noSession(c *cobra.Command) error {
	for _, name := range []string{"role", "may", "skill", "token", "alone"} {
		if c.Flags().Changed(name) {
			return failure.Usagef("--%s: with --addr, each client over HTTP brings its own session; myc session new mints one", name)
		}
	}
	return nil
}

// roleVar names the first role of a session where --role does not.
const roleVar = "MYCELIUM_CURRENT_ROLE"

// mcp serves one client on stdin and stdout.
func (a *app) mcp(ctx context.Context, p api.SessionParams, alone bool) error {
	a.Agent = true
	if p.Token == "" {
		p.Token = a.Getenv(hook.TokenVar)
	}
	if role := a.Getenv(roleVar); p.Role == "" && role != "" {
		p.Role, p.Narrow = role, true // an environment may be somebody else's, so it gives no role that session: does not name
	}
	p.Environ = hook.Places(a.Environ)
	if err := a.CheckTrust(); err != nil {
		return a.refuse(ctx, p, err)
	}
	if !alone {
		return a.relay(ctx, p)
	}
	err := a.alone(ctx, p)
	if errors.Is(err, daemon.ErrOwned) {
		return a.relay(ctx, p)
	}
	return err
}

// alone runs the node in this process and serves the client directly. Other clients may attach to its socket meanwhile.
func (a *app) alone(ctx context.Context, p api.SessionParams) error {
	n, end, err := node.Own(ctx, node.Options{Loader: &a.Loader, Kind: daemon.Alone})
	if errors.Is(err, daemon.ErrOwned) {
		return err
	}
	if err != nil {
		return a.refuse(ctx, p, err)
	}
	defer end()
	serve, err := n.Sessions.Attach(ctx, p)
	if err != nil {
		return a.refuse(ctx, p, err)
	}
	return serve(a.In, a.Out)
}

// relay carries lines between the client and the daemon, which it starts if none runs. When the daemon dies, relay finds or starts another
// one, with the same session.
func (a *app) relay(ctx context.Context, p api.SessionParams) error {
	dial := relay.Dial(a.App, p, func(api.Attached) {})
	first, err := dial(ctx)
	if err != nil {
		return a.refuse(ctx, p, fmt.Errorf("attach to the daemon: %w", err))
	}
	return daemon.Relay(ctx, a.In, a.Out, relay.Once(first, dial))
}
