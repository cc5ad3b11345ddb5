package fake

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// send sends a request of an agent and returns the status and the answer.
func send(t *testing.T, url, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

// sameTalk is the same talk in two dialects: a system prompt, a question, a call with its result, and what is asked next.
var sameTalk = map[string]struct{ path, body, errors string }{
	"openai": {"/v1/responses",
		`{"model":"gpt-5","instructions":"be good","stream":STREAM,"tools":[{"type":"function","name":"exec_command","parameters":{}},` +
			`{"type":"web_search"}],"input":[
		{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},{"type":"message","role":"user",` +
			`"content":[{"type":"input_text","text":"質問"}]},
		{"type":"reasoning","id":"r"},{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{\"cmd\":\"ls\"}"},` +
			`{"type":"function_call_output","call_id":"c1","output":"a file"}]}`, `{"error":{`},
	"gemini": {"/v1beta/models/gemini-x:METHOD",
		`{"systemInstruction":{"parts":[{"text":"be good"}]},"tools":[{"functionDeclarations":[{"name":"exec_command"},` +
			`{"name":"web_search"}]}],"contents":[
		{"role":"user","parts":[{"text":"rules"},{"text":"質問"}]},{"role":"model","parts":[{"functionCall":{"name":"exec_command",` +
			`"args":{"cmd":"ls"}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"exec_command","response":{"output":"a file"}}}]}]}`, `{"error":{"code"`},
}

func TestDialects(t *testing.T) {
	for name, c := range sameTalk {
		for _, stream := range []bool{false, true} {
			s := New(Step{Text: "unused"}, Step{Text: "次", ToolUses: []ToolUse{{Name: "exec_command", Input: map[string]any{"cmd": "touch x"}}}},
				Step{Status: 429, Text: "slow down"})
			method := "generateContent"
			if stream {
				method = "streamGenerateContent"
			}
			path := strings.Replace(c.path, "METHOD", method, 1)
			body := strings.Replace(c.body, "STREAM", map[bool]string{true: "true", false: "false"}[stream], 1)
			code, answer := send(t, s.URL()+path, body)
			if code != http.StatusOK || !strings.Contains(answer, "次") || !strings.Contains(answer, "touch x") ||
				strings.Contains(answer, "data: ") != stream {
				t.Errorf("%s stream=%t: %d %s", name, stream, code, answer)
			}
			if code, answer := send(t, s.URL()+path, `{"contents": 1, "input": 1}`); code != http.StatusBadRequest ||
				!strings.HasPrefix(answer, c.errors) {
				t.Errorf("%s: a bad request: %d %s", name, code, answer)
			}
			turns := s.Turns()
			s.Close()
			if len(turns) != 1 {
				t.Fatalf("%s: %d turns", name, len(turns))
			}
			r := turns[0]
			results := r.ToolResults()
			if r.Step != 1 || r.Stream != stream || r.System != "be good" || !slices.Equal(r.ToolNames(), []string{"exec_command", "web_search"}) ||
				r.Text("user") != "rules\n質問\na file" ||
				len(results) != 1 || results[0].Text != "a file" || results[0].ToolUseID != "c1" {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

func TestSideCallsAndErrorsOfDialects(t *testing.T) {
	s := New(Step{Status: 429, Text: "slow down"})
	defer s.Close()
	for path, body := range map[string]string{"/v1/responses": `{"model":"m","input":"hi"}`,
		"/v1beta/models/m:generateContent": `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`} {
		if code, answer := send(t, s.URL()+path, body); code != http.StatusOK || !strings.Contains(answer, `"ok"`) {
			t.Errorf("a side call of %s: %d %s", path, code, answer)
		}
		with := strings.Replace(body, "{", `{"tools":[{"type":"x","functionDeclarations":[{"name":"x"}]}],`, 1)
		code, answer := send(t, s.URL()+path, with)
		var e struct {
			Error struct{ Message string } `json:"error"`
		}
		if err := json.UnmarshalRead(bytes.NewReader([]byte(answer)), &e, json.MatchCaseInsensitiveNames(true)); err != nil || code != 429 ||
			e.Error.Message != "slow down" {
			t.Errorf("%s: %d %s", path, code, answer)
		}
	}
	if code, answer := send(t, s.URL()+"/v1beta/models/m:countTokens", `{}`); code != http.StatusOK ||
		!strings.Contains(answer, "totalTokens") {
		t.Errorf("%d %s", code, answer)
	}
	if code, _ := send(t, s.URL()+"/v1beta/models/m:other", `{}`); code != http.StatusNotFound {
		t.Errorf("an unknown method: %d", code)
	}
}
