package transcript

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
	"mycelium/internal/transcript/page"
)

// Form is the name of the format in an export as JSON, by which it is known again.
const Form = "mycelium-conversation/1"

// Exported is an export as JSON.
type Exported struct {
	Form string `json:"form"`
	Conversation
}

// CheckFormat is an error if [Export] has no such format.
func CheckFormat(format string) error {
	switch format {
	case "markdown", "", "html", "json":
		return nil
	}
	return fmt.Errorf("there is no format %q: there are markdown, json and html", text.Truncate(format, 40))
}

// Export writes a conversation as markdown (also for an empty format), json or html.
func Export(c *Conversation, format string, o page.Options) (string, error) {
	switch format {
	case "markdown", "":
		return page.Markdown(pageOf(c), o), nil
	case "html":
		return page.HTML(pageOf(c), o), nil
	case "json":
		e := Exported{Form: Form, Conversation: *c}
		if !o.Metadata {
			e.Conversation = Conversation{Name: c.Name}
		}
		e.Messages = make([]Message, len(c.Messages))
		for i, m := range c.Messages {
			if !o.Calls {
				m.Calls = nil
			}
			if !o.Thinking {
				m.Thinking = ""
			}
			e.Messages[i] = m
		}
		raw, err := json.Marshal(e, jsontext.WithIndent("  "))
		return string(raw) + "\n", err
	}
	return "", CheckFormat(format)
}

// pageOf is a conversation as pages show it.
func pageOf(c *Conversation) *page.Conversation {
	p := &page.Conversation{Title: c.Name}
	fact := func(name, value string) {
		if value != "" {
			p.Facts = append(p.Facts, page.Fact{Name: name, Value: value})
		}
	}
	fact("Role", c.Role)
	fact("Agent", c.Agent)
	fact("Model", c.Model)
	fact("Folder", c.Dir)
	if len(c.Messages) > 0 {
		fact("Began", c.Messages[0].Time.Format(time.DateTime)+" UTC")
	}
	fact("Length", fmt.Sprintf("%s, about %s", text.Count(c.Count, "message"), text.Count(c.Tokens, "token")))
	if c.ForkOf != "" {
		fact("Fork of", fmt.Sprintf("%s, after %s", c.ForkOf, text.Count(c.ForkAt, "message")))
	}
	fact("Id", c.ID)
	p.Tags = c.Tags
	for _, m := range c.Messages {
		q := page.Message{Role: m.Role, Text: m.Content, Thinking: m.Thinking, Summary: m.Summary, Time: m.Time}
		for _, k := range m.Calls {
			q.Calls = append(q.Calls, page.Call{Name: k.Name, Input: string(k.Input), Output: k.Output, Failed: k.Failed})
		}
		p.Messages = append(p.Messages, q)
	}
	return p
}
