// Package history reads the conversations that coding agents keep in files: the lines of Claude Code, the rollouts of Codex and the chats
// of Gemini CLI.
//
// The files belong to other programs and change with their versions. A line that cannot be read is reported and skipped; a line of a kind
// that is not known is skipped without a word, because each of these formats has many lines that are no part of the conversation.
package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// The agents whose files can be read.
const (
	Claude = "claude"
	Codex  = "codex"
	Gemini = "gemini"
)

// What is read of one file. Lines with images are large; no text is.
const (
	maxLine     = 16 << 20 // bytes; a longer line is reported and skipped
	maxMessages = 20_000   // further messages are not read
	maxSkipped  = 100      // further faults are counted only
)

// Conversation is what a file tells.
type Conversation struct {
	Agent    string
	ID       string // of the agent, by which it resumes the conversation; empty: the file does not say
	Dir      string // the folder in which the agent worked; empty: the file does not say
	Model    string // the last one that answered
	Started  time.Time
	Messages []Message
	Skipped  []Skipped // the first lines that could not be read
	Faults   int       // how many lines could not be read
}

// Message is one message. The answers of tools are with the calls.
type Message struct {
	Role     string // user, assistant or system
	Text     string
	Thinking string
	Calls    []Call
	Time     time.Time
}

// Call is a use of a tool, with its answer.
type Call struct {
	ID     string
	Name   string
	Input  jsontext.Value // as the agent wrote it; it may be no object
	Output string
	Failed bool
}

// Skipped is a line that could not be read.
type Skipped struct {
	Line int // from 1
	Why  string
}

// Read reads the file of an agent. The error is only about the reader, an unknown agent, or a file without a message.
func Read(agent string, r io.Reader) (*Conversation, error) {
	b := &builder{c: &Conversation{Agent: agent}}
	var line func([]byte) error
	switch agent {
	case Claude:
		line = b.claude
	case Codex:
		line = b.codex
	case Gemini:
		return readGemini(b, r)
	default:
		return nil, unknownAgent(agent)
	}
	if err := b.lines(bufio.NewReaderSize(r, 64<<10), line); err != nil {
		return nil, err
	}
	return b.done()
}

// builder collects the messages of a conversation.
type builder struct {
	c     *Conversation
	calls map[string][2]int // where a call is: message and call; -1 for a call that was not kept
	last  string            // the message of the agent to which the last blocks belong
}

// lines calls f for each line that is not empty, and collects its errors.
func (b *builder) lines(r *bufio.Reader, f func([]byte) error) error {
	for n := 1; ; n++ {
		line, long, err := readLine(r)
		switch {
		case long:
			b.fault(n, fmt.Sprintf("it is longer than %d MiB", maxLine>>20))
		case len(line) > 0:
			if e := f(line); e != nil {
				b.fault(n, e.Error())
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the conversation: %w", err)
		}
	}
}

// readLine reads a line without the spaces around it. Of a line that is too long nothing is kept.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
		}
		if len(line) > maxLine {
			line, long = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return []byte(strings.TrimSpace(string(line))), long, err
		}
	}
}

func (b *builder) fault(line int, why string) {
	b.c.Faults++
	if len(b.c.Skipped) < maxSkipped {
		b.c.Skipped = append(b.c.Skipped, Skipped{line, why})
	}
}

// add appends a message and returns its place; nil if there are too many.
func (b *builder) add(role string, at time.Time) *Message {
	if len(b.c.Messages) >= maxMessages {
		return nil
	}
	if b.c.Started.IsZero() {
		b.c.Started = at
	}
	b.last = ""
	b.c.Messages = append(b.c.Messages, Message{Role: role, Time: at})
	return &b.c.Messages[len(b.c.Messages)-1]
}

// answerOf returns the message of the agent to which a block belongs: the last one, if it has this id and no other message came between.
// An empty id joins whatever the agent does without a message of somebody else between.
func (b *builder) answerOf(id string, at time.Time) *Message {
	if n := len(b.c.Messages); n > 0 && b.c.Messages[n-1].Role == "assistant" && b.last == id {
		return &b.c.Messages[n-1]
	}
	m := b.add("assistant", at)
	b.last = id
	return m
}

// call keeps a call in a message.
func (b *builder) call(m *Message, c Call) {
	if m == nil {
		return
	}
	m.Calls = append(m.Calls, c)
	if c.ID == "" {
		return
	}
	if b.calls == nil {
		b.calls = map[string][2]int{}
	}
	b.calls[c.ID] = [2]int{len(b.c.Messages) - 1, len(m.Calls) - 1}
}

// answer puts the answer of a tool with its call. An answer without a call is left out.
func (b *builder) answer(id, output string, failed bool) {
	if at, ok := b.calls[id]; ok {
		c := &b.c.Messages[at[0]].Calls[at[1]]
		c.Output, c.Failed = output, failed
	}
}

// done returns the conversation without messages that say nothing.
func (b *builder) done() (*Conversation, error) {
	kept := b.c.Messages[:0]
	for _, m := range b.c.Messages {
		if strings.TrimSpace(m.Text) != "" || m.Thinking != "" || len(m.Calls) > 0 {
			kept = append(kept, m)
		}
	}
	b.c.Messages = kept
	if len(kept) == 0 {
		if b.c.Faults > 0 {
			return nil, fmt.Errorf("no message can be read: line %d: %s", b.c.Skipped[0].Line, b.c.Skipped[0].Why)
		}
		return nil, errors.New("it has no message")
	}
	return b.c, nil
}

// decode decodes a line. Its error is for people.
func decode(line []byte, v any) error {
	if err := rawjson.Decode(line, v); err != nil {
		return errors.New("it is no line of this format")
	}
	return nil
}

// join appends a piece to a text, as a paragraph of its own.
func join(text *string, piece string) {
	switch {
	case strings.TrimSpace(piece) == "":
	case *text == "":
		*text = piece
	default:
		*text += "\n\n" + piece
	}
}

// stringOf returns the value of a JSON string, and "" for any other value.
func stringOf(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || rawjson.Decode(v, &s) != nil {
		return ""
	}
	return s
}

// textOf returns the texts in a value: a string, or a list of blocks with a text. Of other blocks it has their type.
func textOf(v jsontext.Value) string {
	if v.Kind() == '"' {
		return stringOf(v)
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if v.Kind() != '[' || rawjson.Decode(v, &blocks) != nil {
		return ""
	}
	out := ""
	for _, b := range blocks {
		if b.Text == "" && b.Type != "" && !strings.HasSuffix(b.Type, "text") {
			b.Text = "[" + b.Type + "]"
		}
		join(&out, b.Text)
	}
	return out
}
