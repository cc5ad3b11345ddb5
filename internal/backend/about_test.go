package backend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestServersSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for version, s := range map[string]Server{
		"2025-11-25": play(t, "s", "play-sdk", "2025-11-25"),
		"2024-11-05": play(t, "s", "play-sdk", "2024-11-05"),
		"2026-07-28": {Name: "s", URL: serveHTTP(t, sdkHandler(&mcp.ServerOptions{SupportedProtocolVersions: []string{"2026-07-28"}},
			&mcp.StreamableHTTPOptions{Stateless: true}))},
	} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			p := newPool(t, Options{Catalogs: dir}, s)
			if n := len(p.Catalog().Servers); n != 0 {
				t.Fatalf("%d known before anything was asked", n)
			}
			if err := p.Learn(testContext(t), "s"); err != nil {
				t.Fatal(err)
			}
			got := p.Catalog().Servers["s"]
			if got.Version != version || got.Instructions != "do this" || !strings.Contains(string(got.Info), `"name":"sdk"`) {
				t.Errorf("it said %+v", got)
			}
			if !got.Declares("tools") || !got.Declares("resources", "listChanged") || !got.Declares("extensions", "com.example/x") ||
				got.Declares("extensions", "y") {
				t.Errorf("capabilities %s", got.Capabilities)
			}
			if d := cmp.Diff(p.Catalog().Servers, newPool(t, Options{Catalogs: dir}, s).Catalog().Servers); d != "" {
				t.Errorf("before it runs again: %s", d)
			}
		})
	}
}
