package talks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"mycelium/internal/harness/history"
	"mycelium/internal/text"
	"mycelium/internal/transcript"
)

// maxFile bounds a file of an agent, in bytes.
const maxFile = 512 << 20

// Taken is what became of a file.
type Taken struct {
	File         string                   `json:"file"`
	Conversation *transcript.Conversation `json:"conversation,omitempty"`
	Kept         bool                     `json:"kept"`              // false: it was imported before and changed here since
	LeftOut      int                      `json:"leftOut,omitzero"`  // of its first messages, because it was too long
	Faults       int                      `json:"faults,omitzero"`   // lines that could not be read
	Skipped      []string                 `json:"skipped,omitempty"` // the first of them, and why
	Error        string                   `json:"error,omitempty"`   // nothing was taken
}

// Import takes a conversation over from a file of an agent. What is wrong with the file is in the result; the error is about the database.
func Import(ctx context.Context, b *transcript.Book, w transcript.Caller, agent, path string) (Taken, error) {
	t := Taken{File: path}
	h, err := read(agent, path)
	if err != nil {
		t.Error = err.Error()
		return t, nil //nolint:nilerr // it is in the result
	}
	t.Faults = h.Faults
	for _, s := range h.Skipped {
		t.Skipped = append(t.Skipped, fmt.Sprintf("line %d: %s", s.Line, s.Why))
	}
	t.Conversation, t.Kept, t.LeftOut, err = b.Import(ctx, w, conversationOf(h, path))
	if err != nil {
		return t, err
	}
	t.Conversation.Messages = nil
	return t, nil
}

// read reads a file of an agent.
func read(agent, path string) (*history.Conversation, error) {
	f, err := history.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return history.Read(agent, io.LimitReader(f, maxFile))
}

// conversationOf is a conversation of an agent as it is kept. Without an id of the agent's it has the name of its file.
func conversationOf(h *history.Conversation, path string) transcript.Conversation {
	c := transcript.Conversation{Agent: h.Agent, AgentID: h.ID, Dir: h.Dir, Model: h.Model}
	if c.AgentID == "" {
		c.AgentID = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	for _, m := range h.Messages {
		if c.Name == "" && m.Role == "user" {
			c.Name = text.Truncate(strings.Join(strings.Fields(m.Text), " "), 80)
		}
		k := transcript.Message{Role: m.Role, Content: m.Text, Thinking: m.Thinking, Time: m.Time}
		for _, call := range m.Calls {
			k.Calls = append(k.Calls, transcript.Call{Name: call.Name, Input: call.Input, Output: call.Output, Failed: call.Failed})
		}
		c.Messages = append(c.Messages, k)
	}
	if strings.TrimSpace(c.Name) == "" {
		c.Name = h.Agent + " " + c.AgentID
	}
	return c
}

// Parse reads what somebody wants to keep: an export as JSON, or else a text, which becomes one message of the user.
func Parse(raw []byte) (transcript.Conversation, error) {
	var e transcript.Exported
	trimmed := strings.TrimSpace(string(raw))
	if strings.HasPrefix(trimmed, "{") && json.Unmarshal(raw, &e) == nil && e.Form == transcript.Form {
		c := e.Conversation
		return transcript.Conversation{Name: c.Name, Tags: c.Tags, Dir: c.Dir, Model: c.Model, ForkOf: c.ForkOf, ForkAt: c.ForkAt,
			Messages: c.Messages}, nil
	}
	if trimmed == "" {
		return transcript.Conversation{}, errors.New("there is no text")
	}
	return transcript.Conversation{Messages: []transcript.Message{{Role: "user", Content: string(raw)}}}, nil
}
