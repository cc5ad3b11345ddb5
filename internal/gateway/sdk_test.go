package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/gate/session"
)

// bearer adds a token to every request.
type bearer struct {
	token string
	base  *http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(r)
}

// transports connect the SDK's client to a server, by name.
var transports = map[string]func(t *testing.T, b *world, s *Server, role string, may ...string) (mcp.Transport, *session.Session){
	"stdio": func(t *testing.T, b *world, s *Server, role string, may ...string) (mcp.Transport, *session.Session) {
		sess := b.open(role, may...)
		fromClient, in := io.Pipe()
		out, toClient := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			err := s.Stdio(ctx, sess, "", nil, fromClient, toClient)
			toClient.Close()
			ended <- err
		}()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Stdio: %v", err)
			}
		})
		return &mcp.IOTransport{Reader: out, Writer: in}, sess
	},
	"http": func(t *testing.T, b *world, s *Server, role string, may ...string) (mcp.Transport, *session.Session) {
		sess, token := b.mint(role, may...)
		h := httptest.NewServer(s.Handler())
		base := &http.Transport{}
		t.Cleanup(func() { s.Close(); base.CloseIdleConnections(); h.Close() })
		return &mcp.StreamableClientTransport{Endpoint: h.URL, HTTPClient: &http.Client{Transport: bearer{token, base}}}, sess
	},
}

// TestSDK drives the gateway with the SDK's client in every revision on every transport.
func TestSDK(t *testing.T) {
	for name, transport := range transports {
		for _, version := range mcp.SupportedProtocolVersions() {
			t.Run(name+"/"+version, func(t *testing.T) {
				b := newWorld(t)
				tr, _ := transport(t, b, b.server(Options{}), "guest", "developer")
				testSDK(t, b, tr, version)
			})
		}
	}
}

func testSDK(t *testing.T, b *world, tr mcp.Transport, version string) {
	ctx := t.Context()
	changed := make(chan struct{}, 16)
	progress := make(chan float64, 16)
	logs := make(chan string, 16)
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
		//nolint:staticcheck // deprecated, and still served
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { logs <- string(r.Params.Level) },
	})
	cs, err := client.Connect(ctx, tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	got := cs.InitializeResult()
	if got.ProtocolVersion != version || got.ServerInfo == nil || got.ServerInfo.Name != "mycelium" || got.Instructions == "" {
		t.Errorf("initialized as %+v", got)
	}
	tools := toolNames(t, cs)
	if !slices.Contains(tools, "docs__echo") || slices.Contains(tools, "editor__write") || slices.Contains(tools, "secret__tool") {
		t.Errorf("tools of the guest: %v", got)
	}
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "docs__echo", Arguments: map[string]any{"text": "hi"}})
	if err != nil || res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, `"arguments":{"text":"hi"}`) {
		t.Fatalf("echo: %+v, %v", res, err)
	}
	res, err = cs.CallTool(ctx, &mcp.CallToolParams{Name: "docs__echo", Arguments: map[string]any{"text": "bad"}})
	if err != nil || !res.IsError || res.Content[0].(*mcp.TextContent).Text != "Denied by policy: Mind your language. (rule: no-bad-words)" {
		t.Errorf("denied: %+v, %v", res, err)
	}
	res, err = cs.CallTool(ctx, &mcp.CallToolParams{Name: "docs__broken"})
	if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, "does not answer") {
		t.Errorf("broken: %+v, %v", res, err)
	}
	for _, hidden := range []string{"secret__tool", "absent__tool", "agent__Bash", "no-separator"} {
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: hidden})
		var we *jsonrpc.Error
		if !errors.As(err, &we) || we.Code != -32602 || we.Message != "Unknown tool: "+hidden {
			t.Errorf("%s: %v", hidden, err)
		}
	}
	testSDKRest(t, cs, version)
	testSDKNotices(t, cs, version, progress, logs)

	// After a role switch there is a notice, and the new tool.
	setRole := &mcp.CallToolParams{Name: "mycelium-router__set_role", Arguments: map[string]any{"role": "developer"}}
	if res, err = cs.CallTool(ctx, setRole); err != nil || res.IsError {
		t.Fatalf("set_role: %+v, %v", res, err)
	}
	<-changed
	if got := toolNames(t, cs); !slices.Contains(got, "editor__write") {
		t.Errorf("tools of the developer: %v", got)
	}
	// A cancelled call is cancelled behind the gateway.
	ctx, cancel := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "docs__slow"})
		failed <- err
	}()
	<-b.started
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
	<-b.ended
}

func toolNames(t *testing.T, cs *mcp.ClientSession) []string {
	t.Helper()
	res, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// testSDKRest is resources and prompts.
func testSDKRest(t *testing.T, cs *mcp.ClientSession, version string) {
	ctx := t.Context()
	rs, err := cs.ListResources(ctx, nil)
	if err != nil || rs.Resources[0].URI != "docs+file:///a.md" {
		t.Errorf("resources: %+v, %v", rs, err)
	}
	ts, err := cs.ListResourceTemplates(ctx, nil)
	if err != nil || len(ts.ResourceTemplates) != 1 || ts.ResourceTemplates[0].URITemplate != "docs+file:///{path}" {
		t.Errorf("templates: %+v, %v", ts, err)
	}
	read, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "docs+file:///a.md"})
	if err != nil || read.Contents[0].Text != "A" {
		t.Errorf("read: %+v, %v", read, err)
	}
	code := int64(-32002)
	if version >= v20260728 {
		code = -32602
	}
	for _, uri := range []string{"secret+file:///s.md", "absent+file:///s.md", "file:///z.md"} {
		_, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		var we *jsonrpc.Error
		if !errors.As(err, &we) || we.Code != code || we.Message != "Resource not found" {
			t.Errorf("%s: %v", uri, err)
		}
	}
	ps, err := cs.ListPrompts(ctx, nil)
	if err != nil || ps.Prompts[0].Name != "docs__summarize" {
		t.Errorf("prompts: %+v, %v", ps, err)
	}
	p, err := cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "docs__summarize"})
	if err != nil || p.Messages[0].Content.(*mcp.TextContent).Text != "P" {
		t.Errorf("prompt: %+v, %v", p, err)
	}
	_, err = cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "secret__prompt"})
	if err == nil || !strings.Contains(err.Error(), "Unknown prompt: secret__prompt") {
		t.Errorf("hidden prompt: %v", err)
	}
}

// testSDKNotices is progress and log lines of a call.
func testSDKNotices(t *testing.T, cs *mcp.ClientSession, version string, progress chan float64, logs chan string) {
	params := &mcp.CallToolParams{Name: "docs__notify"}
	params.SetProgressToken("tok")
	if version >= v20260728 {
		params.Meta["io.modelcontextprotocol/logLevel"] = "warning"
	} else {
		level := &mcp.SetLoggingLevelParams{Level: "warning"}          //nolint:staticcheck // deprecated, and still served
		if err := cs.SetLoggingLevel(t.Context(), level); err != nil { //nolint:staticcheck // likewise
			t.Fatal(err)
		}
	}
	if _, err := cs.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if got := <-progress; got != float64(i) {
			t.Errorf("progress %v, want %d", got, i)
		}
	}
	if got := <-logs; got != "error" {
		t.Errorf("log line of level %s", got)
	}
}
