package fake

import (
	"cmp"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
)

// answer is a message to the client.
type answer struct {
	id     string
	model  string
	blocks []block
	stop   string
	usage  Usage
}

// usage is the usage in its JSON form.
type usage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
}

// message is a message in its JSON form. In a stream, the stop reason is null until the end.
type message struct {
	ID           string  `json:"id"`
	Type         string  `json:"type"`
	Role         string  `json:"role"`
	Model        string  `json:"model"`
	Content      []block `json:"content"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Usage        usage   `json:"usage"`
}

func newAnswer(req Request, step Step) (answer, error) {
	a := answer{id: fmt.Sprintf("msg_test_%d", req.Step), model: req.Model, stop: step.Stop, usage: step.Usage}
	a.usage.Input, a.usage.Output = a.usage.tokens()
	if step.Thinking != "" {
		signature := "c2lnbmF0dXJl"
		a.blocks = append(a.blocks, block{Type: "thinking", Thinking: &step.Thinking, Signature: &signature})
	}
	if step.Text != "" {
		a.blocks = append(a.blocks, block{Type: "text", Text: &step.Text})
	}
	for i, t := range step.ToolUses {
		input := jsontext.Value("{}")
		if t.Input != nil {
			raw, err := json.Marshal(t.Input)
			if err != nil {
				return answer{}, fmt.Errorf("the input of %s: %w", t.Name, err)
			}
			input = raw
		}
		if t.ID == "" {
			t.ID = fmt.Sprintf("toolu_test_%d_%d", req.Step, i)
		}
		a.blocks = append(a.blocks, block{Type: "tool_use", ID: t.ID, Name: t.Name, Input: input, wrong: t.Wrong})
	}
	if a.stop == "" {
		a.stop = "end_turn"
		if len(step.ToolUses) > 0 {
			a.stop = "tool_use"
		}
	}
	return a, nil
}

// message returns the answer with the given content. Without a stop reason, it has no usage yet.
func (a answer) message(content []block, stop string) message {
	m := message{ID: a.id, Type: "message", Role: "assistant", Model: a.model, Content: content, Usage: usage{
		InputTokens: a.usage.Input, OutputTokens: 1, CacheReadInputTokens: a.usage.CacheRead, CacheCreationInputTokens: a.usage.CacheWrite}}
	if content == nil {
		m.Content = []block{}
	}
	if stop != "" {
		m.StopReason, m.Usage.OutputTokens = &stop, a.usage.Output
	}
	return m
}

// stream writes the answer as server-sent events, each text in several deltas.
func (a answer) stream(w http.ResponseWriter, cut bool) {
	send := stream(w)
	send("message_start", map[string]any{"message": a.message(nil, "")})
	send("ping", map[string]any{})
	for i, b := range a.blocks {
		empty, deltas := b.pieces()
		send("content_block_start", map[string]any{"index": i, "content_block": empty})
		if cut && i == len(a.blocks)-1 {
			deltas = deltas[:(len(deltas)+1)/2]
		}
		for _, d := range deltas {
			send("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		if cut && i == len(a.blocks)-1 {
			panic(http.ErrAbortHandler) // closes the connection
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta",
		map[string]any{"delta": map[string]any{"stop_reason": a.stop, "stop_sequence": nil},
			"usage": map[string]int{"output_tokens": a.usage.Output}})
	send("message_stop", map[string]any{})
}

// stream begins a stream of server-sent events and returns a function that sends one. The name is also the type in the event; an event
// may have none.
func stream(w http.ResponseWriter) func(event string, v map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	return func(event string, v map[string]any) {
		name := ""
		if event != "" {
			v["type"], name = event, "event: "+event+"\n"
		}
		raw, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			raw = []byte(`{"type":"error","error":{"type":"api_error","message":"fake cannot write its answer"}}`)
		}
		_, _ = fmt.Fprintf(w, "%sdata: %s\n\n", name, raw) // the client may have gone
		_ = flush.Flush()
	}
}

// tokens returns the input and output tokens of the answer.
func (u Usage) tokens() (in, out int) {
	if in, out = u.Input, u.Output; in == 0 {
		in = 10
	}
	if out == 0 {
		out = 5
	}
	return in, out
}

// pieces splits a block into its empty start block and its deltas.
func (b block) pieces() (empty map[string]any, deltas []map[string]any) {
	add := func(kind, field, value string) {
		for _, part := range chunks(value) {
			deltas = append(deltas, map[string]any{"type": kind, field: part})
		}
	}
	switch b.Type {
	case "thinking":
		add("thinking_delta", "thinking", *b.Thinking)
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": *b.Signature})
		return map[string]any{"type": b.Type, "thinking": "", "signature": ""}, deltas
	case "tool_use":
		add("input_json_delta", "partial_json", cmp.Or(b.wrong, string(b.Input)))
		return map[string]any{"type": b.Type, "id": b.ID, "name": b.Name, "input": map[string]any{}}, deltas
	default:
		add("text_delta", "text", *b.Text)
		return map[string]any{"type": b.Type, "text": ""}, deltas
	}
}

// chunks splits a text at character boundaries into at most about a hundred pieces.
func chunks(s string) []string {
	size := max(16, len(s)/100)
	var out []string
	for len(s) > size {
		piece := text.Prefix(s, size)
		out = append(out, piece)
		s = s[len(piece):]
	}
	return append(out, s)
}
