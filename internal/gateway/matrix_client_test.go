package gateway

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"mycelium/internal/gateway/mcpserver"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// speaker is a client that speaks one revision, over lines or HTTP. It answers questions and counts notices.
type speaker struct {
	t        *testing.T
	revision string
	send     func(ctx context.Context, m rpc.Message, name string) // a message of ours; over HTTP what comes back is taken by take

	mu       sync.Mutex
	last     int
	waiting  map[string]chan rpc.Message
	progress map[string]chan string // by token
	changed  chan struct{}          // one value: tools/list_changed came
	changes  int                    // how often
	said     string                 // the answer to every question
}

func newSpeaker(t *testing.T, revision string) *speaker {
	return &speaker{
		t: t, revision: revision, waiting: map[string]chan rpc.Message{}, progress: map[string]chan string{}, changed: make(chan struct{}, 1),
		said: `{"action":"accept","content":{"n":12345678901234567890}}`,
	}
}

func (p *speaker) modern() bool { return p.revision >= v20260728 }

// take handles one message of the server.
func (p *speaker) take(line []byte) {
	m, bad := rpc.Parse(line)
	if bad != nil {
		p.t.Errorf("the gateway said what is no message: %s", line)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case m.IsResponse():
		if c := p.waiting[string(m.ID)]; c != nil {
			delete(p.waiting, string(m.ID))
			c <- m
		}
	case m.ID != nil:
		go p.send(p.t.Context(), rpc.Message{ID: m.ID, Result: []byte(p.said)}, "")
	case m.Method == "notifications/progress":
		if c := p.progress[string(rawjson.Member(m.Params, "progressToken"))]; c != nil {
			c <- string(rawjson.Member(m.Params, "progress"))
		}
	case m.Method == "notifications/tools/list_changed":
		p.changes++
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}
}

// told reports whether list_changed ever came.
func (p *speaker) told() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes > 0
}

const matrixCapabilities = `{"elicitation":{},"sampling":{}}`

// start sends a request; the answer comes on the channel.
func (p *speaker) start(ctx context.Context, method, params, meta string) (id string, answer <-chan rpc.Message) {
	if p.modern() {
		meta += `,"` + mcpserver.MetaVersion + `":"` + p.revision + `","` + metaCapabilities + `":` + matrixCapabilities
	}
	if meta = strings.TrimPrefix(meta, ","); meta != "" {
		params = strings.TrimSuffix(params, "}") + `,"_meta":{` + meta + `}}`
		params = strings.Replace(params, "{,", "{", 1)
	}
	c := make(chan rpc.Message, 1)
	p.mu.Lock()
	p.last++
	id = fmt.Sprint(p.last)
	p.waiting[id] = c
	p.mu.Unlock()
	name := rawjson.TextAt([]byte(params), "name")
	go p.send(ctx, rpc.Message{ID: []byte(id), Method: method, Params: []byte(params)}, name)
	return id, c
}

func (p *speaker) request(method, params, meta string) []byte {
	p.t.Helper()
	_, answer := p.start(p.t.Context(), method, params, meta)
	m := <-answer
	if m.Error != nil {
		p.t.Errorf("%s %s: %s", method, params, m.Error)
	}
	return m.Result
}

// call calls a tool, and retries as often as it asks for input.
func (p *speaker) call(tool, args, meta string) []byte {
	p.t.Helper()
	params := `{"name":"` + tool + `","arguments":` + args
	result := p.request("tools/call", params+`}`, meta)
	for rawjson.TextAt(result, "resultType") == "input_required" {
		more := `,"requestState":` + string(rawjson.Member(result, "requestState")) + `,"inputResponses":{`
		for key := range rawjson.Members(rawjson.Member(result, "inputRequests")) {
			more += fmt.Sprintf("%q:%s,", key, p.said)
		}
		result = p.request("tools/call", params+strings.TrimSuffix(more, ",")+`}}`, meta)
	}
	return result
}

// listens counts the progress of a token.
func (p *speaker) listens(token string) <-chan string {
	c := make(chan string, 16)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.progress[token] = c
	return c
}

// begin does the handshake, or server/discover in the modern era.
func (p *speaker) begin() {
	if p.modern() {
		p.start(p.t.Context(), "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, "")
		return
	}
	result := p.request("initialize", `{"protocolVersion":"`+p.revision+`","capabilities":`+matrixCapabilities+`,"clientInfo":{"name":"m",`+
		`"version":"1"}}`, "")
	if v := rawjson.TextAt(result, "protocolVersion"); v != p.revision {
		p.t.Errorf("asked for %s, got %s", p.revision, v)
	}
	p.send(p.t.Context(), rpc.Message{Method: "notifications/initialized"}, "")
}

// overLines connects over pipes.
func overLines(t *testing.T, b *world, s *Server, revision string) *speaker {
	p := newSpeaker(t, revision)
	pipe := dial(t, s, b.open("tester"))
	var mu sync.Mutex
	p.send = func(_ context.Context, m rpc.Message, _ string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = pipe.in.Write(append(m.Append(nil), '\n'))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			line, err := pipe.out.Next()
			if err != nil {
				return
			}
			p.take([]byte(string(line)))
		}
	}()
	t.Cleanup(func() { pipe.in.Close(); <-done })
	p.begin()
	return p
}

// overHTTP connects over Streamable HTTP.
func overHTTP(t *testing.T, b *world, s *Server, revision string) *speaker {
	p := newSpeaker(t, revision)
	h := httptest.NewServer(s.Handler())
	tr := &http.Transport{}
	t.Cleanup(func() { tr.CloseIdleConnections(); h.Close() })
	w := &web{t: t, url: h.URL, client: &http.Client{Transport: tr}}
	w.session, w.token = b.mint("tester")
	var streams sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); streams.Wait() })
	exchange := func(ctx context.Context, method, body string, header map[string]string) {
		r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+w.token)
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		res, err := w.client.Do(r)
		if err != nil {
			return // cancelled
		}
		defer res.Body.Close()
		if id := res.Header.Get(headerSession); id != "" {
			p.mu.Lock()
			w.link = id
			p.mu.Unlock()
		}
		p.readBody(ctx, res)
	}
	p.send = func(c context.Context, m rpc.Message, name string) {
		streams.Add(1)
		defer streams.Done()
		both, end := context.WithCancel(c)
		defer end()
		defer context.AfterFunc(ctx, end)()
		exchange(both, http.MethodPost, string(m.Append(nil)), p.headers(w, m, name))
	}
	p.begin()
	if !p.modern() {
		streams.Add(1)
		go func() {
			defer streams.Done()
			exchange(ctx, http.MethodGet, "", p.headers(w, rpc.Message{}, ""))
		}()
	}
	return p
}

func (p *speaker) headers(w *web, m rpc.Message, name string) map[string]string {
	h := map[string]string{}
	if p.modern() {
		h[headerVersion], h[headerMethod] = p.revision, m.Method
		if name != "" {
			h[headerName] = name
		}
		return h
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.link != "" {
		h[headerSession] = w.link
		if p.revision >= v20250618 {
			h[headerVersion] = p.revision
		}
	}
	return h
}

func (p *speaker) readBody(ctx context.Context, res *http.Response) {
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		_ = rpc.Events(ctx, bufio.NewReader(res.Body), 0, func(e rpc.Event) bool {
			if len(e.Data) > 0 {
				p.take([]byte(string(e.Data)))
			}
			return true
		})
		return
	}
	if b, _ := io.ReadAll(res.Body); len(b) > 0 {
		p.take(b)
	}
}
