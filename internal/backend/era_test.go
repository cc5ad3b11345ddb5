package backend

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/mcpclient/peertest"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// playEra is a server of the legacy revisions: how says what it does when server/discover comes first. It appends what it gets to a file,
// and "start" for each start. version is that of the program.
func playEra(args []string) error {
	how, file, version := args[0], args[1], args[2]
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintln(f, "start")
	out, in := bufio.NewWriter(os.Stdout), rpc.NewLines(os.Stdin, 1<<20)
	broken := false
	for {
		line, err := in.Next()
		if err != nil {
			return nil //nolint:nilerr // our input was closed: the polite end
		}
		m, bad := rpc.Parse(bytes.Clone(line))
		if bad != nil {
			return bad
		}
		fmt.Fprintln(f, m.Method)
		switch {
		case m.Method == "server/discover" && how == "exits":
			return fmt.Errorf("expected initialize, not %s", m.Method)
		case m.Method == "server/discover" && how == "is silent", m.ID == nil:
			continue
		case m.Method == "initialize" && !broken:
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},`+
				`"serverInfo":{"name":"era","version":%q}}}`+"\n", m.ID, version)
		case m.Method == "tools/list" && !broken:
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`+"\n", m.ID)
		default:
			broken = how == "breaks"
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}`+"\n", m.ID)
		}
		out.Flush()
	}
}

// A server of the legacy revisions is served whatever it does when server/discover comes first, and it is not asked so again until
// it has another version.
func TestLegacyServersAreAskedForTheModernRevisionOnce(t *testing.T) {
	t.Parallel()
	rest := []string{"initialize", "notifications/initialized", "tools/list"}
	for how, first := range map[string][]string{
		"refuses":   {"start", "server/discover"},
		"exits":     {"start", "server/discover", "start"},
		"breaks":    {"start", "server/discover", "initialize", "start"},
		"is silent": {"start", "server/discover"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "seen")
			learn := func(version string, want []string) {
				t.Helper()
				_ = os.Remove(file)
				s := play(t, "s", "play-era", how, file, "${V}")
				p := newPool(t, Options{Catalogs: dir, Environ: []string{"V=" + version}}, s)
				if err := p.Learn(testContext(t), "s"); err != nil {
					t.Fatal(err)
				}
				endPool(t, p)
				b, _ := os.ReadFile(file)
				if got := strings.Fields(string(b)); !slices.Equal(got, want) {
					t.Errorf("version %s got %q, want %q", version, got, want)
				}
			}
			learn("1", slices.Concat(first, rest))
			learn("1", slices.Concat([]string{"start"}, rest))
			learn("2", slices.Concat([]string{"start"}, rest)) // only its answer says that it is another version
			learn("2", slices.Concat(first, rest))
			learn("2", slices.Concat([]string{"start"}, rest))
		})
	}
}

// A server that knows both eras is spoken to in the modern one, over stdio and HTTP, and stays so.
func TestServersOfBothErasAreSpokenToInTheModernOne(t *testing.T) {
	t.Parallel()
	h := sdkHandler(nil, &mcp.StreamableHTTPOptions{Stateless: true})
	for name, s := range map[string]Server{"stdio": play(t, "s", "play-sdk"), "http": {Name: "s", URL: serveHTTP(t, h)}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for range 2 {
				p := newPool(t, Options{Catalogs: dir}, s)
				if err := p.Learn(testContext(t), "s"); err != nil {
					t.Fatal(err)
				}
				if v := p.Catalog().Servers["s"].Version; v != mcpclient.ModernVersion {
					t.Errorf("it is spoken to in %s", v)
				}
				endPool(t, p)
			}
		})
	}
}

// With legacy, a server that knows both eras gets initialize first, and is not asked with server/discover.
func TestLegacyBeginsWithInitialize(t *testing.T) {
	t.Parallel()
	s := play(t, "s", "play-sdk")
	s.Legacy = true
	dir := t.TempDir()
	for _, want := range []string{mcpclient.LatestLegacy, mcpclient.ModernVersion} {
		p := newPool(t, Options{Catalogs: dir}, s)
		if err := p.Learn(testContext(t), "s"); err != nil {
			t.Fatal(err)
		}
		if v := p.Catalog().Servers["s"].Version; v != want {
			t.Errorf("it is spoken to in %s, not %s", v, want)
		}
		endPool(t, p)
		s.Legacy = false // what was learnt with it does not stay
	}
}

// In the modern revision, each call declares the capabilities of its own client. What we ask for all clients declares all that we can pass
// on, so that a server shows its apps.
func TestEachCallDeclaresItsClient(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{modern: true})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	declared := []string{`{"elicitation":{}}`, `{"sampling":{},"extensions":{"io.modelcontextprotocol/ui":{}}}`}
	for _, caps := range declared {
		peer := &peertest.Person{Caps: caps, Answer: peertest.Answers}
		if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), peer); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), nil); err != nil {
		t.Fatal(err)
	}
	endPool(t, p)
	f.mu.Lock()
	defer f.mu.Unlock()
	var got []string
	for _, body := range f.bodies {
		got = append(got, string(rawjson.Path([]byte(body), "params", "_meta", "io.modelcontextprotocol/clientCapabilities")))
	}
	if len(got) != 5 || !slices.Equal(got[2:], append(declared, "{}")) {
		t.Errorf("declared: %q", got)
	}
	for _, caps := range got[:min(2, len(got))] {
		if !strings.Contains(caps, `"io.modelcontextprotocol/ui"`) || !strings.Contains(caps, `"elicitation"`) {
			t.Errorf("declared for all: %s", caps)
		}
	}
}

// The session that a server names in its refusal of server/discover is not the one that initialize begins.
func TestSessionOfARefusedDiscoveryIsForgotten(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "server/discover" {
			w.Header().Set("Mcp-Session-Id", "of-nothing")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`)
			return
		}
		f.ServeHTTP(w, r)
	}))})
	if err := p.Learn(testContext(t), "s"); err != nil {
		t.Fatal(err)
	}
	for _, h := range f.headers() {
		if got := h.Get("Mcp-Session-Id"); got == "of-nothing" {
			t.Errorf("it was sent %q", got)
		}
	}
}

// A legacy server over HTTP that never answers server/discover is served.
func TestHTTPServerThatIsSilentToDiscovery(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	f := newWeb(&web{})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "server/discover" {
			_, _ = io.Copy(io.Discard, r.Body) // before that, the end of a request is not seen
			<-r.Context().Done()               // it is abandoned when initialize is answered
			close(gone)
			return
		}
		f.ServeHTTP(w, r)
	}))})
	if err := p.Learn(testContext(t), "s"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-testContext(t).Done():
		t.Error("the request is still open")
	}
	if v := p.Catalog().Servers["s"].Version; v != "2025-06-18" {
		t.Errorf("it is spoken to in %s", v)
	}
}
