package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"filippo.io/age"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The secrets of this test. None of them may be anywhere but in front of the server that it is meant for.
const (
	envSecret    = "canary-of-an-environment-7f3a91"
	headerSecret = "canary-of-a-header-55d0be"
	querySecret  = "canary-of-a-query-c81e02"
	ageSecret    = "canary-of-an-age-file-4d71bb"
	modelSecret  = "canary-of-a-model-key-30aa4d"
	argSecret    = "canary-of-an-argument-9b6f17"
)

// remote is an HTTP server that wants a header and, once it is told to be angry, refuses every request and repeats all that it was sent.
func remote(t *testing.T) (url string, angry *atomic.Bool) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ping", Description: "Pongs."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "pong"}}}, nil, nil
		})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	angry = &atomic.Bool{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); angry.Load() || got != "Bearer "+headerSecret || r.URL.Query().Get("key") != querySecret {
			w.Header().Set("WWW-Authenticate", "Bearer error="+got)
			http.Error(w, fmt.Sprintf("I do not like %s of %s", got, r.URL), http.StatusTeapot)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	return front.URL, angry
}

// No secret of a server's environment, header or address, no key of a model and no token of a session is shown to a client, logged,
// or recorded: neither while everything works nor when servers fail and repeat what they were given (T13).
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	node, every := nodeProgram(t), npmPart(t, everything)
	address, angry := remote(t)
	p := newProject(t, map[string]string{
		"mycelium.yaml": fmt.Sprintf(`session: {defaultRole: guest}
env: [ENV_SECRET, HEADER_SECRET, QUERY_SECRET]
mcpServers:
  every: {command: sh, args: [-c, "echo \"my key is $KEY, and $STORED\" >&2; test ! -e ../angry || exit 3; exec '%s' '%s'"], env: {KEY: `+
			`"${ENV_SECRET}", STORED: "${secret:STORED.KEY}"}}
  far: {type: http, url: "%s/mcp?key=${QUERY_SECRET}", headers: {Authorization: "Bearer ${HEADER_SECRET}"}}
`, node, every, address),
		"skills/outside/SKILL.yaml": "name: outside\ndescription: x\nallowedRoles: [guest]\n" +
			"allowedTools: [every__echo, every__get-env, far__ping]\n",
	})
	p.env = append(p.env, "ENV_SECRET="+envSecret, "HEADER_SECRET="+headerSecret, "QUERY_SECRET="+querySecret,
		"ANTHROPIC_API_KEY="+modelSecret)
	p.seal("# our keys\nSTORED.KEY: " + ageSecret + "\n")
	var shown strings.Builder // everything that a client or a person has seen
	look := func(args ...string) {
		stdout, stderr, _ := p.run(args...)
		fmt.Fprintf(&shown, "$ myc %s\n%s%s", strings.Join(args, " "), stdout, stderr)
	}
	look("-v", "tools")
	token := p.mint("--role", "guest").Token
	w := startWire(t, p.command("-v", "mcp")).hello("2025-06-18")
	say := func(tool, args string) string {
		line := string(w.await(w.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))))
		fmt.Fprintln(&shown, line)
		return line
	}
	if got := say("every__echo", `{"message":"hello","api_key":"`+argSecret+`"}`); !strings.Contains(got, "Echo: hello") {
		t.Errorf("echo: %s", got)
	}
	if got := say("far__ping", `{}`); !strings.Contains(got, "pong") {
		t.Errorf("ping: %s", got)
	}
	// This tool exists to show the environment: it shows the server's own secret, and nothing that is not the server's.
	line := string(w.await(w.request("tools/call", `{"name":"every__get-env","arguments":{}}`)))
	if !strings.Contains(line, envSecret) || !strings.Contains(line, ageSecret) || strings.Contains(line, modelSecret) ||
		strings.Contains(line, headerSecret) {
		t.Errorf("the server's environment: %s", line)
	}

	// Now both fail, and repeat what they were given. A daemon that is new has to start them again.
	angry.Store(true)
	p.write("../angry", "")
	if err := w.close(); err != nil {
		t.Error(err)
	}
	p.must("stop")
	w = startWire(t, p.command("-v", "mcp")).hello("2025-06-18")
	for _, call := range []string{"every__echo", "far__ping"} {
		if got := say(call, `{"message":"x"}`); !strings.Contains(got, "isError") && !strings.Contains(got, `"error"`) {
			t.Errorf("%s still works: %s", call, got)
		}
	}
	for _, args := range [][]string{{"status"}, {"status", "--json"}, {"doctor"}, {"config", "show", "--sources"},
		{"config", "show", "--json"},
		{"tools", "--all"}, {"call", "every__echo"}, {"call", "far__ping"}, {"audit", "query", "--json"}, {"audit", "export"},
		{"session", "list", "--json"}} {
		look(args...)
	}
	// the failures are told, without the secret
	for _, want := range []string{"my key is ${ENV_SECRET}, and ${secret:STORED.KEY}", "I do not like"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("nothing tells of %q:\n%s", want, shown.String())
		}
	}
	secrets := []string{envSecret, ageSecret, headerSecret, querySecret, modelSecret, argSecret, token}
	clean(t, "what was shown", shown.String()+w.stderr.String(), secrets)
	clean(t, "the log", p.logs(), secrets)
	files := 0
	for _, root := range []string{filepath.Join(p.home, ".local"), filepath.Join(p.home, ".config"),
		filepath.Join(p.home, "run")} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // a folder that does not exist holds no secret
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			files++
			clean(t, path, string(b), secrets)
			return nil
		})
	}
	if files < 6 {
		t.Errorf("only %d files were looked at", files)
	}
}

// clean reports each secret that a text holds, with what stands around it.
func clean(t *testing.T, where, text string, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%s holds %s: … %q …", where, s, text[max(0, i-200):min(len(text), i+len(s)+50)])
		}
	}
}

// seal writes the user's age file and the identity that opens it.
func (p *project) seal(text string) {
	p.t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		p.t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, key.Recipient())
	if err != nil {
		p.t.Fatal(err)
	}
	_, werr := io.WriteString(w, text)
	dir := filepath.Join(p.home, ".config", "mycelium")
	err = errors.Join(werr, w.Close(), os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "secrets.age"), out.Bytes(), 0o600),
		os.WriteFile(filepath.Join(dir, "age.key"), []byte(key.String()+"\n"), 0o600))
	if err != nil {
		p.t.Fatal(err)
	}
}

// A secret that is nowhere leaves the server that names it down, with a hint, and no other; once it is put there the server starts.
func TestAMissingSecretLeavesItsServerDown(t *testing.T) {
	t.Parallel()
	node, every := nodeProgram(t), npmPart(t, everything)
	p := newProject(t, world(map[string]string{
		"mycelium.yaml": fmt.Sprintf("session: {defaultRole: guest, roles: [guest, developer]}\nmcpServers:\n"+
			"  every: {command: %q, args: [%q], env: {KEY: \"${age:KEY}\"}}\n  ring: {command: %q, args: [%q], env: {KEY: \"${keyring:KEY}\"}}\n",
			node, every, node, every),
		"skills/outside/SKILL.yaml": "name: outside\ndescription: x\nallowedRoles: [guest]\nallowedTools: [every__echo]\n",
	}))
	p.env = append(p.env, "KEY=of-the-environment", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
	p.seal("OTHER=x\n")
	p.serve()
	_, stderr, err := p.run("tools")
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		"secret KEY is not found: the age file " + p.home + "/.config/mycelium/secrets.age does not have it: no such secret (hint: " +
			"docs/secrets.md says where secrets can be and how to put them there)",
		"secret KEY is not found: the keyring does not answer",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("myc tools does not say %q:\n%s", want, stderr)
		}
	}
	for _, b := range p.status().Backends {
		if failed := b.State != "builtin"; failed != (b.State == "failed") || failed && !strings.HasPrefix(b.Error, "secret KEY is not found: ") {
			t.Errorf("%s is %s: %s", b.Name, b.State, b.Error)
		}
	}
	p.must("call", "files__list_directory", "--args", `{"path":"."}`)
	p.seal("KEY=now-it-is-there\n")
	p.must("stop")
	if got := p.must("tools"); !strings.Contains(got, "every__echo") {
		t.Errorf("with its secret the server has no tools: %s", got)
	}
}
