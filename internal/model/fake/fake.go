// Package fake is a scripted server for the model APIs that agents use, so that real agents can be tested without a model: Anthropic's
// Messages, OpenAI's Responses and Google's generateContent, at one address, with one script.
//
// A script is a list of steps. The number of assistant messages in a request selects the step that answers it, so a conversation can be
// repeated, resumed or run several times in parallel. Requests without tools are side calls of an agent (titles, topics, summaries). They
// get a short text and use no step.
package fake

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Key is the API key to give to agents. It is not a real key.
const Key = "sk-dummy-test-0123456789abcdef"

// maxBody bounds one request, in bytes; the real API accepts 32 MB.
const maxBody = 64 << 20

// Step is one answer of the script.
type Step struct {
	Text     string    // a text block; may be empty
	Thinking string    // a thinking block before all others; may be empty
	ToolUses []ToolUse // follow the text
	Stop     string    // stop reason; empty: tool_use with tool uses, else end_turn
	Usage    Usage
	Status   int                // HTTP status, with Text as the error message; 0: 200
	Header   map[string]string  // of the answer, such as those of a limit
	Cut      bool               // a stream ends in the middle of the last block, and with it the connection
	Func     func(Request) Step // returns the step for the request; the other fields are then ignored
}

// ToolUse is a use of a tool by the model.
type ToolUse struct {
	ID    string // empty: made from the numbers of step and block
	Name  string
	Input any    // marshalled; nil: {}. A jsontext.Value is sent unchanged
	Wrong string // is streamed in the place of the input: text that need not be JSON
}

// Usage is the usage that the answer reports, in tokens. Zero fields are sent as 10 in and 5 out.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
}

// Server is the scripted server. It listens on loopback from New until Close, and is an http.Handler.
type Server struct {
	// Main reports whether a request belongs to the conversation. It must be set before the first request. By default, requests with
	// tools do; an agent without any tool needs another function.
	Main func(Request) bool

	steps  []Step
	url    string
	server *http.Server
	done   chan struct{}

	mu       sync.Mutex
	requests []Request
}

// New starts a server with a script. It panics if it cannot listen on loopback.
func New(steps ...Step) *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("fake: " + err.Error())
	}
	s := &Server{steps: slices.Clone(steps), url: "http://" + l.Addr().String(), done: make(chan struct{})}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.server.Serve(l) // always http.ErrServerClosed
	}()
	return s
}

// Play replaces the script, for scripts that need the address and for the next conversation. A request that has begun keeps its step.
func (s *Server) Play(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = slices.Clone(steps)
}

// URL returns the address, for ANTHROPIC_BASE_URL.
func (s *Server) URL() string { return s.url }

// Close closes the server and its connections.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.done
}

// Requests returns the requests for messages in order of arrival, side calls included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Turns returns the requests that a step answered.
func (s *Server) Turns() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Side })
}

// ServeHTTP answers HEAD /, POST /v1/messages and POST /v1/messages/count_tokens; POST /v1/responses; and POST
// /v1beta/models/MODEL:streamGenerateContent, generateContent and countTokens.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodHead || (r.Method == http.MethodGet && r.URL.Path == "/"):
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		s.messages(w, r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		if req, ok := read(w, r); ok {
			writeJSON(w, http.StatusOK, map[string]int{"input_tokens": len(req.Raw)/4 + 1})
		}
	case r.Method == http.MethodPost && r.URL.Path == "/v1/responses":
		s.responses(w, r)
	case r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, geminiPrefix):
		s.generate(w, r)
	default:
		fail(w, http.StatusNotFound, "not_found_error", "fake does not know "+r.Method+" "+r.URL.Path)
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	req, ok := read(w, r)
	if !ok {
		return
	}
	req, step := s.turn(req)
	for name, value := range step.Header {
		w.Header().Set(name, value)
	}
	if step.Status != 0 {
		fail(w, step.Status, kindOf(step.Status), step.Text)
		return
	}
	a, err := newAnswer(req, step)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "fake: "+err.Error())
		return
	}
	if req.Stream {
		a.stream(w, step.Cut)
		return
	}
	writeJSON(w, http.StatusOK, a.message(a.blocks, a.stop))
}

// turn records a request and returns its answer.
func (s *Server) turn(req Request) (Request, Step) {
	main := s.Main
	if main == nil {
		main = func(r Request) bool { return len(r.Tools) > 0 }
	}
	req.Side = !main(req)
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			req.Step++
		}
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	steps := s.steps
	s.mu.Unlock()
	return req, step(req, steps)
}

// step returns the step that answers a request.
func step(req Request, steps []Step) Step {
	switch {
	case req.Side:
		return Step{Text: "ok"}
	case req.Step >= len(steps):
		return Step{Text: fmt.Sprintf("fake: the script has no step %d", req.Step)}
	}
	next := steps[req.Step]
	if next.Func != nil {
		next = next.Func(req)
	}
	return next
}

// read decodes a request. If it fails, it writes the error response.
func read(w http.ResponseWriter, r *http.Request) (Request, bool) {
	var body struct {
		Model    string         `json:"model"`
		System   jsontext.Value `json:"system"`
		Messages []struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
		Tools     []Tool `json:"tools"`
		Stream    bool   `json:"stream"`
		MaxTokens int    `json:"max_tokens"`
	}
	raw, err := readJSON(w, r, &body)
	req := Request{Model: body.Model, Tools: body.Tools, Stream: body.Stream, MaxTokens: body.MaxTokens, Header: r.Header.Clone(), Raw: raw}
	if err == nil {
		req.System, err = flatten(body.System)
	}
	for _, m := range body.Messages {
		var blocks []Block
		if blocks, err = blocksOf(m.Content); err != nil {
			break
		}
		req.Messages = append(req.Messages, Message{Role: m.Role, Content: blocks})
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "fake cannot read the request: "+err.Error())
		return Request{}, false
	}
	return req, true
}

// readJSON decodes the body of a request and returns the raw body.
func readJSON(w http.ResponseWriter, r *http.Request, into any) (raw jsontext.Value, err error) {
	if err = json.UnmarshalRead(http.MaxBytesReader(w, r.Body, maxBody), &raw); err == nil {
		err = json.Unmarshal(raw, into)
	}
	return raw, err
}

// kindOf is the type of the error of a status, as the Messages API names it.
func kindOf(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case statusOverloaded:
		return "overloaded_error"
	}
	return "api_error"
}

// statusOverloaded is the status of the Messages API while it is overloaded.
const statusOverloaded = 529

func fail(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{"type": "error",
		"error": map[string]string{"type": kind, "message": strings.ToValidUTF8(message, "?")}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v, json.Deterministic(true)) // the client may have gone
}
