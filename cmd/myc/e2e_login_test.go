package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/cmd/myc/internal/demo"
	"mycelium/internal/backend/oauth/oauthtest"
	"mycelium/internal/op/failure"
)

// authorized is a real MCP server over HTTP that wants tokens, and the authorization server that issues them.
type authorized struct {
	*oauthtest.Provider
	url string
}

func newAuthorized(t *testing.T) *authorized {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Says it again."},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Text string `json:"text"`
		}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "heard " + in.Text}}}, nil, nil
		})
	r := &authorized{Provider: oauthtest.New()}
	t.Cleanup(r.Close)
	web := httptest.NewServer(r.Guard("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)))
	t.Cleanup(web.Close)
	r.url = web.URL + "/mcp"
	return r
}

// files is a project that has the remote server.
func (r *authorized) files() map[string]string {
	return world(map[string]string{
		"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer]}\n" +
			"mcpServers: {remote: {url: \"" + r.url + "\", oauth: {hosts: [\"" + strings.TrimPrefix(r.URL, "http://") + "\"]}}}\n",
		"skills/remote/SKILL.yaml": "name: remote\ndescription: Echo.\nallowedRoles: [guest]\nallowedTools: [remote__echo]\n",
	})
}

// login runs `myc mcp login` with a person who agrees in a browser, and returns what the command says.
func (p *project) login(server string, strange ...string) string {
	p.t.Helper()
	cmd := p.command("mcp", "login", server, "--no-browser")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	address, said := "", ""
	lines := bufio.NewReader(stderr)
	for address == "" {
		line, err := lines.ReadString('\n')
		said += line
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "http") {
			address = s
		}
		if err != nil {
			break
		}
	}
	if address != "" {
		back, err := oauthtest.Agree(address)
		if err != nil {
			p.t.Fatal(err)
		}
		// A page that found the port, and knows nothing of the login, changes nothing.
		for _, query := range strange {
			res, err := http.Get("http://" + back.Host + back.Path + query)
			if err != nil {
				p.t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusNotFound {
				p.t.Errorf("%s: %s", query, res.Status)
			}
		}
		res, err := http.Get(back.String())
		if err != nil {
			p.t.Fatal(err)
		}
		defer res.Body.Close()
		if b, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusOK || !strings.Contains(string(b), "close this page") {
			p.t.Errorf("the browser sees %s %s", res.Status, b)
		}
	}
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil {
		p.t.Fatalf("myc mcp login: %v\n%s%s", err, said, rest)
	}
	return out.String()
}

// TestLoginEndToEnd: a remote server that wants tokens, from the first refusal to the last. No token shows up anywhere but in its file, and
// no credential of a client reaches the server (T13, T15).
func TestLoginEndToEnd(t *testing.T) {
	t.Parallel()
	r := newAuthorized(t)
	p := newProject(t, r.files())
	endpoint := p.serve()
	echo := func(text string) (string, error) {
		out, stderr, err := p.run("call", "remote__echo", "--role", "guest", "--args", `{"text":"`+text+`"}`)
		return out + stderr, err
	}
	p.eventually("the server wants an authorization", func() bool {
		out, _, _ := p.run("doctor")
		return strings.Contains(out, "it requires an authorization") && strings.Contains(out, "→ a person runs `myc mcp login remote`")
	})
	// An agent may not: it would act in a person's name.
	agent := p.command("mcp", "login", "remote", "--no-browser")
	agent.Env = append(agent.Env, "CLAUDECODE=1")
	if out, err := agent.CombinedOutput(); err == nil || agent.ProcessState.ExitCode() != failure.Denied.Exit() {
		t.Errorf("an agent logs in: %s %v", out, err)
	}
	if out := p.login("remote", "", "?code=x&state=guess", "?error=access_denied"); out != "remote is authorized: 1 tool\n" {
		t.Errorf("login says %q", out)
	}
	if out, err := echo("one"); err != nil || !strings.Contains(out, "heard one") {
		t.Fatal(out, err)
	}
	r.Expire()
	if out, err := echo("two"); err != nil {
		t.Fatal(out, err)
	}
	session := p.mint("--role", "guest")
	client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
	conn, err := client.Connect(p.ctx, &mcp.StreamableClientTransport{Endpoint: endpoint,
		HTTPClient: &http.Client{Transport: chatty{demo.Bearer(session.Token)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	result, err := conn.CallTool(p.ctx, &mcp.CallToolParams{Name: "remote__echo", Arguments: map[string]any{"text": "three"}})
	if err != nil || result.IsError {
		t.Fatal(result, err)
	}
	p.must("stop")
	if out, err := echo("four"); err != nil { // the next owner finds the token
		t.Fatal(out, err)
	}
	r.noSecretIn(p, session.Token)
	r.Revoke()
	if out, err := echo("five"); err == nil || !strings.Contains(out, "myc mcp login remote") {
		t.Errorf("after a revocation: %s %v", out, err)
	}
	p.loginByPaste("remote")
	if out, err := echo("six"); err != nil {
		t.Fatal(out, err)
	}
	p.moveAway()
	if out, err := echo("moved"); err != nil {
		t.Fatal(out, err)
	}
	if out := p.must("mcp", "logout", "remote"); !strings.Contains(out, "are deleted") {
		t.Errorf("logout says %q", out)
	}
	if out, err := echo("seven"); err == nil || !strings.Contains(out, "myc mcp login remote") {
		t.Errorf("after the logout: %s %v", out, err)
	}
	if out := p.must("mcp", "logout", "remote"); !strings.Contains(out, "no tokens") {
		t.Errorf("a second logout says %q", out)
	}
}

// TestAddServerThatWantsALogin takes the three steps that `myc server add` names: the entry, the login, and the skill of its tools.
func TestAddServerThatWantsALogin(t *testing.T) {
	t.Parallel()
	r := newAuthorized(t)
	p := newProject(t, world(map[string]string{"mycelium.yaml": "session: {defaultRole: guest, roles: [guest, developer]}\n"}))
	p.serve()
	out := p.must("server", "add", "remote", r.url, "--role", "guest", "--yes")
	for _, want := range []string{"remote wants a login", "myc mcp login remote", "myc skill add remote --from remote --role guest"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in %s", want, out)
		}
	}
	// The authorization server of the fixture has an address of its own, which people allow.
	file := filepath.Join(p.dir, "mycelium.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	hosts := "    oauth: {hosts: [\"" + strings.TrimPrefix(r.URL, "http://") + "\"]}\n"
	allowed := strings.Replace(string(text), "  type: http\n", "  type: http\n"+hosts, 1)
	if err := os.WriteFile(file, []byte(allowed), 0o600); err != nil {
		t.Fatal(err)
	}
	p.must("trust", "--yes")
	p.must("skill", "reload")
	if out := p.login("remote"); out != "remote is authorized: 1 tool\n" {
		t.Errorf("login says %q", out)
	}
	p.must("skill", "add", "remote", "--from", "remote", "--role", "guest", "--yes")
	text, err = os.ReadFile(filepath.Join(p.dir, "skills", "remote", "SKILL.yaml"))
	if err != nil || !strings.Contains(string(text), "# - remote__echo") {
		t.Errorf("%s %v", text, err)
	}
}

// moveAway moves the project to another folder, and its state with it once its daemon is gone.
func (p *project) moveAway() {
	p.t.Helper()
	p.serve()
	pid := p.status().Daemon.PID
	from := p.dir
	p.dir += "-moved"
	if err := os.Rename(from, p.dir); err != nil {
		p.t.Fatal(err)
	}
	if out, stderr, err := p.run("trust", "--moved", "--yes"); err == nil || !strings.Contains(stderr, "still runs") {
		p.t.Errorf("while the daemon runs: %s%s %v", out, stderr, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
	p.eventually("the daemon is gone and the state is moved", func() bool {
		_, _, err := p.run("trust", "--moved", "--yes")
		return err == nil
	})
}

// chatty is a client that tells more than it is asked: none of it is meant for the servers behind.
type chatty struct{ next http.RoundTripper }

const chattySecret = "only-for-the-gateway"

func (c chatty) RoundTrip(req *http.Request) (*http.Response, error) {
	r := req.Clone(req.Context())
	for _, name := range []string{"Cookie", "X-Api-Key", "X-Forwarded-Authorization", "X-Goog-Iap-Jwt-Assertion", "Mcp-Param-Token",
		"Traceparent"} {
		r.Header.Set(name, chattySecret)
	}
	return c.next.RoundTrip(r)
}

// loginByPaste is a login with the browser on another machine.
func (p *project) loginByPaste(server string) {
	p.t.Helper()
	cmd := p.command("mcp", "login", server, "--paste")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if s := strings.TrimSpace(lines.Text()); strings.HasPrefix(s, "http") {
			back, err := oauthtest.Agree(s)
			if err != nil {
				p.t.Fatal(err)
			}
			fmt.Fprintln(stdin, back)
		}
	}
	if err := cmd.Wait(); err != nil {
		p.t.Fatalf("myc mcp login --paste: %v", err)
	}
}

// noSecretIn looks through everything that the project and its user have on disk, and through everything that the server saw.
func (r *authorized) noSecretIn(p *project, session string) {
	p.t.Helper()
	var ours []string // secrets of the remote server, in every form that they had
	for token := range r.Tokens() {
		ours = append(ours, token)
	}
	for _, q := range r.Seen() {
		if v := q.Form.Get("refresh_token"); v != "" {
			ours = append(ours, v)
		}
		if v := q.Form.Get("code"); v != "" {
			ours = append(ours, v)
		}
		if v := q.Form.Get("code_verifier"); v != "" {
			ours = append(ours, v)
		}
		if v, ok := strings.CutPrefix(q.Authorization, "Bearer "); ok {
			ours = append(ours, v)
			if v == session || !strings.HasPrefix(v, "at-") {
				p.t.Errorf("%s got the credential %q", q.Path, v)
			}
		}
		for name, values := range q.Header {
			if strings.Contains(strings.Join(values, " "), chattySecret) {
				p.t.Errorf("%s got the client's header %s", q.Path, name)
			}
		}
		if q.Path != "/mcp" && q.Authorization != "" {
			p.t.Errorf("a token went to %s", q.Path)
		}
	}
	if len(ours) < 5 {
		p.t.Fatalf("only %d secrets are known: nothing would be found", len(ours))
	}
	kept := 0
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, secret := range ours {
			if !strings.Contains(string(b), secret) {
				continue
			}
			if rel, _ := filepath.Rel(p.home, path); strings.Contains(rel, filepath.Join("mycelium", "tokens")) {
				kept++
			} else {
				p.t.Errorf("%s holds %q", path, secret)
			}
		}
		return nil
	})
	if err != nil {
		p.t.Error(err)
	}
	if kept == 0 {
		p.t.Error("the token is kept nowhere: the search looks in the wrong places")
	}
}
