package fake

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// geminiPrefix is the prefix of the paths of Google's API, before the model and the method.
const geminiPrefix = "/v1beta/models/"

// geminiPart is one part of a content.
type geminiPart struct {
	Text string `json:"text,omitempty"`
	Call *struct {
		ID   string         `json:"id,omitempty"`
		Name string         `json:"name"`
		Args jsontext.Value `json:"args,omitzero"`
	} `json:"functionCall,omitempty"`
	Response *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response jsontext.Value `json:"response"`
	} `json:"functionResponse,omitempty"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

// generate answers generateContent, streamGenerateContent and countTokens.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, geminiPrefix), ":")
	var body struct {
		Contents []geminiContent `json:"contents"`
		System   geminiContent   `json:"systemInstruction"`
		Tools    []struct {
			Functions []struct {
				Name        string         `json:"name"`
				Description string         `json:"description"`
				Schema      jsontext.Value `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
	}
	raw, err := readJSON(w, r, &body)
	if err != nil {
		failGemini(w, http.StatusBadRequest, "fake cannot read the request: "+err.Error())
		return
	}
	req := Request{Model: model, Stream: method == "streamGenerateContent", Header: r.Header.Clone(), Raw: raw}
	for _, p := range body.System.Parts {
		req.System += p.Text
	}
	for _, c := range body.Contents {
		req.Messages = append(req.Messages, c.message())
	}
	for _, t := range body.Tools {
		for _, f := range t.Functions {
			req.Tools = append(req.Tools, Tool{Name: f.Name, Description: f.Description, InputSchema: f.Schema})
		}
	}
	switch method {
	case "countTokens":
		writeJSON(w, http.StatusOK, map[string]int{"totalTokens": len(raw)/4 + 1})
		return
	case "generateContent", "streamGenerateContent":
	default:
		failGemini(w, http.StatusNotFound, "fake does not know "+r.URL.Path)
		return
	}
	req, step := s.turn(req)
	if step.Status != 0 {
		failGemini(w, step.Status, step.Text)
		return
	}
	answer, err := geminiAnswer(step)
	if err != nil {
		failGemini(w, http.StatusBadRequest, "fake: "+err.Error())
		return
	}
	if !req.Stream {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	stream(w)("", answer)
}

// message converts a content to a Message.
func (c geminiContent) message() Message {
	m := Message{Role: "user"}
	if c.Role == "model" {
		m.Role = "assistant"
	}
	for _, p := range c.Parts {
		switch {
		case p.Call != nil:
			m.Content = append(m.Content, Block{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Args})
		case p.Response != nil:
			var out struct {
				Output jsontext.Value `json:"output"`
				Error  jsontext.Value `json:"error"`
			}
			b := Block{Type: "tool_result", ToolUseID: p.Response.ID, Text: string(p.Response.Response)}
			if json.Unmarshal(p.Response.Response, &out) == nil && len(out.Output)+len(out.Error) > 0 {
				b.Text, b.IsError = textOf(out.Output)+textOf(out.Error), len(out.Error) > 0
			}
			m.Content = append(m.Content, b)
		default:
			m.Content = append(m.Content, Block{Type: "text", Text: p.Text})
		}
	}
	return m
}

func geminiAnswer(step Step) (map[string]any, error) {
	var parts []map[string]any
	if step.Text != "" {
		parts = append(parts, map[string]any{"text": step.Text})
	}
	for _, t := range step.ToolUses {
		if t.Input == nil {
			t.Input = jsontext.Value("{}")
		}
		args, err := json.Marshal(t.Input, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("the input of %s: %w", t.Name, err)
		}
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": t.Name, "args": jsontext.Value(args)}})
	}
	in, out := step.Usage.tokens()
	return map[string]any{
		"candidates":    []map[string]any{{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": map[string]int{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out},
	}, nil
}

func failGemini(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{"code": status, "status": "INVALID_ARGUMENT",
		"message": strings.ToValidUTF8(message, "?")}})
}
