package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mycelium/internal/backend/mcpclient"
	"mycelium/internal/policy"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// web is a Streamable HTTP server of ours that can misbehave.
type web struct {
	modern bool
	list   string                                                         // the result of tools/list
	call   func(w http.ResponseWriter, r *http.Request, id []byte, n int) // answers tools/call; n counts from 1
	other  func(w http.ResponseWriter, m rpc.Message)                     // answers any other method
	get    func(w http.ResponseWriter, r *http.Request)                   // answers GET; nil: 405

	mu     sync.Mutex
	seen   []string // method of each message, with its session
	heads  []http.Header
	bodies []string
	calls  int
	inits  int
}

// headers are those of each request so far. The stream that a client opens with GET may come at any time.
func (f *web) headers() []http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.heads)
}

// called counts the calls. A handler that hangs up may still be running when its client knows.
func (f *web) called() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, _ := rpc.Parse(body)
	f.mu.Lock()
	name := m.Method
	if r.Method != http.MethodPost {
		name = r.Method
	}
	f.seen = append(f.seen, name+" "+r.Header.Get("Mcp-Session-Id"))
	f.heads = append(f.heads, r.Header)
	f.bodies = append(f.bodies, string(body))
	if m.Method == "initialize" {
		f.inits++
	}
	if m.Method == "tools/call" {
		f.calls++
	}
	calls, inits := f.calls, f.inits
	f.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && f.get != nil:
		f.get(w, r)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "initialize" && f.modern:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", inits))
		answerJSON(w, m.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}`)
	case m.Method == "server/discover" && f.modern:
		answerJSON(w, m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case m.Method == "tools/list":
		f.mu.Lock()
		list := f.list
		f.mu.Unlock()
		answerJSON(w, m.ID, list)
	case m.Method == "tools/call":
		f.call(w, r, m.ID, calls)
	case f.other != nil:
		f.other(w, m)
	}
}

func answerJSON(w http.ResponseWriter, id []byte, result string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (f *web) log() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.seen)
}

func newWeb(f *web) *web {
	if f.list == "" {
		f.list = `{"tools":[` + fakeTool + `]}`
	}
	if f.call == nil {
		f.call = func(w http.ResponseWriter, _ *http.Request, id []byte, _ int) { answerJSON(w, id, fakeResult) }
	}
	return f
}

func TestHTTPPassesByteForByteAndEndsItsSession(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{})
	p := newPool(t, Options{Environ: []string{"T=top-secret"}},
		Server{Name: "s", URL: serveHTTP(t, f), Headers: map[string]string{"Authorization": "Bearer ${T}"}})
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(ctx, t, p, "s", nil); err != nil || got != fakeResult {
		t.Fatal(got, err)
	}
	endPool(t, p)
	seen := f.log()
	if i := slices.Index(seen, "GET session-1"); i >= 0 { // beside the others, at no fixed place
		seen = slices.Delete(seen, i, i+1)
	}
	want := []string{"server/discover ", "initialize ", "notifications/initialized session-1", "tools/list session-1",
		"tools/call session-1", "DELETE session-1"}
	if !slices.Equal(seen, want) {
		t.Errorf("requests %q", seen)
	}
	for i, h := range f.headers() {
		version := h.Get("MCP-Protocol-Version")
		if i == 0 && version == mcpclient.ModernVersion && h.Get("Mcp-Method") == "server/discover" {
			continue
		}
		if h.Get("Authorization") != "Bearer top-secret" || h.Get("Mcp-Method") != "" || (version != "2025-06-18") != (i == 1) {
			t.Errorf("headers of request %d: %v", i, h)
		}
	}
}

func TestHTTPModernHeaders(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{modern: true, list: `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{` +
		`"a":{"type":"string","x-mcp-header":"A"},"n":{"type":"object","properties":{"i":{"type":"integer","x-mcp-header":"I"},` +
		`"b":{"type":"boolean","x-mcp-header":"B"}}},` +
		`"gone":{"type":"string","x-mcp-header":"Gone"},"big":{"type":"integer","x-mcp-header":"Big"}}}},` +
		`{"name":"bad","inputSchema":{"type":"object","properties":{"bad":{"type":"string","x-mcp-header":"X: y"}}}}]}`})
	p := newPool(t, Options{Version: "1.2"}, Server{Name: "s", URL: serveHTTP(t, f)})
	ctx := testContext(t)
	if err := p.Learn(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	params := `{"name":"t","arguments":{"a":"日本","n":{"i":-7,"b":true},"big":12345678901234567890},"_meta":{"x":1,` +
		`"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}`
	if _, _, err := p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(params), nil); err != nil {
		t.Fatal(err)
	}
	if got := names(p.Catalog()); !slices.Equal(got, []string{"s__t"}) ||
		!strings.Contains(p.Status()[0].Error, `tools "bad": x-mcp-header "X: y" is not a header name`) {
		t.Errorf("%q, %+v", got, p.Status()[0])
	}
	endPool(t, p)
	if seen := f.log(); !slices.Equal(seen, []string{"server/discover ", "tools/list ", "tools/call "}) {
		t.Errorf("requests %q", seen)
	}
	got := map[string]string{}
	for k, v := range f.headers()[2] {
		if strings.HasPrefix(k, "Mcp-") {
			got[k] = v[0]
		}
	}
	want := map[string]string{
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "t",
		"Mcp-Param-A": "=?base64?5pel5pys?=", "Mcp-Param-I": "-7", "Mcp-Param-B": "true",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("headers %v", got)
	}
	body := `{"name":"t","arguments":{"a":"日本","n":{"i":-7,"b":true},"big":12345678901234567890},"_meta":{"x":1,` +
		`"io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mycelium","version":"1.2"}}}`
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.Contains(f.bodies[2], body) {
		t.Errorf("body %s", f.bodies[2])
	}
}

func TestHTTPHeadersOfANewDefinition(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{modern: true})
	f.call = func(w http.ResponseWriter, r *http.Request, id []byte, _ int) {
		if r.Header.Get("Mcp-Param-A") != "x" {
			f.mu.Lock()
			f.list = `{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}`
			f.mu.Unlock()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Header mismatch"}}`, id)
			return
		}
		answerJSON(w, id, fakeResult)
	}
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	ctx := testContext(t)
	call := func(a string) (result, rpcErr []byte, err error) {
		return p.Do(ctx, policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t","arguments":{"a":"`+a+`"}}`), nil)
	}
	// The definition was looked at again, and as it is another now, somebody has to accept it.
	if _, _, err := call("x"); err == nil || !strings.Contains(err.Error(), "quarantine") {
		t.Fatal(err)
	}
	held := p.Catalog().Held[0]
	if err := p.Accept([]Acceptance{{Name: held.Name(), Digest: held.Digest}}); err != nil {
		t.Fatal(err)
	}
	if result, rpcErr, err := call("x"); err != nil || string(result) != fakeResult {
		t.Errorf("%s %s %v", result, rpcErr, err)
	}
	// A mistake that no definition mends is the answer.
	if _, rpcErr, err := call("y"); err != nil || string(rawjson.Member(rpcErr, "code")) != strconv.Itoa(rpc.CodeHeaderMismatch) ||
		f.called() != 4 {
		t.Errorf("%s %v after %d calls", rpcErr, err, f.called())
	}
}

func TestHTTPSessionThatIsGone(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{call: func(w http.ResponseWriter, r *http.Request, id []byte, _ int) {
		if r.Header.Get("Mcp-Session-Id") == "session-1" {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		answerJSON(w, id, fakeResult)
	}})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	if got, err := ask(testContext(t), t, p, "s", nil); err != nil || got != fakeResult {
		t.Fatal(got, err)
	}
	if n := strings.Count(strings.Join(f.log(), "\n"), "tools/call"); n != 2 {
		t.Errorf("the call was sent %d times", n)
	}
	if st := p.Status()[0]; st.State != StateReady {
		t.Errorf("%+v", st)
	}
}

func TestHTTPServerThatForgetsEverySession(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{call: func(w http.ResponseWriter, _ *http.Request, _ []byte, _ int) { w.WriteHeader(http.StatusNotFound) }})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	_, err := ask(testContext(t), t, p, "s", nil)
	if err == nil || err.Error() != `server "s": tools/call failed: the server ended the session` {
		t.Errorf("error %v", err)
	}
	if n := f.called(); n != 2 {
		t.Errorf("the call was sent %d times", n)
	}
}

var tooDeep = strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000)

// sendEvent sends the only event of a stream that stays open.
func sendEvent(w http.ResponseWriter, data string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

func TestHTTPAnswersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("credentials went to another host: %v", r.Header)
	}))
	defer elsewhere.Close()
	cases := map[string]struct {
		call func(w http.ResponseWriter, id []byte)
		want string
	}{
		"401": {func(w http.ResponseWriter, _ []byte) { w.WriteHeader(401) },
			"it answers HTTP 401 Unauthorized (hint: check the entry's headers, for instance Authorization)"},
		"500": {func(w http.ResponseWriter, _ []byte) { http.Error(w, "boom with top-secret", 500) },
			"it answers HTTP 500 Internal Server Error: boom with ${T}\n"},
		"204": {func(w http.ResponseWriter, _ []byte) { w.WriteHeader(204) }, "it answers HTTP 204 No Content"},
		"HTML": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>")
		}, `its answer is of type "text/html", not JSON (hint: is the url that of an MCP server?)`},
		"not JSON": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, "its answer is not valid: parse error: not JSON in UTF-8"},
		"a notification": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		}, "its answer ended before the result"},
		"wrong id":           {func(w http.ResponseWriter, _ []byte) { answerJSON(w, []byte("77"), "{}") }, "it answered with the id 77, and the id of the call is "},
		"wrong id, streamed": {func(w http.ResponseWriter, _ []byte) { sendEvent(w, `{"jsonrpc":"2.0","id":77,"result":{}}`) }, "it answered with the id 77, and the id of the call is "},
		"too deep":           {func(w http.ResponseWriter, id []byte) { answerJSON(w, id, tooDeep) }, "it is nested more than 1000 deep"},
		"too deep, streamed": {func(w http.ResponseWriter, id []byte) {
			sendEvent(w, `{"jsonrpc":"2.0","id":`+string(id)+`,"result":`+tooDeep+`}`)
		}, "it is nested more than 1000 deep"},
		"too deep, no id, streamed": {func(w http.ResponseWriter, _ []byte) { sendEvent(w, `{"jsonrpc":"2.0","result":`+tooDeep+`}`) },
			"it is nested more than 1000 deep"},
		"too deep, with a status": {func(w http.ResponseWriter, id []byte) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(400)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"m","data":%s}}`, id, tooDeep)
		}, "it answers HTTP 400 Bad Request"},
		"too long": {func(w http.ResponseWriter, id []byte) {
			answerJSON(w, id, `"`+strings.Repeat("x", mcpclient.MaxAnswer)+`"`)
		}, "its answer is longer than 16 MiB"},
		"stream without end": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", strings.Repeat("x", mcpclient.MaxAnswer+100))
		}, "its answer is longer than 16 MiB"},
		"too long, with event ids": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\ndata:\n\nid: 2\ndata: %s\n\n", strings.Repeat("x", mcpclient.MaxAnswer+100))
		}, "its answer is longer than 16 MiB"},
		"empty stream": {func(w http.ResponseWriter, _ []byte) { w.Header().Set("Content-Type", "text/event-stream") },
			"its event stream ended before the result"},
		"redirect": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(307)
		}, "redirect to another host refused"},
		"method": {func(w http.ResponseWriter, _ []byte) { w.Header().Set("Location", "/other"); w.WriteHeader(302) },
			"redirect that changes the method refused"},
		"hangs up": {func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) }, "EOF"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := newWeb(&web{call: func(w http.ResponseWriter, r *http.Request, id []byte, _ int) {
				if c.call(w, id); strings.HasSuffix(name, "streamed") {
					<-r.Context().Done()
				}
			}})
			p := newPool(t, Options{Environ: []string{"T=top-secret"}}, Server{Name: "s", URL: serveHTTP(t, f) + "/?key=${T}"})
			_, err := ask(testContext(t), t, p, "s", nil)
			if err == nil || !strings.Contains(err.Error(), "tools/call failed: ") || !strings.Contains(text.Describe(err), c.want) ||
				strings.Contains(text.Describe(err), "top-secret") {
				t.Errorf("error %v", err)
			}
			if n := f.called(); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
		})
	}
}

func TestHTTPErrorsOfTheProtocol(t *testing.T) {
	t.Parallel()
	const want = `{"code":-32602,"message":"bad","data":{"n":12345678901234567890}}`
	f := newWeb(&web{call: func(w http.ResponseWriter, _ *http.Request, id []byte, _ int) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, id, want)
	}})
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	result, rpcErr, err := p.Do(testContext(t), policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t"}`), nil)
	if err != nil || result != nil || string(rpcErr) != want {
		t.Errorf("%s, %s, %v", result, rpcErr, err)
	}
}

func TestHTTPStreamWithNotices(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{})
	f.call = func(w http.ResponseWriter, _ *http.Request, id []byte, _ int) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, ": comment\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":1}}\n\n")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n",
			id)
		fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\ndata: \"result\":{\"x\":12345678901234567890}}\n\n", id)
	}
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	var got []string
	result, _, err := p.Do(testContext(t), policy.Scope{}, "", "s", "tools/call", []byte(`{"name":"t","_meta":{"progressToken":"mine"}}`),
		listener(func(m string, b []byte) { got = append(got, m+string(b)) }))
	if err != nil || string(result) != `{"x":12345678901234567890}` {
		t.Fatal(string(result), err)
	}
	if want := []string{`notifications/message{"data":1}`, `notifications/progress{"progressToken":"mine","progress":1}`}; !slices.Equal(got,
		want) {
		t.Errorf("notices %q", got)
	}
}

func TestHTTPStreamIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	f := newWeb(&web{})
	var id []byte
	f.call = func(w http.ResponseWriter, _ *http.Request, callID []byte, _ int) {
		id = callID
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: e1\nretry: 1\ndata:\n\n")
	}
	f.get = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Header.Get("Last-Event-ID") == "e1" {
			fmt.Fprintf(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", id)
			return
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
	if got, err := ask(testContext(t), t, p, "s", nil); err != nil || got != "{}" {
		t.Error(got, err)
	}
}

func TestHTTPCancel(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		closed := make(chan struct{})
		f := newWeb(&web{modern: modern, call: func(_ http.ResponseWriter, r *http.Request, _ []byte, _ int) {
			<-r.Context().Done()
			close(closed)
		}})
		p := newPool(t, Options{}, Server{Name: "s", URL: serveHTTP(t, f)})
		ctx := testContext(t)
		if err := p.Learn(ctx, "s"); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		if _, err := ask(short, t, p, "s", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		cancel()
		select {
		case <-closed:
		case <-ctx.Done():
			t.Error("the request is still open")
		}
		told := func() bool {
			return slices.ContainsFunc(f.log(), func(s string) bool { return strings.HasPrefix(s, "notifications/cancelled") })
		}
		if !modern {
			waitFor(t, told)
		}
		endPool(t, p)
		if modern && told() {
			t.Error("a server of the new revision was sent a notification besides")
		}
	}
}

func TestHTTPUnreachable(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	url := srv.URL
	srv.Close()
	p := newPool(t, Options{Environ: []string{"T=top-secret", "HTTP_PROXY=http://127.0.0.1:1"}}, Server{Name: "s", URL: url + "/${T}"})
	err := p.Start(testContext(t), []string{"s"})
	if err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "top-secret") {
		t.Errorf("error %v", err)
	}
}

func TestHeaderValue(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain": "plain", "a b": "a b", " a": "=?base64?IGE=?=", "ü": "=?base64?w7w=?=", "a\nb": "=?base64?YQpi?=", "": "",
		"=?base64?eA==?=": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=",
	} {
		if got := rpc.HeaderValue(in); got != want {
			t.Errorf("%q is written %q", in, got)
		}
	}
}
