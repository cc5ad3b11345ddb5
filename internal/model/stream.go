package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Request asks for the next message of a conversation.
type Request struct {
	Model     string // a full id
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int  // 0: 16384
	Plain     bool // the model does not think first
}

// Message is one message of a conversation, in the form of the Messages API.
type Message struct {
	Role    string  `json:"role"` // user or assistant
	Content []Block `json:"content"`
}

// Block is a part of a message. What a model wrote is returned to it as it came, the signature of its thinking included.
type Block struct {
	Type      string         `json:"type"` // text, thinking, redacted_thinking, tool_use, tool_result or image
	Text      string         `json:"text,omitempty"`
	Thinking  *string        `json:"thinking,omitzero"`
	Signature string         `json:"signature,omitempty"`
	Data      string         `json:"data,omitempty"` // of redacted_thinking
	ID        string         `json:"id,omitempty"`   // of a tool_use
	Name      string         `json:"name,omitempty"`
	Input     jsontext.Value `json:"input,omitzero"`
	ToolUseID string         `json:"tool_use_id,omitempty"` // of a tool_result
	Content   []Block        `json:"content,omitempty"`
	IsError   bool           `json:"is_error,omitzero"`
	Source    *Source        `json:"source,omitempty"` // of an image
	Cache     *Cache         `json:"cache_control,omitempty"`

	// Malformed is the input of a tool_use that is no JSON object; Input is then {}. Such a call cannot run.
	Malformed string `json:"-"`
}

// Source is a picture.
type Source struct {
	Type      string `json:"type"`       // base64
	MediaType string `json:"media_type"` // image/png, image/jpeg, image/gif or image/webp
	Data      string `json:"data"`
}

// Cache marks the end of what the API keeps for the next request.
type Cache struct {
	Type string `json:"type"` // ephemeral
}

// Tool is a tool that is offered to the model. Its name has the form of the API: see [ToolName].
type Tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	InputSchema jsontext.Value `json:"input_schema"`
	Cache       *Cache         `json:"cache_control,omitempty"`
}

// Piece is one thing that happens while a message comes. One field is set.
type Piece struct {
	Text     string
	Thinking string
	Retry    error // the model did not answer, and is asked again after Wait
	Wait     time.Duration
}

// Reply is a message of the model. After an error it has what came before it, without tool uses that are not whole.
type Reply struct {
	Message Message
	Stop    string // end_turn, tool_use, max_tokens, refusal, stop_sequence, pause_turn, model_context_window_exceeded
	Model   string
	Usage   Usage
	Cost    float64 // USD
}

// The bounds of a stream.
const (
	defaultMaxTokens = 16384
	silence          = 3 * time.Minute // without an event, after which the stream is given up; the API pings more often
	streamRetries    = 4               // further attempts before the first byte
	firstWait        = time.Second     // before the first of them; it doubles
	longestWait      = 30 * time.Second
	maxToolInput     = 1 << 20 // bytes
)

// wire is the body of a request.
type wire struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	System    []Block        `json:"system,omitempty"`
	Messages  []Message      `json:"messages"`
	Tools     []Tool         `json:"tools,omitempty"`
	Thinking  jsontext.Value `json:"thinking,omitzero"`
}

// Stream asks for the next message and tells each piece of it as it comes, from the same goroutine. Where the API is busy or does not
// answer, it is asked again, up to four times, as long as no piece has come. Every error is an *Error, except that of an ended context.
func (c *Client) Stream(ctx context.Context, q Request, tell func(Piece)) (Reply, error) {
	body, err := json.Marshal(wireOf(q), json.Deterministic(true))
	if err != nil {
		return Reply{}, &Error{Kind: Malformed, Text: "the conversation cannot be written: " + err.Error()}
	}
	wait := firstWait
	for attempt := 0; ; attempt++ {
		r, after, err := c.stream(ctx, body, tell)
		var failed *Error
		if err == nil || attempt >= streamRetries || len(r.Message.Content) > 0 || !errors.As(err, &failed) ||
			failed.Kind != Overloaded && failed.Kind != Unreachable {
			return r, err
		}
		pause := wait + rand.N(wait/4+1) //nolint:gosec // spreads attempts, guards nothing
		if c.pause != 0 {
			pause = c.pause
		} else if after > 0 {
			pause = min(after, longestWait)
		}
		tell(Piece{Retry: failed, Wait: pause})
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return r, ctx.Err()
		case <-t.C:
		}
		wait = min(2*wait, longestWait)
	}
}

// wireOf is the body of a request: with marks for the cache at the end of the tools, of the system prompt and of the conversation.
func wireOf(q Request) wire {
	mark := &Cache{Type: "ephemeral"}
	w := wire{Model: q.Model, MaxTokens: q.MaxTokens, Messages: append([]Message{}, q.Messages...), Tools: append([]Tool{}, q.Tools...)}
	if w.MaxTokens <= 0 {
		w.MaxTokens = defaultMaxTokens
	}
	if q.System != "" {
		w.System = []Block{{Type: "text", Text: q.System, Cache: mark}}
	}
	if n := len(w.Tools); n > 0 {
		w.Tools[n-1].Cache = mark
	}
	if n := len(w.Messages); n > 0 {
		last := w.Messages[n-1]
		last.Content = append([]Block{}, last.Content...)
		if k := len(last.Content); k > 0 && last.Role == "user" {
			last.Content[k-1].Cache = mark
		}
		w.Messages[n-1] = last
	}
	if !q.Plain {
		w.Thinking = thinkingOf(q.Model, w.MaxTokens)
	}
	return w
}

// stream is one attempt. after is when the API wants to be asked again; 0: it does not say.
func (c *Client) stream(ctx context.Context, body []byte, tell func(Piece)) (r Reply, after time.Duration, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(context.DeadlineExceeded) })
	defer quiet.Stop()
	s := c.api.Messages.NewStreaming(inner, param.Override[anthropic.MessageNewParams](jsontext.Value(body)), option.WithMaxRetries(0))
	defer func() { _ = s.Close() }()
	in := incoming{tell: tell}
	for s.Next() {
		quiet.Reset(silence)
		if err = in.take(s.Current()); err != nil {
			break
		}
	}
	if err == nil {
		err = s.Err()
	}
	r = in.reply(err == nil)
	switch {
	case ctx.Err() != nil:
		return r, 0, ctx.Err()
	case err != nil:
		return r, retryAfter(err), explain(inner, err)
	case !in.ended:
		return r, 0, &Error{Kind: Unreachable, Text: "the answer was cut off: the connection ended in the middle of it"}
	}
	return r, 0, nil
}

// retryAfter is what the header Retry-After of a refusal says, in seconds (RFC 9110, section 10.2.3).
func retryAfter(err error) time.Duration {
	var api *anthropic.Error
	if !errors.As(err, &api) || api.Response == nil {
		return 0
	}
	n, err := strconv.Atoi(api.Response.Header.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// isStream reports whether a response is a stream of events, which may be longer than an answer.
func isStream(r *http.Response) bool {
	kind := r.Header.Get("Content-Type")
	return len(kind) >= len("text/event-stream") && kind[:len("text/event-stream")] == "text/event-stream"
}

// thinkingOf is how a model is told to think; nil: it is told nothing.
func thinkingOf(model string, maxTokens int) jsontext.Value {
	p, _ := priceOf(model)
	switch p.thinks {
	case adaptive:
		return jsontext.Value(`{"type":"adaptive","display":"summarized"}`)
	case budgeted:
		return jsontext.Value(fmt.Sprintf(`{"type":"enabled","budget_tokens":%d}`, max(1024, min(8192, maxTokens/2))))
	default:
		return nil
	}
}
