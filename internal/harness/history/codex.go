package history

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// codexLine is a line of a rollout of Codex (0.169.0).
type codexLine struct {
	Timestamp time.Time      `json:"timestamp"`
	Type      string         `json:"type"`
	Payload   jsontext.Value `json:"payload"`
}

// codexItem is a payload, with the members that are used here.
type codexItem struct {
	Type      string         `json:"type"`
	ID        string         `json:"id"`
	Dir       string         `json:"cwd"`
	Model     string         `json:"model"`
	Message   string         `json:"message"`
	Role      string         `json:"role"`
	Content   jsontext.Value `json:"content"`
	Summary   jsontext.Value `json:"summary"`
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // JSON in a string
	Input     jsontext.Value `json:"input"`     // of a custom tool: text
	Action    jsontext.Value `json:"action"`    // of a local shell call and of a search
	Call      string         `json:"call_id"`
	Output    jsontext.Value `json:"output"`
	Passed    struct {
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`
}

// codex takes a line of Codex. event_msg lines repeat for the screen what response_item lines say.
func (b *builder) codex(line []byte) error {
	var l codexLine
	if err := decode(line, &l); err != nil {
		return err
	}
	switch l.Type {
	case "session_meta", "turn_context", "response_item", "compacted":
	default:
		return nil
	}
	var p codexItem
	if err := decode(l.Payload, &p); err != nil {
		return err
	}
	switch l.Type {
	case "session_meta":
		if b.c.ID == "" { // the lines of a forked conversation begin with its own
			b.c.ID, b.c.Dir, b.c.Started = p.ID, p.Dir, l.Timestamp
		}
	case "turn_context":
		if p.Model != "" {
			b.c.Model = p.Model
		}
	case "compacted":
		if m := b.add("system", l.Timestamp); m != nil {
			m.Text = p.Message
		}
	default:
		b.codexItem(&p, l.Timestamp)
	}
	return nil
}

func (b *builder) codexItem(p *codexItem, at time.Time) {
	switch p.Type {
	case "message":
		said := textOf(p.Content)
		switch {
		case p.Role == "assistant":
			if m := b.answerOf("", at); m != nil {
				join(&m.Text, said)
			}
		case p.Role == "user" && !p.ofHarness(said):
			if m := b.add("user", at); m != nil {
				m.Text = said
			}
		}
	case "reasoning":
		if m := b.answerOf("", at); m != nil {
			join(&m.Thinking, textOf(p.Summary))
			join(&m.Thinking, textOf(p.Content))
		}
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call":
		name := p.Name
		if name == "" {
			name = strings.TrimSuffix(p.Type, "_call")
		}
		b.call(b.answerOf("", at), Call{ID: p.Call, Name: name, Input: p.input()})
	case "function_call_output", "custom_tool_call_output":
		output, failed := outputOf(p.Output)
		b.answer(p.Call, output, failed)
	}
}

// input returns the arguments of a call as JSON.
func (p *codexItem) input() jsontext.Value {
	for _, v := range []jsontext.Value{p.Arguments, p.Input, p.Action} {
		if len(v) == 0 {
			continue
		}
		if inner := jsontext.Value(stringOf(v)); len(inner) > 0 && inner.IsValid() {
			return inner
		}
		return v
	}
	return nil
}

// ofHarness reports whether a message in the name of the user is Codex's own. Codex marks them since 0.169; before, they began with a tag.
func (p *codexItem) ofHarness(said string) bool {
	for _, kind := range p.Passed.Kinds {
		if strings.HasPrefix(kind, "user.") {
			return false
		}
	}
	for _, tag := range []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>",
		"# AGENTS.md instructions for "} {
		if strings.HasPrefix(strings.TrimSpace(said), tag) {
			return true
		}
	}
	return len(p.Passed.Kinds) > 0
}

// outputOf returns the output of a tool, and whether it failed. It is a text, a list of blocks, or (before 0.100) an object in a text.
func outputOf(v jsontext.Value) (output string, failed bool) {
	raw := v
	if inner := jsontext.Value(stringOf(v)); len(inner) > 0 && inner.Kind() == '{' && inner.IsValid() {
		raw = inner
	}
	if raw.Kind() == '{' {
		var o struct {
			Output   string         `json:"output"`
			Content  jsontext.Value `json:"content"`
			Success  *bool          `json:"success"`
			Metadata struct {
				ExitCode int `json:"exit_code"`
			} `json:"metadata"`
		}
		if rawjson.Decode(raw, &o) == nil && (o.Output != "" || len(o.Content) > 0) {
			join(&o.Output, textOf(o.Content))
			return o.Output, o.Success != nil && !*o.Success || o.Metadata.ExitCode != 0
		}
	}
	output = textOf(v)
	head, said, ok := strings.Cut(output, "\nOutput:\n") // 0.169 tells of the process first
	if !ok {
		return output, false
	}
	for line := range strings.Lines(head) {
		if code, ok := strings.CutPrefix(strings.TrimSpace(line), "Process exited with code "); ok {
			return said, code != "0"
		}
	}
	return output, false
}
