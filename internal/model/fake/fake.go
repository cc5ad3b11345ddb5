// Package fake is a scripted fake of the model APIs that agents speak, so that real agents can be tested without a model:
// Anthropic's Messages, OpenAI's Responses and Google's generateContent, at one address, with one script.
//
// A script is a row of steps. The step that answers a request is the number of assistant messages in it, so a conversation may be
// repeated, resumed or run several times beside itself. Requests that carry no tools are not the conversation but an agent's side
// calls (titles, topics, summaries); they are answered with a short text and use no step.
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

// Key is the API key that agents are given. It opens nothing.
const Key = "sk-dummy-test-0123456789abcdef"

// maxBody bounds one request, in bytes; the real API takes 32 MB.
const maxBody = 64 << 20

// Step is one answer of the model.
type Step struct {
	Text     string    // a text block; empty: none
	Thinking string    // a thinking block before everything else; empty: none
	ToolUses []ToolUse // after the text
	Stop     string    // stop reason; empty: tool_use with tool uses, else end_turn
	Usage    Usage
	Status   int                // answer with this HTTP status and Text as the message of the error; 0: 200
	Func     func(Request) Step // makes the step from the request; the other fields are then ignored
}

// ToolUse is a tool that the model wants to use.
type ToolUse struct {
	ID    string // empty: one is made from step and place
	Name  string
	Input any // marshalled; nil: {}. A jsontext.Value is sent as it is
}

// Usage is what the answer says that it cost, in tokens. Zero fields are sent as 10 in and 5 out.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int
}

// Server is the fake. It listens on loopback from New until Close, and is an http.Handler besides.
type Server struct {
	// Main, when set before the first request, tells which requests belong to the conversation. By default those that carry tools do:
	// an agent that is offered no tool at all needs another answer.
	Main func(Request) bool

	steps  []Step
	url    string
	server *http.Server
	done   chan struct{}

	mu       sync.Mutex
	requests []Request
}

// New starts a fake with a script. It panics when loopback cannot be listened on: nothing can be tested then.
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

// Play replaces the script. It is for scripts that have to know the address, and comes before the first request.
func (s *Server) Play(steps ...Step) { s.steps = slices.Clone(steps) }

// URL is the address of the fake: what ANTHROPIC_BASE_URL wants.
func (s *Server) URL() string { return s.url }

// Close ends the fake and its connections.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.done
}

// Requests are the requests for messages so far, in the order of their arrival, side calls included.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Turns are the requests of the conversation: those that were answered by a step.
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
	if step.Status != 0 {
		fail(w, step.Status, "api_error", step.Text)
		return
	}
	a, err := newAnswer(req, step)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "fake: "+err.Error())
		return
	}
	if req.Stream {
		a.stream(w)
		return
	}
	writeJSON(w, http.StatusOK, a.message(a.blocks, a.stop))
}

// turn notes a request, and finds what answers it.
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
	s.mu.Unlock()
	return req, s.step(req)
}

// step is what answers a request.
func (s *Server) step(req Request) Step {
	switch {
	case req.Side:
		return Step{Text: "ok"}
	case req.Step >= len(s.steps):
		return Step{Text: fmt.Sprintf("fake: the script has no step %d", req.Step)}
	}
	step := s.steps[req.Step]
	if step.Func != nil {
		step = step.Func(req)
	}
	return step
}

// read decodes a request; where it cannot, it has answered.
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

// readJSON reads the body of a request, and keeps it as it came.
func readJSON(w http.ResponseWriter, r *http.Request, into any) (raw jsontext.Value, err error) {
	if err = json.UnmarshalRead(http.MaxBytesReader(w, r.Body, maxBody), &raw); err == nil {
		err = json.Unmarshal(raw, into)
	}
	return raw, err
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": strings.ToValidUTF8(message, "?")}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v, json.Deterministic(true)) // the client may be gone
}
