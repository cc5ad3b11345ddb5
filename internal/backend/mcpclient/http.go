package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"mycelium/internal/backend/httpclient"
	"mycelium/internal/backend/oauth"
	"mycelium/internal/backend/redact"
	"mycelium/internal/rawjson"
	"mycelium/internal/rpc"
	"mycelium/internal/text"
)

// ErrSessionGone means that a server does not know our session any more. The request did not run there.
var ErrSessionGone = errors.New("the server ended the session")

// httpTransport speaks Streamable HTTP: every message is a POST, its answer a JSON body or an event stream.
type httpTransport struct {
	target *Target
	claim  func() *rpc.Claim // begins a claim of the server itself
	client *http.Client
	in     *inbox
	outbox chan rpc.Message
	ctx    context.Context // ends with the transport
	end    context.CancelFunc
	dead   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup

	mu       sync.Mutex
	endpoint *url.URL                     // where messages go; nil: to the URL; never shown to anybody
	session  string                       // Mcp-Session-Id; never shown to anybody
	version  string                       // that was agreed on; empty: none yet
	wanted   map[string][]rpc.ParamHeader // by tool
}

func newHTTP(t *Target, c *Conn) *httpTransport {
	ctx, end := context.WithCancel(context.Background())
	h := &httpTransport{
		target: t, claim: c.claim, client: httpclient.New(),
		outbox: make(chan rpc.Message, maxOutbox), ctx: ctx, end: end, dead: make(chan struct{}),
	}
	if t.Authority != nil {
		h.client.Transport = t.Authority.Transport(h.client.Transport)
	}
	h.in = &inbox{calls: c.calls, memory: c.Memory, received: &c.received, odd: c.odd, notice: c.notice, streams: true, reply: func(m rpc.Message) {
		select {
		case h.outbox <- m:
		default:
		}
	}}
	h.wg.Go(h.drain)
	return h
}

// request makes a request with the headers of the protocol and of the configuration.
func (h *httpTransport) request(ctx context.Context, method string, body []byte, rpcMethod, name string) (*http.Request, error) {
	h.mu.Lock()
	session, version, address := h.session, h.version, h.target.URL
	if h.endpoint != nil && method == http.MethodPost {
		address = h.endpoint
	}
	h.mu.Unlock()
	if rpcMethod == methodDiscover { // asks with the modern revision, whatever was agreed on
		session, version = "", ModernVersion
	}
	req, err := http.NewRequestWithContext(ctx, method, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("make request: " + h.target.Secrets.Text(err.Error()))
	}
	if version != "" {
		req.Header.Set("MCP-Protocol-Version", version)
	}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	if version == ModernVersion && rpcMethod != "" {
		req.Header.Set("Mcp-Method", rpcMethod)
		if name != "" {
			req.Header.Set("Mcp-Name", rpc.HeaderValue(name))
		}
	}
	for k, v := range h.target.Headers {
		req.Header.Set(k, v)
	}
	return req, nil
}

// do sends a request. Its errors do not show the address, which may carry secrets.
func (h *httpTransport) do(req *http.Request) (*http.Response, error) {
	res, err := h.client.Do(req) //nolint:gosec // the address is the entry's own, or one on the same host
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	var login *oauth.AuthorizationError
	if errors.As(err, &login) {
		return nil, login
	}
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", req.URL.Host, h.target.Secrets.Error(err))
	}
	return res, nil
}

func (h *httpTransport) send(p *pending, method string, params []byte) error {
	ctx, cancel := context.WithCancel(h.ctx)
	p.stop = cancel
	body := rpc.Message{ID: strconv.AppendInt(nil, p.id, 10), Method: method, Params: params}.Append(nil)
	req, err := h.request(ctx, http.MethodPost, body, method, nameOf(method, params))
	if err != nil {
		cancel()
		return err
	}
	if method == "tools/call" && h.isModern() {
		name := rawjson.TextAt(params, "name")
		h.mu.Lock()
		wanted := h.wanted[name]
		h.mu.Unlock()
		setParams(req.Header, wanted, params)
	}
	h.wg.Go(func() {
		defer cancel()
		err := h.exchange(req, p)
		if err == nil {
			err = errors.New("its answer ended before the result")
		}
		h.in.calls.failOne(p, err) // does nothing if the answer is there
	})
	return nil
}

// exchange posts one request and handles its answer.
func (h *httpTransport) exchange(req *http.Request, p *pending) error {
	res, err := h.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if res.StatusCode != http.StatusOK {
		return h.refusal(res, kind, p)
	}
	h.remember(res, p.Method)
	if kind == "text/event-stream" {
		return h.stream(req.Context(), res, p)
	}
	body, err := rpc.ReadAnswer(req.Context(), res.Body, res.ContentLength, MaxAnswer, p.Answer)
	switch {
	case errors.Is(err, rpc.ErrTooLong):
		return errTooLong
	case err != nil:
		return fmt.Errorf("read its answer: %w", err)
	case kind != "application/json":
		return text.Hinted(fmt.Errorf("its answer is of type %.60q, not JSON", kind), "is the url that of an MCP server?")
	}
	if h.in.handle(body, p); !h.in.calls.isComplete(p) {
		if _, bad := rpc.Parse(body); bad != nil {
			return &AnswerError{"its answer is not valid: " + bad.Message}
		}
	}
	return nil
}

// remember keeps the session id of the answer to initialize. Some servers name a session in their refusal of server/discover too.
func (h *httpTransport) remember(res *http.Response, method string) {
	if id := res.Header.Get("Mcp-Session-Id"); id != "" && method != methodDiscover {
		h.mu.Lock()
		if h.session == "" && h.version != ModernVersion {
			h.session = id
		}
		h.mu.Unlock()
	}
}

// refusal makes an error of an HTTP status other than 200. A JSON-RPC error in it, for this request, is the answer.
func (h *httpTransport) refusal(res *http.Response, kind string, p *pending) error {
	body, _ := rpc.ReadAll(res.Body, res.ContentLength, rpc.MaxMessage, p.Answer)
	if m, bad := rpc.Parse(body); kind == "application/json" && bad == nil && m.Error != nil {
		gone := res.StatusCode == http.StatusNotFound && h.hasSession()
		if !gone && (string(m.ID) == strconv.FormatInt(p.id, 10) || string(m.ID) == "null" || string(m.ID) == `""`) {
			h.in.calls.complete(strconv.AppendInt(nil, p.id, 10), answer{msg: rpc.Message{Error: m.Error}})
			return nil
		}
	}
	switch res.StatusCode {
	case http.StatusNotFound:
		if h.hasSession() {
			// This request did not run, and may be sent again in a new session. Other open requests may have run.
			h.in.calls.failLast(p, &notSentError{ErrSessionGone}, ErrSessionGone)
			h.fail(ErrSessionGone)
			return nil
		}
		return text.Hinted(errors.New("it answers HTTP 404 Not Found"), "check the path in the url")
	case http.StatusUnauthorized, http.StatusForbidden:
		return text.Hinted(fmt.Errorf("it answers HTTP %d %s", res.StatusCode, http.StatusText(res.StatusCode)),
			"check the entry's headers, for instance Authorization")
	}
	said := body[:min(len(body), httpclient.MaxErrorBody)]
	if len(said) == 0 {
		return &statusError{res.StatusCode}
	}
	return fmt.Errorf("%w: %s", &statusError{res.StatusCode}, redact.Excerpt([]byte(h.target.Secrets.Text(string(said)))))
}

func (h *httpTransport) hasSession() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session != ""
}

func (h *httpTransport) isModern() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version == ModernVersion
}

// cancel tells a server of the legacy revisions that nobody waits. For the modern revision the end of the POST says so.
func (h *httpTransport) cancel(p *pending, reason string) {
	if !h.isModern() {
		h.in.reply(rpc.Message{Method: "notifications/cancelled", Params: cancelParams(p.id, reason)})
	}
}

// drain posts the messages that nobody waits for.
func (h *httpTransport) drain() {
	for {
		select {
		case m := <-h.outbox:
			ctx, cancel := context.WithTimeout(h.ctx, 10*time.Second)
			_ = h.post(ctx, m)
			cancel()
		case <-h.ctx.Done():
			return
		}
	}
}

// post sends a message that has no answer.
func (h *httpTransport) post(ctx context.Context, m rpc.Message) error {
	req, err := h.request(ctx, http.MethodPost, m.Append(nil), m.Method, "")
	if err != nil {
		return err
	}
	res, err := h.do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, httpclient.MaxErrorBody)) // so that the connection is used again
	if res.StatusCode >= 300 {
		return &statusError{res.StatusCode}
	}
	return nil
}

// respond posts an answer to a request of the server. If the answer does not arrive, the server waits in vain.
func (h *httpTransport) respond(m rpc.Message) {
	ctx, cancel := context.WithTimeout(h.ctx, 10*time.Second)
	defer cancel()
	_ = h.post(ctx, m)
}

func (h *httpTransport) respondAsync(m rpc.Message) { h.in.reply(m) }

func (h *httpTransport) notify(ctx context.Context, method string, params []byte) error {
	return h.post(ctx, rpc.Message{Method: method, Params: params})
}

// setTools takes the definitions of the server's tools.
func (h *httpTransport) setTools(definitions [][]byte) {
	wanted := paramHeadersOf(definitions)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wanted = wanted
}

func (h *httpTransport) setVersion(version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.version = version
	if version == ModernVersion {
		h.session = ""
	}
}

// fail ends the transport: every call fails with err.
func (h *httpTransport) fail(err error) {
	h.once.Do(func() {
		h.in.calls.failAll(err)
		close(h.dead)
	})
}

func (h *httpTransport) done() <-chan struct{} { return h.dead }

// close ends everything here, and the session at the server if the server answers within the grace.
func (h *httpTransport) close(grace time.Duration) {
	h.fail(ErrClosed)
	h.end()
	h.wg.Wait()
	if h.hasSession() {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if req, err := h.request(ctx, http.MethodDelete, nil, "", ""); err == nil {
			if res, err := h.do(req); err == nil {
				_ = res.Body.Close()
			}
		}
	}
	h.client.CloseIdleConnections()
}
