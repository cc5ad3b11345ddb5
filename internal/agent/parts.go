package agent

import (
	"strings"

	"mycelium/internal/model"
	"mycelium/internal/text"
)

// Part is a part of what the model is sent with each question, and how many tokens it has, estimated.
type Part struct {
	Name   string
	Tokens int
}

// The marks of what a session is, in what a person says.
const sessionBegins, sessionEnds = "<session>\n", "\n</session>"

// parts says where the tokens of a conversation are.
func (e *API) parts(messages []model.Message) []Part {
	tools := 0
	for _, t := range e.tools {
		tools += text.Tokens(t.Name) + text.Tokens(t.Description) + text.Tokens(string(t.InputSchema))
	}
	var instructions, said, answers, thinking, calls, outcomes int
	for _, m := range messages {
		for _, b := range m.Content {
			switch {
			case b.Type == "tool_use":
				calls += text.Tokens(b.Name) + text.Tokens(string(b.Input))
			case b.Type == "tool_result":
				outcomes += tokensOf([]model.Message{{Content: []model.Block{b}}})
			case b.Thinking != nil || b.Data != "":
				thinking += tokensOf([]model.Message{{Content: []model.Block{b}}})
			case m.Role == "assistant":
				answers += text.Tokens(b.Text)
			case strings.HasPrefix(b.Text, sessionBegins):
				instructions += text.Tokens(b.Text)
			default:
				said += text.Tokens(b.Text)
			}
		}
	}
	return []Part{{"instructions", text.Tokens(system) + instructions}, {"tools", tools}, {"said", said}, {"answers", answers},
		{"thinking", thinking}, {"calls", calls}, {"outcomes", outcomes}}
}
