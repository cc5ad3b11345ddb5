package backend

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/backend/mcpclient/peertest"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

func TestCancelReachesTheServer(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, version string, s Server) {
		if version == mcpclient.ModernVersion && s.URL != "" {
			return // the SDK's server goes on when its stream is closed; TestHTTPCancel sees the end of the stream
		}
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		if err := p.Learn(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		e := p.entry("s")
		short, cancel := context.WithCancel(ctx)
		done := make(chan error, 1)
		go func() {
			_, _, err := p.Do(short, scopeOf("ann"), "", "s", "tools/call", []byte(`{"name":"hang","arguments":{}}`), nil)
			done <- err
		}()
		waitFor(t, func() bool { return e.conn.Busy() == 1 })
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		// The word may overtake the call, which then hangs on; so that it is given up as often as it takes.
		waitFor(t, func() bool {
			short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, _, _ = p.Do(short, scopeOf("ann"), "", "s", "tools/call", []byte(`{"name":"hang","arguments":{}}`), nil)
			return textOf(t, tool(ctx, t, p, "ann", "hung", nil)) != "0"
		})
	})
}

func TestProgressHasTheCallersToken(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, _ string, s Server) {
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		for _, token := range []string{`"a\u0062c"`, `12345678901234567890`} {
			peer := &peertest.Person{Caps: peertest.Everything, Answer: peertest.Answers}
			if _, _, err := p.Do(ctx, scopeOf("ann"), "", "s", "tools/call",
				[]byte(`{"name":"progress","arguments":{},"_meta":{"progressToken":`+token+`}}`), peer); err != nil {
				t.Fatal(err)
			}
			got := peer.Notices()
			if len(got) != 3 || !strings.Contains(got[0], `"progressToken":`+token) || !strings.Contains(got[2], `"progress":2`) {
				t.Errorf("%s: notices %q", token, got)
			}
		}
	})
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	revisions(t, func(t *testing.T, version string, s Server) {
		p := newPool(t, Options{}, s)
		ctx := testContext(t)
		for _, c := range []struct{ meta, want string }{
			{`{"io.modelcontextprotocol/logLevel":"error"}`, "error"},
			{`{"io.modelcontextprotocol/logLevel":"debug"}`, "debug info error"},
			{`{"io.modelcontextprotocol/logLevel":"error"}`, "error"}, // the server says more now, for the sake of others
			{`{}`, map[bool]string{true: "", false: "info error"}[version == mcpclient.ModernVersion]},
			{`{"io.modelcontextprotocol/logLevel":"info"}`, "info error"},
		} {
			peer := &peertest.Person{Caps: peertest.Everything, Answer: peertest.Answers}
			if _, _, err := p.Do(ctx, scopeOf("ann"), "", "s", "tools/call", []byte(`{"name":"log","arguments":{},"_meta":`+c.meta+`}`),
				peer); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range peer.Notices() {
				level := rawjson.TextAt([]byte(strings.TrimPrefix(n, "notifications/message")), "level")
				got = append(got, level)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: lines %q", c.meta, got)
			}
		}
	})
}

// What a server of the modern revision and its client say to one another passes as it is, but for what the protocol makes ours.
func TestModernPassesByteForByte(t *testing.T) {
	t.Parallel()
	const asked = `{"resultType":"input_required","inputRequests":{"q":{"method":"x/unknown","params":{"n":12345678901234567890}}} ` +
		`,"requestState":"\u0061\/=","x":[1.0]}`
	const retry = `{"name":"t","arguments":{"n":12345678901234567890},"inputResponses":{"q":{"f":1.50e+01}},"requestState":"\u0061\/=",` +
		`"_meta":{` +
		`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01","tracestate":"a=b","baggage":"k=v",` +
		`"io.modelcontextprotocol/logLevel":"debug"}}`
	const last = `{"resultType":"complete","content":[{"type":"hologram","x":12345678901234567890}],"_meta":{"traceparent":"00-1"} , ` +
		`"ttlMs":0}`
	f := newWeb(&web{modern: true})
	f.call = func(w http.ResponseWriter, _ *http.Request, id []byte, n int) {
		answerJSON(w, id, []string{asked, last}[n-1])
	}
	p := newPool(t, Options{Version: "1"}, Server{Name: "s", URL: serveHTTP(t, f)})
	peer := &peertest.Person{Caps: `{"elicitation":{"url":{}},"x" : 12345678901234567890}`}
	for i, params := range []string{`{"name":"t"}`, retry} {
		result, _, err := p.Do(testContext(t), scopeOf("ann"), "", "s", "tools/call", []byte(params), peer)
		if want := []string{asked, last}[i]; err != nil || string(result) != want {
			t.Errorf("%s, %v", result, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	want := strings.TrimSuffix(retry, "}}") + `,"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"mycelium","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + peer.Caps + `}}`
	if got := f.bodies[len(f.bodies)-1]; !strings.Contains(got, want) {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
}

func TestMethodsOfExtensions(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{modern: true})
	f.other = func(w http.ResponseWriter, m rpc.Message) { answerJSON(w, m.ID, `{"echo":`+string(m.Params)+`}`) }
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	for method, name := range map[string]string{"tasks/get": "task 1", "tasks/update": "task 1", "tasks/cancel": "task 1",
		"completion/complete": "", "com.example/do": ""} {
		result, rpcErr, err := p.Do(testContext(t), policy.Scope{}, "", "s", method, []byte(`{"taskId":"task 1","n":12345678901234567890}`), nil)
		if err != nil || !strings.Contains(string(result), `{"echo":{"taskId":"task 1","n":12345678901234567890,`) {
			t.Errorf("%s: %s %s %v", method, result, rpcErr, err)
		}
		heads := f.headers() // among them those of what we ask ourselves
		i := slices.IndexFunc(heads, func(h http.Header) bool { return h.Get("Mcp-Method") == method })
		if i < 0 || heads[i].Get("Mcp-Name") != name {
			t.Errorf("%s: headers %v", method, heads)
		}
	}
}
