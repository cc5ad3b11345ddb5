package serve

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/node/api"
	"mycelium/internal/op/failure"
	"mycelium/internal/text"
)

// A login at a remote server needs a person with a browser. The node talks to the server and keeps the tokens; this command opens the
// address in the browser and takes the redirect.

// loginWait is how long a person may take in the browser. The node gives up at the same time.
const loginWait = 10 * time.Minute

func (a *app) loginCmd() *cobra.Command {
	var quiet, paste bool
	c := &cobra.Command{
		Use: "login SERVER", Short: "Log in to a remote server, in a browser",
		Long: "Get tokens for a server of mcpServers that requires OAuth. The command prints the address to open, and waits on this\n" +
			"machine for the browser to return. If the browser is on another machine, use --paste, and paste the address at which\n" +
			"the browser ends.",
		Example: "  myc mcp login github\n  myc mcp login github --paste",
		Args:    base.ArgRange(1, 1, "one server"),
		RunE:    func(c *cobra.Command, args []string) error { return a.login(c.Context(), args[0], quiet, paste) },
	}
	c.Flags().BoolVar(&quiet, "no-browser", false, "print the address, and open no browser")
	c.Flags().BoolVar(&paste, "paste", false, "read the address at which the browser ended from standard input")
	return c
}

func (a *app) logoutCmd() *cobra.Command {
	return &cobra.Command{
		Use: "logout SERVER", Short: "Delete the tokens of a remote server", Example: "  myc mcp logout github",
		Args: base.ArgRange(1, 1, "one server"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := base.Operate(c.Context(), a.App, api.Logout, api.LoginParams{Server: args[0]})
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if !r.Had {
				fmt.Fprintf(a.Out, "%s: there were no tokens\n", text.Flatten(args[0]))
				return nil
			}
			fmt.Fprintf(a.Out, "%s: its tokens are deleted from this machine; to revoke them, use the server's own pages\n", text.Flatten(args[0]))
			return nil
		},
	}
}

func (a *app) login(ctx context.Context, server string, quiet, paste bool) error {
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	if err := a.NeedPerson(api.LoginBegin.Act); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the browser: %w", err)
	}
	defer func() { _ = l.Close() }() // l may be another listener by then
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	ask, err := base.Call(ctx, c, api.LoginBegin, api.LoginParams{Server: server, Redirect: "http://" + l.Addr().String() + "/callback"})
	if err != nil {
		return err
	}
	back, err := url.Parse(ask.Redirect)
	if err != nil {
		return fmt.Errorf("the redirect address cannot be read: %w", err)
	}
	if at := listenAddress(back); at != l.Addr().String() && !paste {
		_ = l.Close()
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", at); err != nil {
			return failure.Hint(fmt.Errorf("listen for the browser: %w", err),
				"oauth.redirect of the server names this port: end what uses it, or use --paste")
		}
	}
	a.showLogin(server, ask)
	if !quiet && !paste && base.StdinIsTerminal(a.In) {
		base.OpenBrowser(ctx, a.App, ask.URL)
	}
	query, err := a.waitForReturn(ctx, l, ask, back.Path, paste)
	if err != nil {
		return err
	}
	r, err := base.Call(ctx, c, api.LoginEnd, api.LoginParams{Server: server, Query: query})
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if r.Problem != "" {
		return fmt.Errorf("%s is authorized but cannot be used: %s", server, r.Problem)
	}
	fmt.Fprintf(a.Out, "%s is authorized: %s\n", text.Flatten(server), text.Count(r.Tools, "tool"))
	return nil
}

// showLogin prints what the person is about to agree to.
func (a *app) showLogin(server string, ask oauth.Login) {
	fmt.Fprintf(a.Err, "%s (%s) sends you to %s to authorize this user's Mycelium", text.Flatten(server),
		text.Flatten(ask.Server), text.Flatten(ask.Issuer))
	if len(ask.Scopes) > 0 {
		fmt.Fprintf(a.Err, " for: %s", text.Flatten(strings.Join(ask.Scopes, ", ")))
	}
	fmt.Fprintf(a.Err, "\nOpen this address in your browser:\n\n  %s\n\n", text.Flatten(ask.URL))
}
