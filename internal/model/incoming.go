package model

import (
	"errors"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/go-json-experiment/json/jsontext"
)

// incoming puts a message together from the events of a stream.
type incoming struct {
	tell   func(Piece)
	blocks []arriving
	stop   string
	model  string
	usage  Usage
	ended  bool // message_stop came
}

// arriving is a block whose pieces still come.
type arriving struct {
	Block
	index          int64
	text, thinking strings.Builder
	input          strings.Builder
	whole          bool
}

// errInput means that the model writes an input without an end.
var errInput = errTooLarge

// take takes one event.
func (in *incoming) take(e anthropic.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		in.model = e.Message.Model
		in.usage = Usage{Input: u.InputTokens, Output: u.OutputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens,
			CacheWriteHour: u.CacheCreation.Ephemeral1hInputTokens, Fast: u.Speed == anthropic.UsageSpeedFast}
	case "content_block_start":
		b := e.ContentBlock
		in.blocks = append(in.blocks, arriving{index: e.Index, Block: Block{Type: b.Type, ID: b.ID, Name: b.Name, Data: b.Data,
			Signature: b.Signature}})
		in.add(len(in.blocks)-1, b.Text, b.Thinking, "")
	case "content_block_delta":
		i := in.find(e.Index)
		if i < 0 {
			return nil
		}
		b := &in.blocks[i]
		b.Signature += e.Delta.Signature
		in.add(i, e.Delta.Text, e.Delta.Thinking, e.Delta.PartialJSON)
		if b.input.Len() > maxToolInput {
			return errInput
		}
	case "content_block_stop":
		if i := in.find(e.Index); i >= 0 {
			in.blocks[i].whole = true
		}
	case "message_delta":
		in.stop = string(e.Delta.StopReason)
		in.usage.Output = max(in.usage.Output, e.Usage.OutputTokens)
		in.usage.Input = max(in.usage.Input, e.Usage.InputTokens)
		in.usage.CacheRead = max(in.usage.CacheRead, e.Usage.CacheReadInputTokens)
		in.usage.CacheWrite = max(in.usage.CacheWrite, e.Usage.CacheCreationInputTokens)
	case "message_stop":
		in.ended = true
	case "error":
		return errors.New("the API ended the answer with an error")
	}
	return nil
}

// find is the place of the block with an index of the API; -1: there is none.
func (in *incoming) find(index int64) int {
	return slices.IndexFunc(in.blocks, func(b arriving) bool { return b.index == index })
}

// add adds pieces to a block and tells them.
func (in *incoming) add(i int, text, thinking, input string) {
	b := &in.blocks[i]
	b.text.WriteString(text)
	b.thinking.WriteString(thinking)
	b.input.WriteString(input)
	if text != "" {
		in.tell(Piece{Text: text})
	}
	if thinking != "" {
		in.tell(Piece{Thinking: thinking})
	}
}

// reply is the message so far. Of a stream that broke it has the text that came, and no tool use or thinking that is not whole.
func (in *incoming) reply(whole bool) Reply {
	r := Reply{Message: Message{Role: "assistant"}, Stop: in.stop, Model: in.model, Usage: in.usage}
	for i := range in.blocks {
		b := &in.blocks[i]
		done := b.whole || whole && in.ended
		switch b.Type {
		case "text":
			if b.Text = b.text.String(); b.Text == "" {
				continue // the API refuses an empty text
			}
		case "thinking":
			said := b.thinking.String()
			b.Thinking = &said
		case "tool_use":
			b.setInput(b.input.String())
		}
		if !done && b.Type != "text" {
			continue
		}
		r.Message.Content = append(r.Message.Content, b.Block)
	}
	r.Cost, _ = Cost(r.Model, r.Usage)
	return r
}

// setInput takes the input of a tool use as the model wrote it.
func (b *Block) setInput(raw string) {
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	b.Input = jsontext.Value(raw)
	if !b.Input.IsValid() || b.Input.Kind() != '{' {
		b.Input, b.Malformed = jsontext.Value("{}"), raw
	}
}
