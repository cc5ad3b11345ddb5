package model

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"mycelium/internal/model/fake"
)

// hello is a request with one message and one tool.
func hello() Request {
	return Request{Model: Resolve("sonnet"), System: "Be good.", Messages: []Message{{Role: "user", Content: []Block{{Type: "text",
		Text: "hi"}}}},
		Tools: []Tool{{Name: "a", InputSchema: jsontext.Value(`{"type":"object"}`)}, {Name: "b",
			InputSchema: jsontext.Value(`{"type":"object"}`)}}}
}

// streamed asks a scripted model once, and returns what was told.
func streamed(t *testing.T, s *fake.Server, q Request) (r Reply, told []Piece, err error) {
	t.Helper()
	c, err := New(Options{Key: "sk-test", BaseURL: s.URL(), Pause: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err = c.Stream(t.Context(), q, func(p Piece) { told = append(told, p) })
	return r, told, err
}

// What a model wrote comes back to it unchanged, thinking and its signature included, and the pieces are the whole.
func TestStreamKeepsWhatTheModelWrote(t *testing.T) {
	s := fake.New(fake.Step{Thinking: "まず読む。", Text: "I read it.", ToolUses: []fake.ToolUse{
		{Name: "a", Input: map[string]any{"path": "メモ.txt"}}, {Name: "b"}}, Usage: fake.Usage{Input: 100, Output: 20, CacheRead: 50,
		CacheWrite: 7}},
		fake.Step{Text: "done"})
	defer s.Close()
	r, told, err := streamed(t, s, hello())
	if err != nil || r.Stop != "tool_use" || r.Usage != (Usage{Input: 100, Output: 20, CacheRead: 50, CacheWrite: 7}) || r.Cost <= 0 {
		t.Fatalf("%+v %v", r, err)
	}
	var text, thinking strings.Builder
	for _, p := range told {
		text.WriteString(p.Text)
		thinking.WriteString(p.Thinking)
	}
	if text.String() != "I read it." || thinking.String() != "まず読む。" {
		t.Errorf("told %q and %q", text.String(), thinking.String())
	}
	q := hello()
	q.Messages = append(q.Messages, r.Message, Message{Role: "user", Content: []Block{
		{Type: "tool_result", ToolUseID: r.Message.Content[2].ID, Content: []Block{{Type: "text", Text: "牛乳"}}},
		{Type: "tool_result", ToolUseID: r.Message.Content[3].ID, IsError: true, Content: []Block{{Type: "text", Text: "no"}}}}})
	if r, _, err := streamed(t, s, q); err != nil || r.Stop != "end_turn" {
		t.Fatalf("%+v %v", r, err)
	}
	second := s.Turns()[1]
	for _, want := range []string{`{"type":"thinking","thinking":"まず読む。","signature":"c2lnbmF0dXJl"}`, `"input":{"path":"メモ.txt"}`,
		`"thinking":{"type":"adaptive"`, `"max_tokens":16384`, `"name":"b","input":{}`} {
		if !strings.Contains(string(second.Raw), want) {
			t.Errorf("the second question lacks %s:\n%s", want, second.Raw)
		}
	}
	if n := strings.Count(string(second.Raw), "cache_control"); n != 3 {
		t.Errorf("%d marks for the cache, want those of tools, system and conversation", n)
	}
	if got := second.ToolResults(); len(got) != 2 || got[0].Text != "牛乳" || !got[1].IsError {
		t.Errorf("results %+v", got)
	}
}

// A busy API is asked again before anything came, and each pause is told; a refusal of the request is not.
func TestStreamIsAskedAgain(t *testing.T) {
	asked := 0
	busy := func(fake.Request) fake.Step {
		if asked++; asked < 3 {
			return fake.Step{Status: 529, Text: "Overloaded"}
		}
		return fake.Step{Text: "at last"}
	}
	s := fake.New(fake.Step{Func: busy})
	defer s.Close()
	r, told, err := streamed(t, s, hello())
	if err != nil || len(r.Message.Content) != 1 || told[0].Retry == nil || told[1].Retry == nil || told[2].Retry != nil {
		t.Fatalf("%+v %+v %v", r, told, err)
	}
	for status, want := range map[int]Kind{529: Overloaded, 400: Rejected, 401: Rejected, 413: TooLong} {
		asked = 0
		s := fake.New(fake.Step{Func: func(fake.Request) fake.Step { asked++; return fake.Step{Status: status, Text: "no"} }})
		_, _, err := streamed(t, s, hello())
		s.Close()
		var e *Error
		times := 1
		if want == Overloaded {
			times = 1 + streamRetries
		}
		if !errors.As(err, &e) || e.Kind != want || asked != times {
			t.Errorf("%d: %v, asked %d times, want %s and %d", status, err, asked, want, times)
		}
	}
}

// Of a stream that breaks in the middle the text is kept, and a call that is not whole is not.
func TestStreamThatBreaks(t *testing.T) {
	s := fake.New(fake.Step{Text: "I was about to say something long.", Cut: true})
	defer s.Close()
	r, _, err := streamed(t, s, hello())
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unreachable || len(r.Message.Content) != 1 || !strings.HasPrefix(r.Message.Content[0].Text,
		"I was about") {
		t.Errorf("%+v %v", r, err)
	}
	s = fake.New(fake.Step{Text: "Now.", ToolUses: []fake.ToolUse{{Name: "a", Input: map[string]any{"path": strings.Repeat("x", 100)}}},
		Cut: true})
	defer s.Close()
	if r, _, err := streamed(t, s, hello()); err == nil || len(r.Message.Content) != 1 || r.Message.Content[0].Type != "text" {
		t.Errorf("a call that is not whole: %+v %v", r, err)
	}
}

func TestStreamOfWrongInput(t *testing.T) {
	for _, wrong := range []string{`{"path": "a`, `[1]`, `"x"`, `{"a":1}{"b":2}`, `{"a":1,"a":2}`} {
		s := fake.New(fake.Step{ToolUses: []fake.ToolUse{{Name: "a", Wrong: wrong}}})
		r, _, err := streamed(t, s, hello())
		s.Close()
		if err != nil || r.Message.Content[0].Malformed != wrong || string(r.Message.Content[0].Input) != "{}" {
			t.Errorf("%s: %+v %v", wrong, r, err)
		}
	}
}

func TestStreamEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := fake.New(fake.Step{Func: func(fake.Request) fake.Step { cancel(); return fake.Step{Status: http.StatusTooManyRequests} }})
	defer s.Close()
	c, err := New(Options{Key: "k", BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Stream(ctx, hello(), func(Piece) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Every name has the form of the API, names never collide, and one that has the form stays.
func TestToolName(t *testing.T) {
	form := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	rapid.Check(t, func(t *rapid.T) {
		taken := map[string]string{}
		for _, name := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-z.]{1,4}__[A-Za-z0-9_.-]{0,3}|[a-z]{120,140}`),
			func(s string) string { return s }).Draw(t, "names") {
			got := ToolName(name, func(s string) bool { return taken[s] != "" })
			if !form.MatchString(got) || taken[got] != "" {
				t.Fatalf("%s → %s, which is taken by %q", name, got, taken[got])
			}
			taken[got] = name
		}
	})
	if got := ToolName("files__read_file", func(string) bool { return false }); got != "files__read_file" {
		t.Errorf("a good name became %s", got)
	}
}

func TestToolSchema(t *testing.T) {
	for schema, stays := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`: true, `{"type":"object"}`: true,
		``: false, `true`: false, `{"type":"string"}`: false, `{"oneOf":[]}`: false, `{"type":"object","anyOf":[{}]}`: false, `{}`: false,
		`{"type":"object","properties":[]}`: false, `{"type":["object","null"]}`: false, `{`: false,
	} {
		want := `{"type":"object"}`
		if stays {
			want = schema
		}
		if got := string(ToolSchema([]byte(schema))); got != want {
			t.Errorf("%s → %s", schema, got)
		}
	}
}

func TestResolve(t *testing.T) {
	for name, want := range map[string]string{"opus": "claude-opus-5-5", "Sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5",
		"":                "claude-sonnet-5-5",
		"claude-opus-4-8": "claude-opus-4-8", "gpt": "gpt"} {
		if got := Resolve(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func FuzzToolSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object"}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		var v map[string]any
		if err := json.Unmarshal(ToolSchema(schema), &v); err != nil || v["type"] != "object" {
			t.Fatalf("%s: %v", schema, err)
		}
	})
}
