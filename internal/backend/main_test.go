package backend

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/keeper"

	"go.uber.org/goleak"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test binary plays every program that the tests start: its first argument says which.
var programs = map[string]func(args []string) error{
	"play-keeper": func([]string) error { return keeper.Run() },
	"play-sdk":    playSDK,
	"play-owner":  playOwner,
	"play-fake":   playFake,
	"play-era":    playEra,
	"play-env":    playEnv,
}

func TestMain(m *testing.M) {
	if os.Getenv(suiteVar) != "" && os.Getenv(scenarioVar) != "" {
		if err := playSuiteClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 {
		if play := programs[os.Args[1]]; play != nil {
			if err := play(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(3)
			}
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}

// self is the path of the test binary.
func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// limit is how long a test waits for what must happen.
const limit = 30 * time.Second

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// testStop is a context with its end.
func testStop(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), limit)
}

// play is a stdio server that the test binary plays.
func play(t testing.TB, name string, args ...string) Server {
	return Server{Name: name, Command: self(t), Args: args}
}

// newPool makes a pool that is ended, with all that it started, at the end of the test.
func newPool(t testing.TB, o Options, servers ...Server) *Pool {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	p, err := New(servers, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endPool(t, p) })
	return p
}

// endPool ends a pool: Run with a context that is done does no more.
func endPool(t testing.TB, p *Pool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
}

// sdkServer is a server made with the SDK.
func sdkServer(o *mcp.ServerOptions) *mcp.Server {
	if o == nil {
		o = &mcp.ServerOptions{}
	}
	o.Instructions = "do this"
	var hung atomic.Int64 // calls of hang that were cancelled
	subs := &subscribed{uris: map[string]int{}}
	o.SubscribeHandler, o.UnsubscribeHandler = subs.add, subs.remove
	o.Capabilities = &mcp.ServerCapabilities{Extensions: map[string]any{"com.example/x": map[string]any{"a": 1}}}
	o.Capabilities.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // the old revisions have it
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, o)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "progress", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 3 {
				if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(),
					Progress: float64(i)}); err != nil {
					return nil, err
				}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
	s.AddTool(&mcp.Tool{Name: "grow", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: "grown", InputSchema: map[string]any{"type": "object"}},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{}, nil
				})
			return &mcp.CallToolResult{}, nil
		})
	s.AddTool(&mcp.Tool{Name: "hang", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Second): // the SDK forgets a cancellation that overtakes its call, and waits for the call at its end
				return said(0, nil), nil
			}
			fmt.Fprintln(os.Stderr, "hang was cancelled")
			hung.Add(1)
			return nil, ctx.Err()
		})
	s.AddTool(&mcp.Tool{Name: "hung", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return said(hung.Load(), nil), nil
		})
	addAskers(s)
	subs.addTools(s)
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	s.AddResource(&mcp.Resource{Name: "r", URI: "file:///r"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult,
		error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "file:///r", Text: "content"}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "t", URITemplate: "file:///{x}"},
		func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{}, nil
		})
	return s
}

// playSDK serves over stdio; an argument restricts the revision. With the modern one it knows no initialize, as a server that was
// written for it alone.
func playSDK(args []string) error {
	s := sdkServer(&mcp.ServerOptions{PageSize: 2, SupportedProtocolVersions: args})
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "initialize" && slices.Equal(args, []string{mcpclient.ModernVersion}) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "Method not found"}
			}
			return next(ctx, method, r)
		}
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}
