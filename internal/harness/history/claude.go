package history

import (
	"strings"

	"mycelium/internal/harness"
)

// claude takes a line of Claude Code. A message of the model has one line for each block, with the same id.
func (b *builder) claude(line []byte) error {
	var l harness.ClaudeLine
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

func (b *builder) claudeAnswer(l *harness.ClaudeLine) {
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
