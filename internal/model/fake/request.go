package fake

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request is one request for a message, with the members that tests use.
type Request struct {
	Model     string
	System    string // text of the system prompt, blocks joined by newlines
	Messages  []Message
	Tools     []Tool
	Stream    bool
	MaxTokens int
	Step      int  // number of assistant messages, which selects the step
	Side      bool // a side call (see Server.Main)
	Header    http.Header
	Raw       []byte // the whole body
}

// Tool is a tool that the agent offers to the model.
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
}

// Message is one message of the conversation.
type Message struct {
	Role    string
	Content []Block
}

// Block is one block of a message.
type Block struct {
	Type      string         // text, tool_use, tool_result …
	Text      string         // of a text block; of a tool_result, the text of its content
	ID        string         // of a tool_use
	Name      string         // of a tool_use
	Input     jsontext.Value // of a tool_use
	ToolUseID string         // of a tool_result
	IsError   bool           // of a tool_result
}

// ToolNames returns the names of the offered tools, in order.
func (r Request) ToolNames() []string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	return names
}

// ToolResults returns the tool results that came since the model last spoke. They need not be in the last message: an agent may send a
// reminder in a message of its own behind them.
func (r Request) ToolResults() (out []Block) {
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			out = nil
		}
		for _, b := range m.Content {
			if b.Type == "tool_result" {
				out = append(out, b)
			}
		}
	}
	return out
}

// Text returns the text of all messages of one role, joined by newlines.
func (r Request) Text(role string) string {
	var out []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if m.Role == role && b.Text != "" {
				out = append(out, b.Text)
			}
		}
	}
	return strings.Join(out, "\n")
}

// block is a content block in its JSON form, of a request or an answer.
type block struct {
	Type      string         `json:"type"`
	Text      *string        `json:"text,omitzero"`
	Thinking  *string        `json:"thinking,omitzero"`
	Signature *string        `json:"signature,omitzero"`
	ID        string         `json:"id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"tool_use_id,omitempty"`
	Content   jsontext.Value `json:"content,omitzero"`
	IsError   bool           `json:"is_error,omitzero"`

	wrong string // streamed in the place of Input
}

// blocksOf decodes content, which is a string or an array of blocks.
func blocksOf(raw jsontext.Value) ([]Block, error) {
	if raw.Kind() == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return []Block{{Type: "text", Text: s}}, err
	}
	var wire []block
	if err := json.Unmarshal(raw, &wire); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	out := make([]Block, len(wire))
	for i, b := range wire {
		out[i] = Block{Type: b.Type, ID: b.ID, Name: b.Name, Input: b.Input, ToolUseID: b.ToolUseID, IsError: b.IsError}
		if b.Text != nil {
			out[i].Text = *b.Text
		}
		if b.Type == "tool_result" {
			text, err := flatten(b.Content)
			if err != nil {
				return nil, err
			}
			out[i].Text = text
		}
	}
	return out, nil
}

// flatten returns the text of content, or "".
func flatten(raw jsontext.Value) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	blocks, err := blocksOf(raw)
	if err != nil {
		return "", err
	}
	var out []string
	for _, b := range blocks {
		if b.Type == "text" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n"), nil
}
