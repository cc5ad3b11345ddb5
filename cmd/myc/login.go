package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mycelium/internal/backend"
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
		Args:    argRange(1, 1, "one server"),
		RunE:    func(c *cobra.Command, args []string) error { return a.login(c.Context(), args[0], quiet, paste) },
	}
	c.Flags().BoolVar(&quiet, "no-browser", false, "only print the address")
	c.Flags().BoolVar(&paste, "paste", false, "read the address at which the browser ended from stdin")
	return c
}

func (a *app) logoutCmd() *cobra.Command {
	return &cobra.Command{
		Use: "logout SERVER", Short: "Forget the tokens of a remote server", Example: "  myc mcp logout github", Args: argRange(1, 1, "one server"),
		RunE: func(c *cobra.Command, args []string) error {
			var r logoutReply
			if err := a.operate(c.Context(), "log out of a server", "login/forget", loginParams{Server: args[0]}, &r); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(r)
			}
			if !r.Had {
				fmt.Fprintf(a.out, "%s: there were no tokens\n", visible(args[0]))
				return nil
			}
			fmt.Fprintf(a.out, "%s: its tokens are forgotten here; the server's own pages revoke them\n", visible(args[0]))
			return nil
		},
	}
}

// loginParams are what the owner is asked; each method uses some.
type loginParams struct {
	Server   string `json:"server"`
	Redirect string `json:"redirect,omitempty"`
	Query    string `json:"query,omitempty"`
}

// loginReply is the end of a login.
type loginReply struct {
	Server  string `json:"server"`
	Tools   int    `json:"tools"`
	Problem string `json:"problem,omitempty"` // we are authorized, and the server is not usable all the same
}

type logoutReply struct {
	Server string `json:"server"`
	Had    bool   `json:"had"`
}

func (a *app) login(ctx context.Context, server string, quiet, paste bool) error {
	ctx, cancel := context.WithTimeout(ctx, loginWait)
	defer cancel()
	const act = "log in to a server"
	if err := a.needPerson(act); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the browser: %w", err)
	}
	defer func() { _ = l.Close() }() // the one that is listened on in the end
	c, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer c.done()
	var ask backend.Login
	if err := c.ask(ctx, "login/begin", loginParams{Server: server, Redirect: "http://" + l.Addr().String() + "/callback"}, &ask); err != nil {
		return hintOf(err)
	}
	back, err := url.Parse(ask.Redirect)
	if err != nil {
		return fmt.Errorf("the redirect address cannot be read: %w", err)
	}
	if at := listenAddress(back); at != l.Addr().String() && !paste {
		_ = l.Close()
		if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", at); err != nil {
			return hinted(fmt.Errorf("listen for the browser: %w", err), "oauth.redirect of the server names this port: end what uses it, or use --paste")
		}
	}
	a.showLogin(server, ask)
	if !quiet && !paste && stdinIsTerminal(a.in) {
		a.openBrowser(ctx, ask.URL)
	}
	query, err := a.comesBack(ctx, l, ask, back.Path, paste)
	if err != nil {
		return err
	}
	var r loginReply
	if err := c.ask(ctx, "login/end", loginParams{Server: server, Query: query}, &r); err != nil {
		return hintOf(err)
	}
	if a.json {
		return a.printJSON(r)
	}
	if r.Problem != "" {
		return fmt.Errorf("%s is authorized, and cannot be used: %s", server, r.Problem)
	}
	fmt.Fprintf(a.out, "%s is authorized: %d tool(s)\n", visible(server), r.Tools)
	return nil
}

// hintOf takes the hint out of an error's text, where it has one.
func hintOf(err error) error {
	var f *failure
	text, hint, ok := strings.Cut(err.Error(), " (hint: ")
	if errors.As(err, &f) || !ok {
		return err
	}
	return hinted(errors.New(text), strings.TrimSuffix(hint, ")"))
}

// listenAddress is where to listen for a redirect: on loopback, whatever its name.
func listenAddress(u *url.URL) string {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, u.Port())
}

// showLogin says to a person what they are about to agree to.
func (a *app) showLogin(server string, ask backend.Login) {
	fmt.Fprintf(a.err, "%s (%s) sends you to %s to authorize this user's Mycelium", visible(server), visible(ask.Server), visible(ask.Issuer))
	if len(ask.Scopes) > 0 {
		fmt.Fprintf(a.err, " for: %s", visible(strings.Join(ask.Scopes, ", ")))
	}
	fmt.Fprintf(a.err, "\nOpen this address in your browser:\n\n  %s\n\n", visible(ask.URL))
}

// openBrowser opens an address where there is a browser to open it; that it is printed is what counts.
func (a *app) openBrowser(ctx context.Context, address string) {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	} else if a.getenv("DISPLAY") == "" && a.getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	if path, err := exec.LookPath(program); err == nil {
		cmd := exec.CommandContext(ctx, path, address)
		if cmd.Start() == nil {
			_ = cmd.Process.Release()
		}
	}
}

// comesBack waits for the query with which the browser returns.
func (a *app) comesBack(ctx context.Context, l net.Listener, ask backend.Login, path string, paste bool) (string, error) {
	u, err := url.Parse(ask.URL)
	if err != nil {
		return "", fmt.Errorf("the address to open cannot be read: %w", err)
	}
	state := u.Query().Get("state")
	if !paste {
		return waitForBrowser(ctx, l, path, state)
	}
	fmt.Fprintln(a.err, "Paste the address at which the browser ends (a page that cannot be shown is right):")
	line, err := bufio.NewReaderSize(a.in, 64<<10).ReadString('\n')
	if err != nil && line == "" {
		return "", usageError("mcp login: --paste: nothing came on stdin")
	}
	_, query, ok := strings.Cut(strings.TrimSpace(line), "?")
	query, _, _ = strings.Cut(query, "#")
	if q, err := url.ParseQuery(query); !ok || err != nil || q.Get("state") != state {
		return "", usageError("mcp login: --paste: that is not the address at which this login ends: it has ?code=… and the state of the address above")
	}
	return query, nil
}

// waitForBrowser serves the one page at which the browser ends. Whoever does not know the state of this login is nobody: a page
// that guesses the port changes nothing.
func waitForBrowser(ctx context.Context, l net.Listener, path, state string) (string, error) {
	came := make(chan string, 1)
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet || r.URL.Path != path || r.URL.Query().Get("state") != state {
			http.Error(w, "no login is waiting for this", http.StatusNotFound)
			return
		}
		select {
		case came <- r.URL.RawQuery:
		default:
		}
		fmt.Fprintln(w, "Thank you. You can close this page and go back to the terminal.")
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l) // until it is closed below
	}()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if s.Shutdown(end) != nil { // a browser that keeps a connection open
			_ = s.Close()
		}
		<-served
	}()
	select {
	case query := <-came:
		return query, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", hinted(fmt.Errorf("the browser did not come back within %v", loginWait), "log in again; with a browser on another machine use --paste")
		}
		return "", fmt.Errorf("wait for the browser: %w", ctx.Err())
	}
}
