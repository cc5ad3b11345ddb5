package gateway

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mycelium/internal/gate/session"
	"mycelium/internal/rpc"
)

// web is a gateway on a real listener, and one caller.
type web struct {
	t       *testing.T
	world   *world
	server  *Server
	url     string
	client  *http.Client
	session *session.Session
	token   string
	link    string // of the legacy era
}

func newWeb(t *testing.T, o Options) *web {
	t.Helper()
	b := newWorld(t)
	return newWebOf(t, b, b.server(o))
}

// newWebOf is a new caller of a server over HTTP.
func newWebOf(t *testing.T, b *world, s *Server) *web {
	t.Helper()
	h := httptest.NewServer(s.Handler())
	tr := &http.Transport{}
	t.Cleanup(func() { s.Close(); tr.CloseIdleConnections(); h.Close() })
	w := &web{t: t, world: b, server: s, url: h.URL, client: &http.Client{Transport: tr}}
	w.session, w.token = b.mint("guest", "developer")
	return w
}

// do sends a request and returns the answer with its body open.
func (w *web) do(ctx context.Context, method, body string, header ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if w.link != "" {
		r.Header.Set(headerSession, w.link)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	return res
}

func (w *web) initialize() {
	w.t.Helper()
	w.initializeWith(`{}`)
}

func (w *web) initializeWith(capabilities string) {
	w.t.Helper()
	res := w.do(w.t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":`+capabilities+`}}`)
	if w.link = res.Header.Get(headerSession); w.link == "" {
		w.t.Fatalf("no link: %s", res.Status)
	}
}

func bodyOf(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// events reads a stream one event at a time.
func events(t *testing.T, body io.Reader) func() rpc.Event {
	lines := bufio.NewReader(body)
	return func() rpc.Event {
		t.Helper()
		var raw strings.Builder
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("stream ended: %v", err)
			}
			raw.WriteString(line)
			if line != "\n" {
				continue
			}
			var got rpc.Event
			n := 0
			_ = rpc.Events(t.Context(), strings.NewReader(raw.String()), 0, func(e rpc.Event) bool { got = e; n++; return true })
			if n > 0 {
				return got
			}
			raw.Reset() // a comment
		}
	}
}

const (
	slow       = `{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"docs__slow","_meta":{"progressToken":1}}}`
	toolsMoved = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
)

// A legacy client that loses its connection can resume the stream: the call is not cancelled.
func TestResume(t *testing.T) {
	w := newWeb(t, Options{})
	w.initialize()
	ctx, drop := context.WithCancel(t.Context())
	k := w.server.links.find(w.link)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(slow))
		r.Header = http.Header{"Authorization": {"Bearer " + w.token}, "Content-Type": {"application/json"}, headerSession: {w.link}}
		if res, err := w.client.Do(r); err == nil {
			res.Body.Close()
		}
	}()
	<-w.world.started
	st := k.find("1")
	st.notice("notifications/progress", []byte(`{"progressToken":1,"progress":1}`))
	st.notice("notifications/progress", []byte(`{"progressToken":1,"progress":2}`))
	drop()
	<-gone
	res := w.do(t.Context(), http.MethodGet, "", headerLastEvent, "1_0")
	next := events(t, res.Body)
	if e := next(); e.ID != "1_1" || !strings.Contains(string(e.Data), `"progress":2`) {
		t.Errorf("first event after the return: %+v", e)
	}
	close(w.world.held) // the call ends only now
	if e := next(); e.ID != "1_2" || !strings.Contains(string(e.Data), `"id":"s","result"`) {
		t.Errorf("the answer: %+v", e)
	}
	if rest := bodyOf(t, res.Body); rest != "" {
		t.Errorf("the stream goes on: %q", rest)
	}
}

// notifications/cancelled ends a legacy call, from another POST.
func TestLegacyCancel(t *testing.T) {
	w := newWeb(t, Options{})
	w.initialize()
	answer := make(chan string, 1)
	go func() {
		answer <- bodyOf(t, w.do(t.Context(), http.MethodPost, slow, "Accept", "application/json").Body)
	}()
	<-w.world.started
	if res := w.do(t.Context(), http.MethodPost, slow); !strings.Contains(bodyOf(t, res.Body), "still open") {
		t.Error("a second request of the same id was served")
	}
	if res := w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled",`+
		`"params":{"requestId":"s"}}`); res.StatusCode != http.StatusAccepted {
		t.Error(res.Status)
	}
	<-w.world.ended
	if got := <-answer; !strings.Contains(got, "cancelled") {
		t.Errorf("got %s", got)
	}
}

// A modern client cancels by closing the stream.
func TestModernDisconnectCancels(t *testing.T) {
	for _, token := range []string{"", `"progressToken":1,`} { // as plain JSON, and as a stream
		w := newWeb(t, Options{})
		ctx, drop := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			body := strings.Replace(modernCall("1", "docs__slow", `{}`), `"_meta":{`, `"_meta":{`+token, 1)
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(body))
			r.Header = http.Header{
				"Authorization": {"Bearer " + w.token}, "Content-Type": {"application/json"},
				headerVersion: {v20260728}, headerMethod: {"tools/call"}, headerName: {"docs__slow"},
			}
			if res, err := w.client.Do(r); err == nil {
				res.Body.Close()
			}
		}()
		<-w.world.started
		drop()
		<-w.world.ended
		<-gone
	}
}

// The GET stream of a link carries notices of changes. A new GET takes over without losing any.
func TestStandingStream(t *testing.T) {
	w := newWeb(t, Options{})
	w.initialize()
	first := w.do(t.Context(), http.MethodGet, "")
	if _, err := w.world.Sessions.SetRole(t.Context(), w.session, "developer", session.ByOperator); err != nil {
		t.Fatal(err)
	}
	next := events(t, first.Body)
	if e := next(); string(e.Data) != toolsMoved || e.ID != "0_0" {
		t.Errorf("told %+v", e)
	}
	for e := next(); e.ID != "0_2"; e = next() { // only then is it there to go on from
	}
	second := w.do(t.Context(), http.MethodGet, "", headerLastEvent, "0_2")
	_ = bodyOf(t, first.Body) // it ends
	if _, err := w.world.Sessions.SetRole(t.Context(), w.session, "guest", session.ByOperator); err != nil {
		t.Fatal(err)
	}
	if e := events(t, second.Body)(); string(e.Data) != toolsMoved || e.ID != "0_3" {
		t.Errorf("told %+v", e)
	}
	if res := w.do(t.Context(), http.MethodDelete, ""); res.StatusCode != http.StatusNoContent {
		t.Error(res.Status)
	}
	_ = bodyOf(t, second.Body) // it ends too
	if w.session.Scope().Principal.Role != "guest" {
		t.Error("the session ended with its link")
	}
}

// The end of a session ends its links and listens, and its token is refused.
func TestSessionEndClosesLinks(t *testing.T) {
	w := newWeb(t, Options{})
	w.initialize()
	get := w.do(t.Context(), http.MethodGet, "")
	listen := w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen",`+
		`"params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		headerVersion, v20260728, headerMethod, "subscriptions/listen")
	if err := w.world.Sessions.End(t.Context(), w.session.ID); err != nil {
		t.Fatal(err)
	}
	_ = bodyOf(t, get.Body)
	if got := bodyOf(t, listen.Body); !strings.Contains(got, `"id":9,"result":{"resultType":"complete",`+
		`"_meta":{"io.modelcontextprotocol/subscriptionId":9}}`) {
		t.Errorf("the listen ended with %s", got)
	}
	if res := w.do(t.Context(), http.MethodPost, slow); res.StatusCode != http.StatusUnauthorized {
		t.Error(res.Status)
	}
}

// One credential can have two links at a time; closing the gateway ends them.
func TestClose(t *testing.T) {
	w := newWeb(t, Options{})
	w.initialize()
	one := w.do(t.Context(), http.MethodGet, "")
	w.link = ""
	w.initialize()
	two := w.do(t.Context(), http.MethodGet, "")
	w.server.Close()
	_, _ = bodyOf(t, one.Body), bodyOf(t, two.Body)
	if len(w.server.links.byID) != 0 {
		t.Errorf("%d links are left", len(w.server.links.byID))
	}
	w.link = ""
	if res := w.do(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize",`+
		`"params":{"protocolVersion":"2025-06-18"}}`); res.StatusCode != http.StatusServiceUnavailable {
		t.Error(res.Status)
	}
}

// An unused link ends; a link in use does not.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWorld(t)
		s := b.server(Options{Idle: time.Minute})
		_, token := b.mint("guest")
		link := ""
		send := func(ctx context.Context, method, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(ctx, method, "http://localhost/mcp", strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			if link != "" {
				r.Header.Set(headerSession, link)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, r)
			return w
		}
		link = send(t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize",`+
			`"params":{"protocolVersion":"2025-06-18"}}`).Header().Get(headerSession)
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		for range 3 {
			time.Sleep(59 * time.Second) // of the bubble's clock
			if w := send(t.Context(), http.MethodPost, ping); w.Code != http.StatusOK {
				t.Fatalf("in use: %d %s", w.Code, w.Body)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		stream := make(chan struct{})
		go func() { send(ctx, http.MethodGet, ""); close(stream) }()
		time.Sleep(time.Hour)
		if w := send(t.Context(), http.MethodPost, ping); w.Code != http.StatusOK {
			t.Fatalf("with an open stream: %d", w.Code)
		}
		cancel()
		<-stream
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if w := send(t.Context(), http.MethodPost, ping); w.Code != http.StatusNotFound {
			t.Errorf("idle: %d", w.Code)
		}
		if len(s.links.byID) != 0 {
			t.Error("the link is still known")
		}
	})
}

// Without a token only callers on this machine are served, and only where the operator allows it.
func TestAnonymous(t *testing.T) {
	b := newWorld(t)
	s := b.server(Options{Anonymous: b.open("guest")})
	for _, tt := range []struct {
		remote string
		header [2]string
		status int
	}{
		{"127.0.0.1:5000", [2]string{}, 200},
		{"[::1]:5000", [2]string{}, 200},
		{"[::ffff:127.0.0.1]:5000", [2]string{}, 200},
		{"192.0.2.1:5000", [2]string{}, 401},
		{"@", [2]string{}, 401},
		{"127.0.0.1:5000", [2]string{"X-Forwarded-For", "192.0.2.1"}, 401},
		{"127.0.0.1:5000", [2]string{"Authorization", "Bearer nonsense"}, 401}, // a bad token is not no token
	} {
		call := strings.NewReader(modernCall("1", "docs__echo", `{}`))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", call)
		r.RemoteAddr = tt.remote
		r.Header = http.Header{
			"Content-Type": {"application/json"}, headerVersion: {v20260728}, headerMethod: {"tools/call"}, headerName: {"docs__echo"},
		}
		if tt.header[0] != "" {
			r.Header.Set(tt.header[0], tt.header[1])
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != tt.status {
			t.Errorf("%s %v: %d %s", tt.remote, tt.header, w.Code, w.Body)
		}
	}
}

// The ring keeps the last events, the answer always among them.
func TestStreamRing(t *testing.T) {
	st := newStream("7", nil)
	for i := range ringSize + 50 {
		st.push([]byte{byte(i)}, false)
	}
	st.push([]byte("answer"), true)
	st.push([]byte("late"), false)
	events, first, done, _ := st.read(0)
	if len(events) != ringSize || first != 51 || !done || string(events[len(events)-1]) != "answer" {
		t.Errorf("%d events from %d", len(events), first)
	}
	for i, want := range map[int]bool{0: false, 49: false, 50: true, 306: true, 307: false} {
		if st.keeps(i) != want {
			t.Errorf("has(%d) = %v", i, !want)
		}
	}
	if events, first, _, _ := st.read(300); len(events) != 7 || first != 300 {
		t.Errorf("read(300): %d events from %d", len(events), first)
	}
}

// A link remembers a few streams, and never forgets a running one.
func TestKeptStreams(t *testing.T) {
	k := &httpLink{notes: newStream("0", nil)}
	running := k.stream(nil)
	for range 20 {
		k.stream(nil).finish()
	}
	if len(k.streams) != keptStreams+1 || k.find("1") != running || k.find("21") == nil || k.find("5") != nil || k.find("0") != k.notes {
		t.Errorf("%d streams are kept", len(k.streams))
	}
}

// A silent stream gets comments, before a proxy or a client gives up; the answer then comes as an event.
func TestLongSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{}
		st := newStream("", nil)
		w := httptest.NewRecorder()
		go func() {
			time.Sleep(2*heartbeat + time.Second) // of the bubble's clock
			st.push([]byte(`{"a":1}`), true)
		}()
		s.follow(t.Context(), w, st, accept{json: true, events: true}, true)
		want := ": stream\n\n: \n\nevent: message\ndata: {\"a\":1}\n\n"
		if got := w.Body.String(); got != want || w.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("written: %q", got)
		}
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("localhost:80", "http://[::1]:3000", "1_2", "=?base64?YQ==?=", "application/json;q=1, text/*")
	f.Add("127.1", "null", "_", "=?base64?=", ",;*/*")
	f.Fuzz(func(t *testing.T, host, origin, last, name, accept string) {
		r := &http.Request{Host: host, Header: http.Header{"Origin": {origin}, "Accept": {accept}}}
		if (hosts{}).accept(r) && (!strings.Contains(host, "localhost") && !strings.ContainsAny(host, "0123456789:") || origin == "") {
			t.Errorf("host %q, origin %q", host, origin)
		}
		if id, i, ok := parseEventID(last); ok && (id == "" || i < 0) {
			t.Errorf("event id %q", last)
		}
		if rpc.HeaderText(rpc.HeaderValue(name)) != name {
			t.Errorf("header %q", name)
		}
		accepts(r.Header)
	})
}

// The answer to any request is a valid message, and a backend gets only calls that were allowed.
func FuzzServe(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"docs__echo","arguments":{"a":1},"_meta":{"mycelium/thinking":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"docs+file:///a.md"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"AAAA"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"secret__prompt","arguments":{}}}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	b := newWorld(f)
	s := b.server(Options{})
	sess := b.open("guest")
	versions := map[bool]string{false: v20250618, true: v20260728}
	f.Fuzz(func(t *testing.T, line []byte, modern bool) {
		m, bad := rpc.Parse(line)
		if bad != nil || !m.IsRequest() || strings.Contains(string(line), "slow") || m.Method == "subscriptions/listen" {
			return
		}
		b.mu.Lock()
		b.calls = nil
		b.mu.Unlock()
		reply, ok := s.mcp.Serve(t.Context(), b.link(t, s, sess, versions[modern], "{}"), m)
		if !ok || string(reply.ID) != string(m.ID) || (reply.Result == nil) == (reply.Error == nil) {
			t.Fatalf("%s: %+v", line, reply)
		}
		if again, err := rpc.Parse(reply.Append(nil)); err != nil || !again.IsResponse() {
			t.Fatalf("%s: %s: %v", line, reply.Append(nil), err)
		}
		for _, call := range b.seen() {
			if !strings.HasPrefix(call, "docs ") {
				t.Fatalf("%s reached %s", line, call)
			}
		}
	})
}
