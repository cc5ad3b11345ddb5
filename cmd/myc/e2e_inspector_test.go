package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// inspector runs `mcp-inspector --cli` with npm's program and returns what it prints on stdout and on stderr.
func (p *project) inspector(args ...string) (stdout, stderr string, err error) {
	p.t.Helper()
	// The launcher starts this program; without it the exit code is that of the client itself.
	cli := npmPart(p.t, "@modelcontextprotocol/inspector-cli/build/cli.js")
	cmd := exec.CommandContext(p.ctx, nodeProgram(p.t), append([]string{cli, "--cli"}, args...)...)
	cmd.Env, cmd.Dir = p.env, p.dir
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// withHeader is an endpoint that adds a token to what it passes on: the inspector's command line of this version sends no headers of
// ours. It reads a request whole before it passes it on. Otherwise http.Transport looks for the end of the body after it has sent the
// body, the daemon may have answered by then, net/http closes the body of a request whose answer is being written, and the transport
// takes that for a failed write and cuts the answer ("terminated" at the client).
func (p *project) withHeader(endpoint, token string) string {
	p.t.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		p.t.Fatal(err)
	}
	own := &http.Transport{} // other tests close the connections of the default one
	front := httptest.NewServer(&httputil.ReverseProxy{Transport: own, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = to.Scheme, to.Host, to.Host
		r.Out.Header.Set("Authorization", "Bearer "+token)
		body, err := io.ReadAll(r.In.Body)
		if err != nil {
			p.t.Errorf("read a request of the inspector: %v", err)
		}
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
	}})
	p.t.Cleanup(func() { front.Close(); own.CloseIdleConnections() })
	return front.URL + "/mcp"
}

// The MCP inspector as a client: over stdio, over HTTP with a token, and over HTTP as a caller without one.
func TestInspector(t *testing.T) {
	t.Parallel()
	npmPart(t, "@modelcontextprotocol/inspector-cli/build/cli.js")
	p := newProject(t, world(nil))
	endpoint := p.serve()
	open := newProject(t, world(map[string]string{"mycelium.yaml": "server: {anonymous: guest}\n"}))
	for name, target := range map[string][]string{
		"stdio":     {p.myc, "-C", p.dir, "--state", string(p.state().Root), "mcp", "--role", "guest"},
		"http":      {p.withHeader(endpoint, p.mint("--role", "guest").Token)},
		"anonymous": {open.serve()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := p.of(t)
			ask := func(args ...string) (string, string, error) {
				return p.inspector(append(slices.Clone(target), args...)...)
			}
			out, stderr, err := ask("--method", "tools/list")
			var list struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
			}
			if err != nil || json.Unmarshal([]byte(out), &list) != nil {
				t.Fatalf("tools/list: %v\n%s%s", err, out, stderr)
			}
			var names []string
			for _, tool := range list.Tools {
				if !strings.HasPrefix(tool.Name, "mycelium-") {
					names = append(names, tool.Name)
				}
			}
			if !slices.Equal(names, guestToolNames) {
				t.Errorf("the inspector is shown %v", names)
			}
			out, stderr, err = ask("--method", "tools/call", "--tool-name", "files__read_file", "--tool-arg", "path=notes.md")
			if err != nil || !strings.Contains(out, "mushrooms. きのこ。") {
				t.Errorf("tools/call: %v\n%s%s", err, out, stderr)
			}
			out, stderr, err = ask("--method", "tools/call", "--tool-name", "files__write_file", "--tool-arg", "path=x", "--tool-arg", "content=x")
			if err == nil || !strings.Contains(stderr, "Unknown tool: files__write_file") || p.read("x")+open.read("x") != "" {
				t.Errorf("a hidden tool: %v\n%s%s", err, out, stderr)
			}
		})
	}
	t.Run("no token", func(t *testing.T) {
		t.Parallel()
		out, stderr, err := p.of(t).inspector(endpoint, "--method", "tools/list")
		if err == nil || strings.Contains(out, "files__") || !strings.Contains(stderr, "unauthorized: a token is needed") {
			t.Errorf("%v\n%s%s", err, out, stderr)
		}
	})
}
