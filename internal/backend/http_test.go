package backend

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/policy"
)

// serveHTTP serves a handler on loopback until the test ends. Connections are cut then: streams have no end of their own.
func serveHTTP(t testing.TB, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv.URL
}

func sdkHandler(o *mcp.ServerOptions, h *mcp.StreamableHTTPOptions) http.Handler {
	s := sdkServer(o)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, h)
}

func TestSDKServerOverHTTP(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		server *mcp.ServerOptions
		http   *mcp.StreamableHTTPOptions
	}{
		"stateful":      {&mcp.ServerOptions{PageSize: 2}, nil},
		"stateful JSON": {&mcp.ServerOptions{PageSize: 2}, &mcp.StreamableHTTPOptions{JSONResponse: true}},
		"stateless":     {&mcp.ServerOptions{PageSize: 2}, &mcp.StreamableHTTPOptions{Stateless: true}},
		"2026-07-28": {&mcp.ServerOptions{PageSize: 2, SupportedProtocolVersions: []string{"2026-07-28"}},
			&mcp.StreamableHTTPOptions{Stateless: true}},
		"2024-11-05": {&mcp.ServerOptions{PageSize: 2, SupportedProtocolVersions: []string{"2024-11-05"}}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, sdkHandler(c.server, c.http))})
			ctx := testContext(t)
			if err := p.Learn(ctx, "s"); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(sdkNames, names(p.Catalog())); d != "" {
				t.Error(d)
			}
			result, rpcErr, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"echo","arguments":{"n":12345678901234567890}}`),
				nil)
			if err != nil || rpcErr != nil {
				t.Fatal(err, string(rpcErr))
			}
			if !strings.Contains(string(result), "12345678901234567890") {
				t.Errorf("result %s", result)
			}
		})
	}
}
