package history

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ClaudeLine is a line of a transcript of Claude Code (2.1.197), with the members that are used here.
type ClaudeLine struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Meta      bool      `json:"isMeta"`
	APIError  bool      `json:"isApiErrorMessage"` // the agent wrote this message itself: its model could not be reached
	Sidechain bool      `json:"isSidechain"`       // of a subagent
	Compacted bool      `json:"isCompactSummary"`  // what the agent wrote in the place of earlier messages
	Session   string    `json:"sessionId"`
	Dir       string    `json:"cwd"`
	Message   *struct {
		ID      string         `json:"id"`
		Role    string         `json:"role"`
		Model   string         `json:"model"`
		Content jsontext.Value `json:"content"`
		Usage   struct {
			CacheRead  int `json:"cache_read_input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// Block is one block of a message of Claude Code.
type Block struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Thinking string         `json:"thinking"`
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`

	ToolUse string         `json:"tool_use_id"` // of an answer of a tool
	Content jsontext.Value `json:"content"`
	Failed  bool           `json:"is_error"`
}

// Blocks returns the blocks of the message. A plain string is one text block.
func (l *ClaudeLine) Blocks() []Block {
	if l.Message == nil {
		return nil
	}
	content := l.Message.Content
	if content.Kind() == '"' {
		return []Block{{Type: "text", Text: stringOf(content)}}
	}
	var out []Block
	if json.Unmarshal(content, &out) != nil {
		return nil
	}
	return out
}

// claude takes a line of Claude Code. A message of the model has one line for each block, with the same id.
func (b *builder) claude(line []byte) error {
	var l ClaudeLine
	if err := decode(line, &l); err != nil {
		return err
	}
	if l.Message == nil || l.Sidechain || l.Meta || l.Type != "user" && l.Type != "assistant" {
		return nil
	}
	if b.c.ID == "" {
		b.c.ID = l.Session
	}
	if b.c.Dir == "" {
		b.c.Dir = l.Dir
	}
	if l.Type == "assistant" {
		if l.Message.Model != "<synthetic>" && l.Message.Model != "" { // synthetic messages are the agent's own
			b.c.Model = l.Message.Model
		}
		b.claudeAnswer(&l)
		return nil
	}
	said := ""
	for _, p := range l.Blocks() {
		switch p.Type {
		case "text":
			join(&said, p.Text)
		case "tool_result":
			b.answer(p.ToolUse, textOf(p.Content), p.Failed)
		case "image", "document":
			join(&said, "["+p.Type+"]")
		}
	}
	if strings.TrimSpace(said) == "" {
		return nil
	}
	role := "user"
	if l.Compacted {
		role = "system"
	}
	if m := b.add(role, l.Timestamp); m != nil {
		m.Text = said
	}
	return nil
}

func (b *builder) claudeAnswer(l *ClaudeLine) {
	m := b.answerOf(l.Message.ID, l.Timestamp)
	if m == nil {
		return
	}
	for _, p := range l.Blocks() {
		switch p.Type {
		case "text":
			join(&m.Text, p.Text)
		case "thinking":
			join(&m.Thinking, p.Thinking)
		case "tool_use", "server_tool_use", "mcp_tool_use":
			b.call(m, Call{ID: p.ID, Name: p.Name, Input: p.Input})
		}
	}
}
