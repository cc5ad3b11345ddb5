package backend

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mycelium/internal/backend/mcpclient/peertest"
	"mycelium/internal/policy"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// oldSDK is a server of the SDK on the transport of 2024.
func oldSDK(t *testing.T) Server {
	s := sdkServer(&mcp.ServerOptions{PageSize: 2, SupportedProtocolVersions: []string{"2024-11-05"}})
	return Server{Name: "s", Type: "sse", URL: serveHTTP(t, mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return s }, nil)) + "/sse"}
}

func TestSDKServerOverTheTransportOf2024(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{}, oldSDK(t))
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sdkNames, names(p.Catalog())); d != "" {
		t.Error(d)
	}
	peer := &peertest.Person{Caps: peertest.Everything, Answer: peertest.Answers}
	if got := textOf(t, tool(ctx, t, p, "ann", "elicit", peer)); got != `{"action":"accept","content":{"name":"Ann"}}` {
		t.Errorf("the server got %s", got)
	}
	box := make(post, 9)
	stop, err := p.Subscribe(ctx, "s", "file:///r", box.tell)
	if err != nil {
		t.Fatal(err)
	}
	touch(ctx, t, p, "file:///r")
	box.next(t)
	stop()
	result, _, err := p.Do(ctx, scopeOf("ann"), "", "s", "tools/call",
		[]byte(`{"name":"progress","arguments":{},"_meta":{"progressToken":"tok"}}`), peer)
	if got := peer.Notices(); err != nil || len(got) != 3 || !strings.Contains(got[2], `"progressToken":"tok"`) {
		t.Errorf("%s, %v: %q", result, err, got)
	}
	if s := p.Status()[0]; s.State != StateReady {
		t.Errorf("%+v", s)
	}
}

// oldWeb is a server of ours on the transport of 2024: stream writes its events.
func oldWeb(t *testing.T, stream func(w http.ResponseWriter, r *http.Request)) Server {
	return Server{Name: "s", Type: "sse", URL: serveHTTP(t, http.HandlerFunc(stream)) + "/sse?key=${T}", Start: Duration(2 * time.Second)}
}

func TestTransportOf2024ThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("credentials went to another host: %v", r.Header)
	}))
	defer elsewhere.Close()
	says := func(events string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Error(w, "unknown with top-secret", http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, events)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	for name, c := range map[string]struct {
		stream func(http.ResponseWriter, *http.Request)
		want   string
	}{
		"another host": {says("event: endpoint\ndata: " + elsewhere.URL + "/post\n\n"),
			"it names an address of another host for messages, which is refused"},
		"another scheme": {says("event: endpoint\ndata: file:///etc/passwd\n\n"), "it names an address of another host"},
		"a user":         {says("event: endpoint\ndata: //x@" + "HOST/post\n\n"), "it names an address of another host"},
		"no address":     {says(": nothing\n\n"), "it was not ready within 2s"},
		"refused":        {says("event: endpoint\ndata: /post\n\n"), "it answers HTTP 400 Bad Request: unknown with ${T}"},
		"no stream": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
			"it answers HTTP 404 Not Found and no stream of events (hint: most servers of today speak type: http)"},
		"no entry": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
			"it answers HTTP 401 Unauthorized (hint: check the entry's headers"},
		"ends": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
		}, "its stream of events ended"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, Options{Environ: []string{"T=top-secret"}}, oldWeb(t, c.stream))
			err := p.Start(testContext(t), []string{"s"})
			if err == nil || !strings.Contains(text.Describe(err), c.want) || strings.Contains(text.Describe(err), "top-secret") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func readMessage(r *http.Request) rpc.Message {
	b, _ := io.ReadAll(r.Body)
	m, _ := rpc.Parse(b)
	return m
}

func TestTransportOf2024PassesByteForByte(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 9)
	posted := make(chan string, 99)
	p := newPool(t, Options{Environ: []string{"T=top-secret"}}, oldWeb(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posted <- r.URL.Path + " " + r.URL.RawQuery
			if m := readMessage(r); m.ID != nil {
				result := fakeInit
				switch m.Method {
				case "tools/list":
					result = `{"tools":[` + fakeTool + `]}`
				case "tools/call":
					result = fakeResult
				}
				lines <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
			}
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: endpoint\ndata: post?session=1\n\n")
		w.(http.Flusher).Flush()
		for {
			select {
			case line := <-lines:
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	result, _, err := p.Do(testContext(t), policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), nil)
	if err != nil || string(result) != fakeResult {
		t.Errorf("%s, %v", result, err)
	}
	if defs := p.Catalog().Definitions; len(defs) != 1 || string(defs[0].Raw) != fakeTool {
		t.Errorf("definitions %v", defs)
	}
	for len(posted) > 0 {
		if at := <-posted; at != "/post session=1" {
			t.Errorf("posted to %s", at)
		}
	}
}
