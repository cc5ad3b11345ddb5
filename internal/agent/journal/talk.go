package journal

import (
	"strings"
	"time"

	"mycelium/internal/model"
	"mycelium/internal/transcript"
)

// The texts that stand for what did not happen, or of which it is not known whether it did.
const (
	NotRun  = "This call was not run: the conversation ended before it began."
	Unknown = "It is not known whether this call ran: the program was ended before it knew the outcome. Look at what is there before you " +
		"repeat it."
	GoOn  = "(Your answer was cut off here. Go on exactly where it stopped, and do not repeat what is there.)"
	lost  = "(The answer was cut off before its first word.)"
	after = "This conversation was too long for you and was shortened. The summary of what is left out:\n\n"
)

// Talk is a conversation, as its lines tell it.
type Talk struct {
	Head
	AgentID string // by which an agent of another program knows the conversation; "": none does
	// Shown is what people see of it.
	Shown []transcript.Message
	Usage model.Usage
	Cost  float64 // USD

	messages []model.Message // for the model
	uses     []model.Block   // calls of the last answer
	begun    map[string]bool // those of them that were called
	ended    map[string]model.Block
	where    map[string]place // the shown calls by id
	text     strings.Builder  // of an answer that is not whole
	coming   bool             // the last shown message is an answer that is not whole
	torn     bool             // the last line has no end
}

// place is where a call is shown.
type place struct{ message, call int }

func newTalk() *Talk { return &Talk{where: map[string]place{}} }

// Messages is the conversation as the model gets it. Each call of a tool has an outcome: one that was never begun, and one whose outcome is
// not known, say so.
func (t *Talk) Messages() []model.Message {
	t.settle()
	return append([]model.Message{}, t.messages...)
}

// take takes a line into the conversation.
func (t *Talk) take(l Line) {
	if l.Usage != nil {
		t.Usage = t.Usage.Plus(*l.Usage)
	}
	t.Cost += l.Cost
	switch l.Kind {
	case Begin:
		if l.Head != nil && t.ID == "" {
			t.Head = *l.Head
		}
	case Said:
		t.settle()
		t.user(l.Blocks)
		if l.Text != "" {
			t.show(transcript.Message{Role: "user", Content: l.Text, Time: l.Time})
		}
	case Text:
		t.text.WriteString(l.Text)
		t.showPiece(l.Time).Content += l.Text
	case Thinking:
		t.showPiece(l.Time).Thinking += l.Text
	case Cut:
		t.settle()
		t.user([]model.Block{{Type: "text", Text: GoOn}})
	case Answer:
		t.answer(l)
	case Called:
		t.call(l)
	case Outcome:
		t.outcome(l)
	case Summary:
		t.summary(l)
	case Spent: // its cost is counted above
	case Agent:
		t.AgentID = l.ID
	}
}

// user adds blocks to what the model reads next.
func (t *Talk) user(blocks []model.Block) {
	if len(blocks) == 0 {
		return
	}
	if n := len(t.messages); n > 0 && t.messages[n-1].Role == "user" {
		t.messages[n-1].Content = append(t.messages[n-1].Content[:len(t.messages[n-1].Content):len(t.messages[n-1].Content)], blocks...)
		return
	}
	t.messages = append(t.messages, model.Message{Role: "user", Content: blocks})
}

func (t *Talk) show(m transcript.Message) { t.Shown = append(t.Shown, m) }

// showPiece is the message to which the pieces of an answer go.
func (t *Talk) showPiece(at time.Time) *transcript.Message {
	if !t.coming {
		t.show(transcript.Message{Role: "assistant", Time: at})
		t.coming = true
	}
	return &t.Shown[len(t.Shown)-1]
}

// answer takes a whole answer.
func (t *Talk) answer(l Line) {
	m := t.showPiece(l.Time)
	t.text.Reset() // its pieces are in the answer again
	t.settle()
	m.Content, m.Thinking, t.coming = "", "", false
	t.uses, t.begun, t.ended = nil, map[string]bool{}, map[string]model.Block{}
	for _, b := range l.Blocks {
		switch b.Type {
		case "text":
			m.Content += b.Text
		case "thinking":
			if b.Thinking != nil {
				m.Thinking += *b.Thinking
			}
		case "tool_use":
			t.uses = append(t.uses, b)
		}
	}
	if l.Model != "" {
		t.Model = l.Model
	}
	content := l.Blocks
	if len(content) == 0 {
		content = []model.Block{{Type: "text", Text: lost}}
	}
	t.messages = append(t.messages, model.Message{Role: "assistant", Content: content})
}

// call takes the beginning of a call.
func (t *Talk) call(l Line) {
	if t.begun != nil {
		t.begun[l.ID] = true
	}
	if n := len(t.Shown); n == 0 || t.Shown[n-1].Role != "assistant" {
		t.show(transcript.Message{Role: "assistant", Time: l.Time})
	}
	m := &t.Shown[len(t.Shown)-1]
	m.Calls = append(m.Calls, transcript.Call{Name: l.Tool, Input: l.Args, Output: Unknown, Failed: true})
	t.where[l.ID] = place{len(t.Shown) - 1, len(m.Calls) - 1}
}

// outcome takes the end of a call.
func (t *Talk) outcome(l Line) {
	if t.ended != nil {
		t.ended[l.ID] = model.Block{Type: "tool_result", ToolUseID: l.ID, Content: l.Blocks, IsError: l.Failed}
	}
	if p, ok := t.where[l.ID]; ok {
		c := &t.Shown[p.message].Calls[p.call]
		c.Output, c.Failed = l.Text, l.Failed
	}
}

// settle ends what is open: the calls of the last answer, and the text of a later one that broke off.
func (t *Talk) settle() {
	var results []model.Block
	for _, use := range t.uses {
		result, ok := t.ended[use.ID]
		if !ok {
			why := NotRun
			if t.begun[use.ID] {
				why = Unknown
			}
			result = model.Block{Type: "tool_result", ToolUseID: use.ID, IsError: true, Content: []model.Block{{Type: "text", Text: why}}}
		}
		results = append(results, result)
	}
	t.uses = nil
	t.user(results)
	if t.text.Len() > 0 {
		t.messages = append(t.messages, model.Message{Role: "assistant", Content: []model.Block{{Type: "text", Text: t.text.String()}}})
	}
	t.text.Reset()
	t.coming = false
}

// summary puts a summary in the place of all but the last messages.
func (t *Talk) summary(l Line) {
	t.settle()
	kept := t.messages[len(t.messages)-min(max(l.Keep, 0), len(t.messages)):]
	t.messages = nil
	t.user([]model.Block{{Type: "text", Text: after + l.Text}})
	for _, m := range kept {
		if m.Role == "user" {
			t.user(m.Content)
			continue
		}
		t.messages = append(t.messages, m)
	}
}
