package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/node/api"
	"mycelium/internal/node/failure"
	"mycelium/internal/node/project"
)

// Authorizing us at a remote server takes a person with a browser. The owner of the project asks the questions and keeps what comes of them;
// this command only carries the address to the browser and the browser's return back.

// loginWait is how long a person may take in the browser; the owner gives up at the same time.
const loginWait = 10 * time.Minute

func (a *app) loginCmd() *cobra.Command {
	var quiet, paste bool
	c := &cobra.Command{
		Use: "login SERVER", Short: "Authorize us at a remote server, in a browser",
		Long: "Gets tokens for a server of mcpServers that wants OAuth. It prints the address to open, and waits on this machine for the browser\n" +
			"to come back. With a browser on another machine use --paste, and paste the address at which it ends.",
		Example: "  myc mcp login github\n  myc mcp login github --paste",
		Args:    base.ArgRange(1, 1, "one server"),
		RunE:    func(c *cobra.Command, args []string) error { return a.login(c.Context(), args[0], quiet, paste) },
	}
	c.Flags().BoolVar(&quiet, "no-browser", false, "only print the address")
	c.Flags().BoolVar(&paste, "paste", false, "read the address at which the browser ended from stdin")
	return c
}

func (a *app) logoutCmd() *cobra.Command {
	return &cobra.Command{
		Use: "logout SERVER", Short: "Forget the tokens of a remote server", Example: "  myc mcp logout github", Args: base.ArgRange(1, 1, "one server"),
		RunE: func(c *cobra.Command, args []string) error {
			var r api.LogoutReply
			if err := a.Operate(c.Context(), "log out of a server", "login/forget", api.LoginParams{Server: args[0]}, &r); err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			if !r.Had {
				fmt.Fprintf(a.Out, "%s: there were no tokens\n", project.Visible(args[0]))
				return nil
			}
			fmt.Fprintf(a.Out, "%s: its tokens are forgotten here; the server's own pages revoke them\n", project.Visible(args[0]))
			return nil
		},
	}
}

func (a *app) login(ctx context.Context, server string, quiet, paste bool) error {
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	const act = "log in to a server"
	if err := a.NeedPerson(act); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the browser: %w", err)
	}
	defer func() { _ = l.Close() }() // the one that is listened on in the end
	c, err := a.Connect(ctx)
	if err != nil {
		return err
	}
	defer c.Done()
	var ask oauth.Login
	if err := c.Ask(ctx, "login/begin", api.LoginParams{Server: server, Redirect: "http://" + l.Addr().String() + "/callback"}, &ask); err != nil {
		return hintOf(err)
	}
	back, err := url.Parse(ask.Redirect)
	if err != nil {
		return fmt.Errorf("the redirect address cannot be read: %w", err)
	}
	if at := listenAddress(back); at != l.Addr().String() && !paste {
		_ = l.Close()
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", at); err != nil {
			return failure.Hint(fmt.Errorf("listen for the browser: %w", err), "oauth.redirect of the server names this port: end what uses it, or use --paste")
		}
	}
	a.showLogin(server, ask)
	if !quiet && !paste && base.StdinIsTerminal(a.In) {
		a.openBrowser(ctx, ask.URL)
	}
	query, err := a.comesBack(ctx, l, ask, back.Path, paste)
	if err != nil {
		return err
	}
	var r api.LoginReply
	if err := c.Ask(ctx, "login/end", api.LoginParams{Server: server, Query: query}, &r); err != nil {
		return hintOf(err)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if r.Problem != "" {
		return fmt.Errorf("%s is authorized, and cannot be used: %s", server, r.Problem)
	}
	fmt.Fprintf(a.Out, "%s is authorized: %d tool(s)\n", project.Visible(server), r.Tools)
	return nil
}

// hintOf takes the hint out of an error's text, where it has one.
func hintOf(err error) error {
	var f *failure.Error
	text, hint, ok := strings.Cut(err.Error(), " (hint: ")
	if errors.As(err, &f) || !ok {
		return err
	}
	return failure.Hint(errors.New(text), strings.TrimSuffix(hint, ")"))
}

// showLogin says to a person what they are about to agree to.
func (a *app) showLogin(server string, ask oauth.Login) {
	fmt.Fprintf(a.Err, "%s (%s) sends you to %s to authorize this user's Mycelium", project.Visible(server), project.Visible(ask.Server), project.Visible(ask.Issuer))
	if len(ask.Scopes) > 0 {
		fmt.Fprintf(a.Err, " for: %s", project.Visible(strings.Join(ask.Scopes, ", ")))
	}
	fmt.Fprintf(a.Err, "\nOpen this address in your browser:\n\n  %s\n\n", project.Visible(ask.URL))
}
