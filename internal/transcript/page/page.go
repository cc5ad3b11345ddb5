// Package page writes a conversation for people: as Markdown, and as one HTML page that needs nothing else.
//
// In HTML everything that was said in the conversation is text: no part of it becomes an element, an attribute or a link. In Markdown it
// keeps its own marks, but stays within its quotation, without HTML and without images.
package page

import (
	"fmt"
	"strings"
	"time"

	"mycelium/internal/text"
)

// Conversation is what is shown.
type Conversation struct {
	Title    string
	Tags     []string
	Facts    []Fact // about the conversation, in this order
	Messages []Message
}

// Fact is a fact about a conversation.
type Fact struct{ Name, Value string }

// Message is one message.
type Message struct {
	Role     string // user, assistant or system
	Text     string
	Thinking string
	Summary  bool // it stands for messages that were removed
	Time     time.Time
	Calls    []Call
}

// Call is a use of a tool.
type Call struct {
	Name          string
	Input, Output string
	Failed        bool
}

// Options say what is shown besides what was said.
type Options struct {
	Calls    bool // the calls of tools
	Thinking bool // the reasoning
	Metadata bool // facts, tags and times
}

// who returns the heading of a message.
func (m *Message) who() string {
	switch {
	case m.Summary:
		return "Summary"
	case m.Role == "user":
		return "User"
	case m.Role == "assistant":
		return "Assistant"
	}
	return "System"
}

// shown reports whether there is anything to show of a message.
func (m *Message) shown(o Options) bool {
	return strings.TrimSpace(m.Text) != "" || o.Thinking && m.Thinking != "" || o.Calls && len(m.Calls) > 0
}

// Markdown writes a conversation as Markdown. What was said is quoted line by line, so that a message cannot begin another.
func Markdown(c *Conversation, o Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", plain(c.Title))
	if o.Metadata {
		b.WriteString("\n")
		for _, f := range c.Facts {
			fmt.Fprintf(&b, "- %s: %s\n", f.Name, plain(f.Value))
		}
		if len(c.Tags) > 0 {
			fmt.Fprintf(&b, "- Tags: %s\n", plain(strings.Join(c.Tags, ", ")))
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if !m.shown(o) {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", m.who())
		if o.Metadata && !m.Time.IsZero() {
			fmt.Fprintf(&b, "\n*%s*\n", m.Time.UTC().Format(time.DateTime))
		}
		if o.Thinking && m.Thinking != "" {
			b.WriteString("\nReasoning:\n\n")
			quote(&b, m.Thinking)
		}
		if strings.TrimSpace(m.Text) != "" {
			b.WriteString("\n")
			quote(&b, m.Text)
		}
		if !o.Calls {
			continue
		}
		for _, k := range m.Calls {
			failed := ""
			if k.Failed {
				failed = " (failed)"
			}
			fmt.Fprintf(&b, "\nTool %s%s\n", plain(k.Name), failed)
			fenced(&b, "json", k.Input)
			fenced(&b, "text", k.Output)
		}
	}
	return b.String()
}

// plain writes a text in one line in which no character has a meaning in Markdown.
func plain(s string) string {
	var b strings.Builder
	for _, r := range text.Flatten(s) {
		if strings.ContainsRune("\\`*_[]<>#&|!~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quote writes a text as a quotation, in which HTML and images are text. Code between fences at the beginning of a line stays as it is;
// after a fence that is indented nobody knows where the code ends, so everything counts as prose.
func quote(b *strings.Builder, s string) {
	open, unsure := "", false
	for line := range strings.SplitSeq(text.Visible(unix(s)), "\n") {
		mark := strings.TrimLeft(line, " \t")
		run := fenceOf(mark)
		switch {
		case run == "":
			if open == "" || unsure {
				line = strings.NewReplacer("<", "&lt;", "![", `!\[`).Replace(line)
			}
		case mark != line:
			unsure = true
		case open == "":
			open = run
		case strings.HasPrefix(run, open) && strings.TrimSpace(mark[len(run):]) == "":
			open = ""
		}
		b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
}

// fenceOf returns the fence with which a line begins: three or more backticks or tildes.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		run := line[:len(line)-len(strings.TrimLeft(line, mark))]
		if len(run) >= 3 && (mark == "~" || !strings.Contains(line[len(run):], mark)) {
			return run
		}
	}
	return ""
}

// fenced writes a text as code. The fence is longer than every one in the text.
func fenced(b *strings.Builder, language, s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	run, longest := 0, 2
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	fmt.Fprintf(b, "\n%s%s\n%s\n%s\n", fence, language, text.Visible(unix(s)), fence)
}
