package history

import (
	"bufio"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// geminiLine is a line of a chat of Gemini CLI, or the whole of one: up to 0.2x a chat was one object with messages; since then the first
// line tells the session, a message has a line each time it changes, and $set changes the rest.
type geminiLine struct {
	Session  string           `json:"sessionId"`
	Started  time.Time        `json:"startTime"`
	Messages []jsontext.Value `json:"messages"`
	Set      *struct {
		Messages []jsontext.Value `json:"messages"`
	} `json:"$set"`
	Rewind string `json:"$rewindTo"` // the id of the first message that is taken back
	Type   string `json:"type"`
}

// geminiMessage is a message of a chat.
type geminiMessage struct {
	ID       string         `json:"id"`
	Time     time.Time      `json:"timestamp"`
	Type     string         `json:"type"`
	Content  jsontext.Value `json:"content"`
	Model    string         `json:"model"`
	Thoughts []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	} `json:"thoughts"`
	Calls []struct {
		ID      string         `json:"id"`
		Name    string         `json:"name"`
		Args    jsontext.Value `json:"args"`
		Status  string         `json:"status"`
		Display jsontext.Value `json:"resultDisplay"`
		Result  []struct {
			Response struct {
				Response struct {
					Output string `json:"output"`
					Error  string `json:"error"`
				} `json:"response"`
			} `json:"functionResponse"`
		} `json:"result"`
	} `json:"toolCalls"`
}

// chat is the state of a chat of Gemini CLI while its lines are read.
type chat struct {
	b   *builder
	all []geminiMessage
	at  map[string]int // the place of a message, by id
}

// readGemini reads a chat of Gemini CLI.
func readGemini(b *builder, r io.Reader) (*Conversation, error) {
	c := &chat{b: b, at: map[string]int{}}
	br := bufio.NewReaderSize(r, 64<<10)
	if whole(br) {
		raw, err := io.ReadAll(io.LimitReader(br, maxLine+1))
		if err != nil {
			return nil, err
		}
		if len(raw) > maxLine {
			b.fault(1, "the file is longer than a chat can be")
		} else if err := c.take(raw); err != nil {
			b.fault(1, err.Error())
		}
	} else if err := b.lines(br, c.take); err != nil {
		return nil, err
	}
	for i := range c.all {
		c.tell(&c.all[i])
	}
	return b.done()
}

// whole reports whether the file is one object over several lines: its first line ends with the brace that opens it.
func whole(r *bufio.Reader) bool {
	start, _ := r.Peek(4)
	s := strings.TrimLeft(string(start), " \t")
	return strings.HasPrefix(s, "{\n") || strings.HasPrefix(s, "{\r")
}

// take takes a line.
func (c *chat) take(line []byte) error {
	var l geminiLine
	if err := decode(line, &l); err != nil {
		return err
	}
	messages := l.Messages
	if l.Session != "" && c.b.c.ID == "" {
		c.b.c.ID, c.b.c.Started = l.Session, l.Started
	}
	if l.Set != nil {
		messages = l.Set.Messages
	}
	if l.Rewind != "" {
		at := c.at[l.Rewind] // Gemini CLI takes all back if it does not know the message
		for _, m := range c.all[at:] {
			delete(c.at, m.ID)
		}
		c.all = c.all[:at]
		return nil
	}
	if l.Type != "" {
		messages = []jsontext.Value{line}
	} else if len(messages) > 0 {
		c.all, c.at = nil, map[string]int{} // all of them, anew
	}
	var bad error
	for _, raw := range messages {
		var m geminiMessage
		if err := decode(raw, &m); err != nil {
			bad = err
			continue
		}
		if at, ok := c.at[m.ID]; ok && m.ID != "" {
			c.all[at] = m
			continue
		}
		c.at[m.ID] = len(c.all)
		c.all = append(c.all, m)
	}
	return bad
}

// tell adds a message to the conversation. Messages for the screen (info, warning, error) are no part of it.
func (c *chat) tell(m *geminiMessage) {
	said := textOf(m.Content)
	switch m.Type {
	case "user":
		if s := strings.TrimSpace(said); s == "" || strings.HasPrefix(s, "<session_context>") {
			return // answers of tools, which are with their calls; what the agent tells of itself
		}
		if out := c.b.add("user", m.Time); out != nil {
			out.Text = said
		}
	case "gemini":
		out := c.b.add("assistant", m.Time)
		if out == nil {
			return
		}
		if m.Model != "" {
			c.b.c.Model = m.Model
		}
		out.Text = said
		for _, t := range m.Thoughts {
			join(&out.Thinking, strings.TrimPrefix(t.Subject+": "+t.Description, ": "))
		}
		for _, call := range m.Calls {
			k := Call{ID: call.ID, Name: call.Name, Input: call.Args, Failed: call.Status != "success"}
			for _, r := range call.Result {
				join(&k.Output, r.Response.Response.Output)
				join(&k.Output, r.Response.Response.Error)
			}
			c.b.call(out, k)
		}
	}
}
