package fake

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// item is an input or output item of OpenAI's Responses API, with the members that tests use.
type item struct {
	Type      string         `json:"type"`
	ID        string         `json:"id,omitempty"`
	Role      string         `json:"role,omitempty"`
	Content   jsontext.Value `json:"content,omitzero"` // of a message
	CallID    string         `json:"call_id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Arguments string         `json:"arguments,omitempty"` // JSON as a string
	Input     string         `json:"input,omitempty"`     // of the call of a custom tool
	Output    jsontext.Value `json:"output,omitzero"`     // of the output of a call
	Status    string         `json:"status,omitempty"`
}

// responses answers POST /v1/responses. The items of an answer (a text, calls) form one assistant message in the Request.
func (s *Server) responses(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model        string         `json:"model"`
		Instructions string         `json:"instructions"`
		Input        jsontext.Value `json:"input"`
		Tools        []struct {
			Name        string         `json:"name"`
			Type        string         `json:"type"`
			Description string         `json:"description"`
			Parameters  jsontext.Value `json:"parameters"`
		} `json:"tools"`
		Stream    bool `json:"stream"`
		MaxTokens int  `json:"max_output_tokens"`
	}
	raw, err := readJSON(w, r, &body)
	var items []item
	if err == nil && body.Input.Kind() == '"' {
		items = []item{{Type: "message", Role: "user", Content: body.Input}}
	} else if err == nil {
		err = json.Unmarshal(body.Input, &items)
	}
	req := Request{Model: body.Model, System: body.Instructions, Stream: body.Stream, MaxTokens: body.MaxTokens, Header: r.Header.Clone(),
		Raw: raw}
	for _, i := range items {
		role, b := i.block()
		if n := len(req.Messages); n > 0 && req.Messages[n-1].Role == role {
			req.Messages[n-1].Content = append(req.Messages[n-1].Content, b)
		} else {
			req.Messages = append(req.Messages, Message{Role: role, Content: []Block{b}})
		}
	}
	if err != nil {
		failOpenAI(w, http.StatusBadRequest, "fake cannot read the request: "+err.Error())
		return
	}
	for _, t := range body.Tools {
		if t.Name == "" {
			t.Name = t.Type // a tool that the API provides
		}
		req.Tools = append(req.Tools, Tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters})
	}
	req, step := s.turn(req)
	if step.Status != 0 {
		failOpenAI(w, step.Status, step.Text)
		return
	}
	output, err := openAIItems(req, step)
	if err != nil {
		failOpenAI(w, http.StatusBadRequest, "fake: "+err.Error())
		return
	}
	sendOpenAI(w, req, step, output)
}

// block converts an item to a role and a Block.
func (i item) block() (role string, b Block) {
	switch {
	case strings.HasSuffix(i.Type, "_call_output"):
		return "user", Block{Type: "tool_result", Text: textOf(i.Output), ToolUseID: i.CallID}
	case strings.HasSuffix(i.Type, "_call"):
		input := jsontext.Value(i.Arguments)
		if !input.IsValid() {
			input, _ = json.Marshal(i.Arguments + i.Input)
		}
		return "assistant", Block{Type: "tool_use", ID: i.CallID, Name: i.Name, Input: input}
	case i.Type == "reasoning":
		return "assistant", Block{Type: "thinking"}
	case i.Role == "assistant":
		return i.Role, Block{Type: "text", Text: textOf(i.Content)}
	}
	return "user", Block{Type: "text", Text: textOf(i.Content)} // system and developer messages do not count as turns
}

// textOf returns the text of content, which is a string or a list of parts.
func textOf(raw jsontext.Value) string {
	var s string
	if raw.Kind() == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	var out []string
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

func openAIItems(req Request, step Step) ([]item, error) {
	var out []item
	if step.Text != "" {
		content, err := json.Marshal([]map[string]any{{"type": "output_text", "text": step.Text, "annotations": []any{}}},
			json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		out = append(out, item{Type: "message", ID: fmt.Sprintf("msg_test_%d", req.Step), Role: "assistant", Content: content,
			Status: "completed"})
	}
	for i, t := range step.ToolUses {
		if t.Input == nil {
			t.Input = jsontext.Value("{}")
		}
		args, err := json.Marshal(t.Input, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("the input of %s: %w", t.Name, err)
		}
		if t.ID == "" {
			t.ID = fmt.Sprintf("call_test_%d_%d", req.Step, i)
		}
		out = append(out, item{Type: "function_call", ID: fmt.Sprintf("fc_test_%d_%d", req.Step, i), CallID: t.ID, Name: t.Name,
			Arguments: string(args), Status: "completed"})
	}
	return out, nil
}

func sendOpenAI(w http.ResponseWriter, req Request, step Step, output []item) {
	in, out := step.Usage.tokens()
	whole := map[string]any{"id": fmt.Sprintf("resp_test_%d", req.Step), "object": "response", "model": req.Model, "status": "completed",
		"output": output,
		"usage": map[string]any{"input_tokens": in, "output_tokens": out, "total_tokens": in + out,
			"input_tokens_details":  map[string]int{"cached_tokens": step.Usage.CacheRead},
			"output_tokens_details": map[string]int{"reasoning_tokens": 0}}}
	if !req.Stream {
		writeJSON(w, http.StatusOK, whole)
		return
	}
	send := stream(w)
	send("response.created",
		map[string]any{"response": map[string]any{"id": whole["id"], "object": "response", "status": "in_progress", "output": []any{}}})
	for i, it := range output {
		send("response.output_item.done", map[string]any{"output_index": i, "item": it})
	}
	send("response.completed", map[string]any{"response": whole})
}

func failOpenAI(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]string{"type": "invalid_request_error",
		"message": strings.ToValidUTF8(message, "?")}})
}
