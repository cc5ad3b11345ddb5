package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
)

// oneRevision is a server that speaks exactly one revision of the protocol. With a revision of the era with a handshake, it answers
// initialize with that revision and does not know the modern era; with a modern revision, it does not know the handshake.
type oneRevision struct {
	revision string

	mu      sync.Mutex
	tools   []string
	ended   map[string]chan struct{} // closed when the slow call of that name was cancelled
	running map[string]context.CancelFunc
	told    map[chan struct{}]bool
}

func newOneRevision(revision string) *oneRevision {
	return &oneRevision{
		revision: revision, tools: []string{"echo", "progress", "slow", "ended", "ask", "grow"},
		ended: map[string]chan struct{}{}, running: map[string]context.CancelFunc{}, told: map[chan struct{}]bool{},
	}
}

func (o *oneRevision) modern() bool { return o.revision >= v20260728 }

// channel sends notices and questions to the client of one request.
type channel struct {
	notify func(method string, params []byte)
	ask    func(ctx context.Context, method string, params []byte) (rpc.Message, error)
}

// matrixAnswer is the result of echo, with an unknown kind of content and with numbers that a float64 cannot hold.
const matrixAnswer = `"content":[{"type":"x-unknown", "n":12345678901234567890}],"structuredContent":{"n":12345678901234567890,` +
	`"f":1.50},"y":[1.0e2]`

func (o *oneRevision) serve(ctx context.Context, c channel, m rpc.Message) ([]byte, *rpc.Error) {
	switch {
	case m.Method == "initialize" && !o.modern():
		return fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"m",`+
			`"version":"1"}}`, o.revision), nil
	case m.Method == "server/discover" && o.modern():
		return fmt.Appendf(nil, `{"resultType":"complete","supportedVersions":[%q],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,`+
			`"cacheScope":"private"}`, o.revision), nil
	case m.Method == "subscriptions/listen" && o.modern():
		return o.listen(ctx, c, m), nil
	case m.Method == "tools/list":
		return o.list(), nil
	case m.Method == "tools/call":
		return o.call(ctx, c, m)
	case m.Method == "ping" && !o.modern():
		return []byte(`{}`), nil
	}
	return nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "Method not found: " + m.Method}
}

func (o *oneRevision) complete(members string) []byte {
	if o.modern() {
		members = `"resultType":"complete",` + members
	}
	return []byte("{" + members + "}")
}

func (o *oneRevision) list() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	defs := make([]string, 0, len(o.tools))
	for _, name := range o.tools {
		defs = append(defs, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
	}
	more := ""
	if o.modern() {
		more = `,"ttlMs":0,"cacheScope":"private"`
	}
	return o.complete(`"tools":[` + strings.Join(defs, ",") + `]` + more)
}

func (o *oneRevision) listen(ctx context.Context, c channel, m rpc.Message) []byte {
	meta := `"_meta":{"` + metaSubscription + `":` + string(m.ID) + `}`
	told := make(chan struct{}, 1)
	o.mu.Lock()
	o.told[told] = true
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		delete(o.told, told)
		o.mu.Unlock()
	}()
	c.notify("notifications/subscriptions/acknowledged", []byte(`{`+meta+`,"notifications":{"toolsListChanged":true}}`))
	for {
		select {
		case <-told:
			c.notify("notifications/tools/list_changed", []byte(`{`+meta+`}`))
		case <-ctx.Done():
			return o.complete(meta)
		}
	}
}

// end is the channel that closes when a slow call is cancelled.
func (o *oneRevision) end(cell string) chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended[cell] == nil {
		o.ended[cell] = make(chan struct{})
	}
	return o.ended[cell]
}

func (o *oneRevision) call(ctx context.Context, c channel, m rpc.Message) ([]byte, *rpc.Error) {
	name := rawjson.TextAt(m.Params, "name")
	cell := rawjson.TextAt(m.Params, "arguments", "cell")
	progress := func(n int) {
		token := rawjson.Path(m.Params, "_meta", "progressToken")
		c.notify("notifications/progress", fmt.Appendf(nil, `{"progressToken":%s,"progress":%d}`, token, n))
	}
	switch name {
	case "echo":
		return o.complete(matrixAnswer), nil
	case "progress":
		progress(1)
		progress(2)
	case "slow":
		progress(1)
		<-ctx.Done()
		close(o.end(cell))
	case "ended":
		select {
		case <-o.end(cell):
		case <-ctx.Done():
		}
	case "grow":
		o.grow(cell, c)
	case "ask":
		return o.ask(ctx, c, m)
	}
	return o.complete(`"content":[]`), nil
}

func (o *oneRevision) grow(name string, c channel) {
	o.mu.Lock()
	o.tools = append(o.tools, name)
	for told := range o.told {
		select {
		case told <- struct{}{}:
		default:
		}
	}
	o.mu.Unlock()
	if !o.modern() {
		c.notify("notifications/tools/list_changed", nil)
	}
}

// ask asks the client, in the manner of the revision.
func (o *oneRevision) ask(ctx context.Context, c channel, m rpc.Message) ([]byte, *rpc.Error) {
	request := rawjson.Path(m.Params, "arguments", "request")
	if o.modern() {
		answers := rawjson.Member(m.Params, "inputResponses")
		if answers == nil {
			return fmt.Appendf(nil, `{"resultType":"input_required","inputRequests":{"q":%s},"requestState":"theirs"}`, request), nil
		}
		state := rawjson.TextAt(m.Params, "requestState")
		return o.complete(`"content":[{"type":"text","text":` + string(rawjson.Quote(state+string(rawjson.Member(answers, "q")))) + `}]`), nil
	}
	method := rawjson.TextAt(request, "method")
	a, err := c.ask(ctx, method, rawjson.Member(request, "params"))
	if err != nil {
		return nil, &rpc.Error{Code: rpc.CodeInternal, Message: err.Error()}
	}
	return o.complete(`"content":[{"type":"text","text":` + string(rawjson.Quote("theirs"+string(a.Result)+string(a.Error))) + `}]`), nil
}

// begin makes the context of a request, which cancelled ends.
func (o *oneRevision) begin(ctx context.Context, id string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running[id] = cancel
	return ctx, cancel
}

func (o *oneRevision) cancelled(m rpc.Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if cancel := o.running[string(rawjson.Member(m.Params, "requestId"))]; cancel != nil {
		cancel()
	}
}

// lines serves one client over standard input and output.
func (o *oneRevision) lines() error {
	conn := &lineConn{in: os.Stdin, out: os.Stdout}
	conn.serve = func(ctx context.Context, m rpc.Message) ([]byte, *rpc.Error) {
		if m.ID == nil {
			o.cancelled(m)
			return nil, nil
		}
		ctx, cancel := o.begin(ctx, string(m.ID))
		defer cancel()
		return o.serve(ctx, channel{conn.notify, conn.ask}, m)
	}
	conn.run(context.Background())
	return nil
}

// oneRevisionHTTP serves Streamable HTTP. Every call is answered with events; the server's questions go to the stream of their call.
type oneRevisionHTTP struct {
	*oneRevision
	mu   sync.Mutex
	last int
	asks map[string]chan rpc.Message
	gets map[chan string]bool
}

func (h *oneRevisionHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		h.standing(w, r)
		return
	}
	b, _ := io.ReadAll(r.Body)
	m, bad := rpc.Parse(b)
	switch {
	case bad != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case m.IsResponse():
		h.mu.Lock()
		c := h.asks[string(m.ID)]
		delete(h.asks, string(m.ID))
		h.mu.Unlock()
		if c != nil {
			c <- m
		}
		w.WriteHeader(http.StatusAccepted)
		return
	case m.ID == nil:
		h.cancelled(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "initialize" && !h.modern() {
		w.Header().Set(headerSession, "one")
	}
	ctx, cancel := h.begin(r.Context(), string(m.ID))
	defer cancel()
	var out sync.Mutex
	begun := false
	write := func(m rpc.Message) {
		out.Lock()
		defer out.Unlock()
		if !begun {
			w.Header().Set("Content-Type", "text/event-stream")
			begun = true
		}
		_, _ = w.Write(rpc.AppendEvent(nil, rpc.Event{Event: "message", Data: m.Append(nil)}))
		_ = http.NewResponseController(w).Flush()
	}
	notify := func(method string, params []byte) {
		if method == "notifications/tools/list_changed" && !h.modern() { // belongs to no request
			h.broadcast(string(rpc.Message{Method: method}.Append(nil)))
			return
		}
		write(rpc.Message{Method: method, Params: params})
	}
	result, failed := h.serve(ctx, channel{notify, func(ctx context.Context, method string, params []byte) (rpc.Message, error) {
		return h.question(ctx, write, method, params)
	}}, m)
	answer := rpc.Message{ID: m.ID, Result: result}
	if failed != nil {
		answer.Result, answer.Error = nil, failed.Raw()
		if failed.Code == rpc.CodeMethodNotFound && !begun && h.modern() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write(answer.Append(nil))
			return
		}
	}
	write(answer)
}

func (h *oneRevisionHTTP) question(ctx context.Context, write func(rpc.Message), method string, params []byte) (rpc.Message, error) {
	c := make(chan rpc.Message, 1)
	h.mu.Lock()
	h.last++
	id := strconv.Itoa(h.last)
	h.asks[id] = c
	h.mu.Unlock()
	write(rpc.Message{ID: []byte(id), Method: method, Params: params})
	select {
	case m := <-c:
		return m, nil
	case <-ctx.Done():
		return rpc.Message{}, ctx.Err()
	}
}

func (h *oneRevisionHTTP) broadcast(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.gets {
		c <- line
	}
}

// standing serves the stream of notices that belong to no request.
func (h *oneRevisionHTTP) standing(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || h.modern() {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	c := make(chan string, 1000)
	h.mu.Lock()
	h.gets[c] = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.gets, c)
		h.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case line := <-c:
			_, _ = w.Write(rpc.AppendEvent(nil, rpc.Event{Event: "message", Data: []byte(line)}))
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}
