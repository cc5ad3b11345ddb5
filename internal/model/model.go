// Package model sends questions to a language model and accounts for their cost. It has the only price table of this program and the only
// ledger of our own questions.
package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// The defaults of a client, and the bounds of one response body in bytes.
const (
	DefaultURL     = "https://api.anthropic.com"
	DefaultTimeout = 30 * time.Second
	maxAnswer      = 1 << 20
	maxStream      = 64 << 20 // each word of an answer is an event of its own there
)

// ErrNoKey means that there is no API key, and therefore no model.
var ErrNoKey = errors.New("no API key")

// Options are the options of a [Client].
type Options struct {
	Key     string        // required: without a key, New returns ErrNoKey
	BaseURL string        // empty: DefaultURL
	Timeout time.Duration // of one question with all attempts and delays; 0: DefaultTimeout
	Retries int           // further attempts of Ask after 429, 529, 5xx or no response
	Pause   time.Duration // between the attempts of Stream; 0: what the API says, else a time that doubles
}

// Client sends questions over the Messages API of Anthropic. It is safe for concurrent use and has no state between questions. It reads
// no environment variables and no files.
type Client struct {
	api     anthropic.Client
	http    *http.Client
	timeout time.Duration
	pause   time.Duration // between the attempts of Stream; 0: it grows
}

// New returns a client. It sends nothing.
func New(o Options) (*Client, error) {
	if o.Key == "" {
		return nil, ErrNoKey
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	client := &http.Client{Transport: bounded{transport}}
	api := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithAPIKey(o.Key),
		option.WithBaseURL(o.BaseURL),
		option.WithHTTPClient(client), option.WithMaxRetries(max(0, o.Retries)))
	return &Client{api: api, http: client, timeout: o.Timeout, pause: o.Pause}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Question is one request.
type Question struct {
	Model     string
	System    string
	Text      string
	Schema    map[string]any // JSON schema of the object to answer with; nil: plain text
	MaxTokens int            // 0: 1024. Models that think need more
}

// Answer is the answer of a model.
type Answer struct {
	Text  string
	Model string // by its name in the API
	Usage Usage
	Cost  float64 // USD, from the price table
}

// Ask sends one question and waits for the whole answer. Every error is an *Error, except that of an ended context. A truncated or
// refused answer is an error, but the Answer has its cost.
func (c *Client) Ask(ctx context.Context, q Question) (Answer, error) {
	inner, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if q.MaxTokens <= 0 {
		q.MaxTokens = 1024
	}
	p := anthropic.MessageNewParams{
		Model: q.Model, MaxTokens: int64(q.MaxTokens),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.Text))},
	}
	if q.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: q.System}}
	}
	if q.Schema != nil {
		p.OutputConfig.Format.Schema = q.Schema
	}
	m, err := c.api.Messages.New(inner, p)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		return Answer{}, explain(inner, err)
	}
	a := answerOf(m)
	switch m.StopReason {
	case anthropic.StopReasonEndTurn, anthropic.StopReasonStopSequence:
	case anthropic.StopReasonRefusal:
		return a, &Error{Kind: Refused, Text: "the model refused to answer"}
	case anthropic.StopReasonMaxTokens:
		return a, &Error{Kind: Malformed, Text: "the answer was cut off"}
	case anthropic.StopReasonModelContextWindowExceeded:
		return a, &Error{Kind: TooLong, Text: "the question does not fit into the model"}
	default:
		return a, &Error{Kind: Malformed, Text: fmt.Sprintf("the model stopped for %q", string(m.StopReason))}
	}
	if strings.TrimSpace(a.Text) == "" {
		return a, &Error{Kind: Malformed, Text: "the answer is empty"}
	}
	return a, nil
}

// answerOf returns the text and the usage of a message.
func answerOf(m *anthropic.Message) Answer {
	var text strings.Builder
	for _, b := range m.Content {
		if b.Type == "text" {
			text.WriteString(b.Text)
		}
	}
	u := Usage{
		Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens, CacheRead: m.Usage.CacheReadInputTokens,
		CacheWrite: m.Usage.CacheCreationInputTokens, CacheWriteHour: m.Usage.CacheCreation.Ephemeral1hInputTokens,
		Fast: m.Usage.Speed == anthropic.UsageSpeedFast,
	}
	cost, _ := Cost(m.Model, u)
	return Answer{Text: text.String(), Model: m.Model, Usage: u, Cost: cost}
}

// Kind is the kind of a failure.
type Kind string

// The kinds of failures.
const (
	Timeout     Kind = "timeout"
	Overloaded  Kind = "overloaded" // the model is busy, or our rate is too high
	Unreachable Kind = "unreachable"
	Rejected    Kind = "rejected" // the key, the model or the request is not accepted
	TooLong     Kind = "too long"
	Refused     Kind = "refused" // the model refuses to answer
	Malformed   Kind = "malformed"
)

// Error is the failure of a question. It never contains the key or the question.
type Error struct {
	Kind   Kind
	Status int // HTTP status; 0: no response
	Text   string
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("ask the model: %s (HTTP %d)", e.Text, e.Status)
	}
	return "ask the model: " + e.Text
}

// explain classifies an error of the SDK. Its own text would repeat addresses and whole bodies.
func explain(ctx context.Context, err error) *Error {
	var api *anthropic.Error
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: Timeout, Text: "there was no answer in time"}
	case errors.As(err, &api):
		return explainStatus(api)
	case errors.Is(err, errTooLarge):
		return &Error{Kind: Malformed, Text: fmt.Sprintf("the answer is larger than %d KiB", maxAnswer>>10)}
	case errors.Is(err, errElsewhere):
		return &Error{Kind: Rejected, Text: "the address leads elsewhere, where the key is not sent"}
	case isDecode(err):
		return &Error{Kind: Malformed, Text: "the answer is not a message of the API"}
	}
	return &Error{Kind: Unreachable, Text: "the API cannot be reached"}
}

func explainStatus(api *anthropic.Error) *Error {
	e := &Error{Kind: Rejected, Status: api.StatusCode, Text: "the API does not accept the request"}
	switch s := api.StatusCode; {
	case s == http.StatusRequestEntityTooLarge, s == http.StatusBadRequest && strings.Contains(api.RawJSON(), "prompt is too long"):
		e.Kind, e.Text = TooLong, "the question is too long"
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		e.Text = "the API does not accept the key"
	case s == http.StatusNotFound:
		e.Text = "the API does not know this model or address"
	case s == http.StatusTooManyRequests, s == 529:
		e.Kind, e.Text = Overloaded, "the API is busy or asked too often"
	case s >= 500:
		e.Kind, e.Text = Overloaded, "the API has a fault"
	}
	return e
}

// isDecode reports whether a response arrived but could not be decoded. The SDK has no type for that, so its text decides.
func isDecode(err error) bool {
	text := err.Error()
	return strings.Contains(text, "error parsing response json") || strings.Contains(text, "expected destination type") ||
		strings.Contains(text, "invalid character") ||
		strings.Contains(text, "unexpected end of JSON")
}

var (
	errTooLarge  = errors.New("the answer is too large")
	errElsewhere = errors.New("a redirect")
)

// bounded is a transport that limits a response body to maxAnswer, or maxStream for a stream, and follows no redirect.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 { // a redirect would send the key, which is in a header, to another host
		return nil, errors.Join(errElsewhere, resp.Body.Close())
	}
	most := maxAnswer
	if isStream(resp) {
		most = maxStream
	}
	resp.Body = &boundedBody{resp.Body, most}
	return resp, nil
}

func (b bounded) CloseIdleConnections() {
	if c, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
