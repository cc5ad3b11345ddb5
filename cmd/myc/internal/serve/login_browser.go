package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mycelium/internal/backend/oauth"
	"mycelium/internal/op/failure"
)

// listenAddress returns the loopback address on which to listen for a redirect.
func listenAddress(u *url.URL) string {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, u.Port())
}

// waitForReturn waits for the browser to come back, and returns the query that it brings.
func (a *app) waitForReturn(ctx context.Context, l net.Listener, ask oauth.Login, path string, paste bool) (string, error) {
	u, err := url.Parse(ask.URL)
	if err != nil {
		return "", fmt.Errorf("the address to open cannot be read: %w", err)
	}
	state := u.Query().Get("state")
	if !paste {
		return waitForBrowser(ctx, l, path, state)
	}
	fmt.Fprintln(a.Err, "Paste the address at which the browser ends (the browser may say that it cannot show the page):")
	line, err := bufio.NewReaderSize(a.In, 64<<10).ReadString('\n')
	if err != nil && line == "" {
		return "", failure.Usagef("mcp login: --paste: standard input has no address")
	}
	_, query, ok := strings.Cut(strings.TrimSpace(line), "?")
	query, _, _ = strings.Cut(query, "#")
	if q, err := url.ParseQuery(query); !ok || err != nil || q.Get("state") != state {
		return "", failure.Usagef("mcp login: --paste: this login does not end at that address; the right one has ?code=… and the " +
			"state of the address above")
	}
	return query, nil
}

// waitForBrowser serves the page at which the browser ends. It ignores requests without the state of this login, so that a page that
// guesses the port changes nothing.
func waitForBrowser(ctx context.Context, l net.Listener, path, state string) (string, error) {
	came := make(chan string, 1)
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
			return "", failure.Hint(fmt.Errorf("the browser did not return within %v", loginWait),
				"log in again; with a browser on another machine use --paste")
		}
		return "", fmt.Errorf("wait for the browser: %w", ctx.Err())
	}
}
