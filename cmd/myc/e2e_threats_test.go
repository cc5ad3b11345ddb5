package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/hook"
)

// heard is everything that reached a server over HTTP.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// listen is the SDK's server with one tool, behind an ear.
func (h *heard) listen(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "heard " + string(r.Params.Arguments)}}}, nil
		})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		fmt.Fprintf(&h.text, "%s %s %v\n%s\n", r.Method, r.URL, r.Header, body)
		h.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// overdressed adds to every request what a client might carry that is not meant for servers behind us.
type overdressed struct {
	token, secret string
	base          *http.Transport
}

func (o overdressed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+o.token)
	r.Header.Set("Cookie", "session="+o.secret)
	r.Header.Set("Proxy-Authorization", "Basic "+o.secret)
	r.Header.Set("X-Api-Key", o.secret)
	r.Header.Set("Forwarded", "for="+o.secret)
	return o.base.RoundTrip(r)
}

// TestNoCredentialIsPassedOn is T15: whatever a client shows to get in (a token in a header or in its environment, cookies, keys) stays
// with us: no server behind us is sent any of it, over HTTP or over stdio, in any era.
func TestNoCredentialIsPassedOn(t *testing.T) {
	t.Parallel()
	const secret = "c2VjcmV0LW9mLXRoZS1jbGllbnQ"
	node, every := nodeProgram(t), npmPart(t, everything)
	var remote heard
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest]}\nmcpServers:\n  remote: {type: http, url: %q}\n"+
			"  local: {command: sh, args: [-c, \"env >> DIR/../told; tee -a DIR/../told | '%s' '%s'\"]}\n", remote.listen(t), node, every),
		"skills/k/SKILL.yaml": "name: k\ndescription: Two servers.\nallowedRoles: [guest]\nallowedTools: [\"?remote__echo\", \"?local__echo\"]\n",
	})
	p.must("tools")
	endpoint := p.serve()
	call := func(f *foreign, who string) {
		t.Helper()
		for _, tool := range []string{"remote__echo", "local__echo"} {
			if out, err := f.call(p, tool, map[string]any{"message": "from " + who}); err != nil || !strings.Contains(out, "from "+who) {
				t.Errorf("%s %s: %s %v", who, tool, out, err)
			}
		}
		if err := f.Close(); err != nil { // one that stays would start the daemon again
			t.Error(err)
		}
	}
	tokens := []string{secret}
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		s := p.mint("--role", "guest")
		tokens = append(tokens, s.Token)
		base := &http.Transport{}
		t.Cleanup(base.CloseIdleConnections)
		call(p.dial(&mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: &http.Client{Transport: overdressed{s.Token, secret, base}}},
			version), "http-"+version)
		cmd := p.command("mcp")
		cmd.Env = append(slices.Clip(cmd.Env), hook.TokenVar+"="+s.Token, "API_KEY="+secret, "ANTHROPIC_API_KEY="+secret)
		call(p.dial(&mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, version), "stdio-"+version)
	}
	p.must("stop")
	cmd := p.command("mcp", "--alone", "--role", "guest")
	cmd.Env = append(slices.Clip(cmd.Env), "API_KEY="+secret, "ANTHROPIC_API_KEY="+secret)
	call(p.dial(&mcp.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, "2025-11-25"), "alone")

	told, over := p.read("../told"), remote.String()
	for _, sign := range []string{"from http-2025-11-25", "from http-2026-07-28", "from stdio-2025-11-25", "from alone"} {
		if !strings.Contains(told, sign) || !strings.Contains(over, sign) {
			t.Errorf("the servers did not hear %q", sign)
		}
	}
	if !strings.Contains(told, "PATH=") {
		t.Error("the environment of the stdio server was not seen")
	}
	for _, token := range tokens {
		for where, text := range map[string]string{"HTTP server": over, "stdio server": told} {
			if strings.Contains(text, token) || strings.Contains(text, strings.TrimPrefix(token, "myc_")) {
				t.Errorf("the %s was sent a credential of a client", where)
			}
		}
	}
	for _, header := range []string{"Authorization", "Cookie", "X-Api-Key", "Forwarded"} {
		if strings.Contains(over, header+":[") {
			t.Errorf("the HTTP server was sent the header %s", header)
		}
	}
}

// TestForeignHostsAndOrigins is T2: over every path that the daemon serves, with every method, a request that names another host, or comes
// from another origin, is refused before anything else is looked at: a valid token does not help.
func TestForeignHostsAndOrigins(t *testing.T) {
	t.Parallel()
	p := newProject(t, world(nil))
	base := strings.TrimSuffix(p.serve(), "/mcp")
	token := p.mint("--role", "guest").Token
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	ask := func(method, path, host, origin string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(p.ctx, method, base+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if host != "" {
			r.Host = host
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Error(err)
		}
		return res.StatusCode
	}
	if status := ask(http.MethodPost, "/mcp", "", ""); status >= 500 || status == http.StatusForbidden {
		t.Fatalf("without anything foreign: %d", status)
	}
	for _, path := range []string{"/mcp", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/",
		"/healthz", "/metrics", "/no/such/page"} {
		home := ask(http.MethodGet, path, "", "")
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodOptions, http.MethodPut} {
			for _, foreign := range [][2]string{
				{"evil.example", ""}, {"evil.example:8420", ""}, {"127.0.0.1.evil.example", ""}, {"", "https://evil.example"}, {"", "null"},
				{"", "http://127.0.0.1.evil.example"}, {"evil.example", "http://127.0.0.1"},
			} {
				status := ask(method, path, foreign[0], foreign[1])
				if status != http.StatusForbidden && (home != http.StatusNotFound || status != http.StatusNotFound) {
					t.Errorf("%s %s as %q: %d", method, path, foreign, status)
				}
			}
		}
	}
}
