package fake

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post sends a body and returns status and answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	// A client of its own, so that no idle connection outlives the test.
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

const conversation = `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"役"},{"type":"text","text":"two"}],%s
"tools":[{"name":"mcp__mycelium__files__read_file","description":"d","input_schema":{"type":"object"}}],
"messages":[{"role":"user","content":"hi"}%s]}`

const turn = `,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"x":1}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image",` +
	`"source":{}}]},{"type":"tool_result","tool_use_id":"b","content":"plain"}]}`

func TestStepIsTheNumberOfAssistantMessages(t *testing.T) {
	s := New(Step{Text: "zero"}, Step{Func: func(r Request) Step { return Step{Text: "one after " + r.ToolResults()[0].Text} }},
		Step{Status: 529, Text: "Overloaded"})
	defer s.Close()
	for i, want := range []string{`"text":"zero"`, `"text":"one after no"`, `"Overloaded"`, `the script has no step 3`} {
		_, got := post(t, s.URL()+"/v1/messages?beta=true", fmt.Sprintf(conversation, "", strings.Repeat(turn, i)))
		if !strings.Contains(got, want) {
			t.Errorf("step %d: %s, want %s", i, got, want)
		}
		// A side call between two turns changes nothing.
		if _, got := post(t, s.URL()+"/v1/messages",
			`{"model":"haiku","messages":[{"role":"user","content":"a title?"}]}`); !strings.Contains(got, `"text":"ok"`) {
			t.Errorf("side call: %s", got)
		}
	}
	turns := s.Turns()
	if len(turns) != 4 || len(s.Requests()) != 8 {
		t.Fatalf("%d turns of %d requests", len(turns), len(s.Requests()))
	}
	r := turns[1]
	if r.System != "役\ntwo" || r.Model != "m" || r.MaxTokens != 9 || r.Text("user") != "hi\nno\nplain" ||
		!slices.Equal(r.ToolNames(), []string{"mcp__mycelium__files__read_file"}) {
		t.Errorf("decoded: %+v", r)
	}
	want := []Block{{Type: "tool_result", ToolUseID: "a", Text: "no", IsError: true}, {Type: "tool_result", ToolUseID: "b", Text: "plain"}}
	if d := cmp.Diff(want, r.ToolResults()); d != "" {
		t.Error(d)
	}
	r.Messages = append(r.Messages, Message{Role: "system", Content: []Block{{Type: "text", Text: "the date"}}})
	if d := cmp.Diff(want, r.ToolResults()); d != "" {
		t.Errorf("with a reminder behind the results: %s", d)
	}
	if b := r.Messages[1].Content[0]; b.Name != "Bash" || string(b.Input) != `{"x":1}` {
		t.Errorf("tool use: %+v", b)
	}
	if status, _ := post(t, s.URL()+"/v1/messages", fmt.Sprintf(conversation, "", turn+turn)); status != 529 {
		t.Errorf("status %d", status)
	}
}

// A client that puts the pieces of a stream together gets exactly the message that is sent without streaming.
func TestStreamAndMessageAreTheSame(t *testing.T) {
	long := strings.Repeat("長い文章です。", 300)
	s := New(Step{Thinking: "考える", Text: long,
		ToolUses: []ToolUse{{Name: "Write", Input: map[string]any{"content": long}}, {ID: "own", Name: "Read"},
			{Name: "Raw", Input: jsontext.Value(`{"n":1e3}`)}}, Usage: Usage{Input: 7, Output: 8, CacheRead: 9}})
	defer s.Close()
	_, plain := post(t, s.URL()+"/v1/messages", fmt.Sprintf(conversation, "", ""))
	_, sse := post(t, s.URL()+"/v1/messages?beta=true", fmt.Sprintf(conversation, `"stream":true,`, ""))
	var want map[string]any
	if err := json.Unmarshal([]byte(plain), &want); err != nil {
		t.Fatal(err)
	}
	got, events := assemble(t, sse)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if want["stop_reason"] != "tool_use" || len(want["content"].([]any)) != 5 {
		t.Errorf("message: %v", want)
	}
	if events[0] != "message_start" || events[len(events)-2] != "message_delta" || events[len(events)-1] != "message_stop" ||
		len(events) < 30 {
		t.Errorf("events: %v", events)
	}
}

// assemble is what a client does with a stream.
func assemble(t *testing.T, sse string) (msg map[string]any, events []string) {
	t.Helper()
	partial := map[int]string{}
	for part := range strings.SplitSeq(strings.TrimSpace(sse), "\n\n") {
		name, data, ok := strings.Cut(part, "\ndata: ")
		var e struct {
			Type    string         `json:"type"`
			Index   int            `json:"index"`
			Message map[string]any `json:"message"`
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any `json:"delta"`
			Usage   map[string]any `json:"usage"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || !ok || name != "event: "+e.Type {
			t.Fatalf("event %q: %v", part, err)
		}
		events = append(events, e.Type)
		switch e.Type {
		case "message_start":
			msg = e.Message
		case "content_block_start":
			msg["content"] = append(msg["content"].([]any), e.Block)
		case "content_block_delta":
			block := msg["content"].([]any)[e.Index].(map[string]any)
			for _, field := range []string{"text", "thinking", "signature"} {
				if v, ok := e.Delta[field]; ok {
					block[field] = block[field].(string) + v.(string)
				}
			}
			if v, ok := e.Delta["partial_json"]; ok {
				partial[e.Index] += v.(string)
			}
		case "content_block_stop":
			if p, ok := partial[e.Index]; ok {
				var input any
				if err := json.Unmarshal([]byte(p), &input); err != nil {
					t.Fatal(err)
				}
				msg["content"].([]any)[e.Index].(map[string]any)["input"] = input
			}
		case "message_delta":
			msg["stop_reason"], msg["stop_sequence"] = e.Delta["stop_reason"], e.Delta["stop_sequence"]
			msg["usage"].(map[string]any)["output_tokens"] = e.Usage["output_tokens"]
		}
	}
	return msg, events
}

func TestMainMayBeWithoutTools(t *testing.T) {
	s := New(Step{Text: "zero"})
	s.Main = func(r Request) bool { return strings.Contains(r.System, "You are") }
	defer s.Close()
	for system, want := range map[string]string{"You are an agent": "zero", "Make a title": "ok"} {
		if _, got := post(t, s.URL()+"/v1/messages", `{"model":"m","system":"`+system+`","messages":[]}`); !strings.Contains(got,
			`"text":"`+want+`"`) {
			t.Errorf("%s: %s", system, got)
		}
	}
	if n := len(s.Turns()); n != 1 {
		t.Errorf("%d turns", n)
	}
}

func TestOtherRequests(t *testing.T) {
	s := New()
	defer s.Close()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if resp, err := c.Head(s.URL()); err != nil || resp.StatusCode != 200 {
		t.Errorf("HEAD /: %v %v", resp, err)
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/messages/count_tokens", fmt.Sprintf(conversation, "", ""), 200, `"input_tokens":`},
		{"/v1/elsewhere", `{}`, 404, "not_found_error"},
		{"/v1/messages", `{"messages":`, 400, "cannot read"},
		{"/v1/messages", `{"messages":[{"role":"user","content":7}]}`, 400, "cannot read"},
		{"/v1/messages", `{"model":"a","model":"b"}`, 400, "duplicate"},
	} {
		if status, got := post(t, s.URL()+c.path, c.body); status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %d %s", c.path, c.body, status, got)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests were noted", n)
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(fmt.Sprintf(conversation, `"stream":true,`, turn))
	f.Add(`{"messages":[{"role":"assistant","content":[{"type":"text"}]}],"tools":[{}]}`)
	s := &Server{steps: []Step{{Text: "x", ToolUses: []ToolUse{{Name: "y"}}}}}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := http.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		w := &recorder{header: http.Header{}}
		s.ServeHTTP(w, r)
		if w.status != 200 && w.status != 400 {
			t.Errorf("status %d", w.status)
		}
		if w.header.Get("Content-Type") == "application/json" && !jsontext.Value(w.body).IsValid() {
			t.Errorf("no JSON: %s", w.body)
		}
		s.requests = nil
	})
}

type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(s int)           { r.status = s }
func (r *recorder) Write(b []byte) (int, error) { r.body = append(r.body, b...); return len(b), nil }
