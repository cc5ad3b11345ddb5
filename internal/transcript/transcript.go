// Package transcript keeps saved conversations in the project's database, and is the built-in server mycelium-session, with which agents
// save, compress, fork and export them.
//
// A conversation belongs to a principal in a role, both from the scope of the call and never from an argument. For anybody else it does
// not exist: every question about it is answered as for an id that was never given. A person who works on the project sees all.
package transcript

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/text"
)

// What is kept at most. A conversation of eight hours with an agent has about 2 MB.
const (
	maxName          = 200       // bytes
	maxTags          = 20        // of a conversation
	maxTag           = 60        // bytes
	maxText          = 256 << 10 // bytes of a message, and of its reasoning
	maxCall          = 64 << 10  // bytes of the input of a call, and of its output
	maxCalls         = 200       // of a message
	maxMessages      = 10_000    // of a conversation
	maxBytes         = 8 << 20   // of a conversation
	maxConversations = 1000      // of a principal in a role
	maxOwned         = 256 << 20 // bytes of all conversations of a principal in a role
)

// Own is the agent of conversations of our own agent. They have the same id here and in its files.
const Own = "myc"

// Caller is who asks for conversations.
type Caller struct {
	Principal, Role string
	Person          bool // the person who works on the project: sees all conversations
}

// Conversation is a saved conversation.
type Conversation struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      string    `json:"role"` // whose it is
	Principal string    `json:"principal"`
	Tags      []string  `json:"tags"`
	Agent     string    `json:"agent,omitempty"`   // the agent from whose files it was imported
	AgentID   string    `json:"agentId,omitempty"` // by which that agent resumes it
	Dir       string    `json:"dir,omitempty"`     // where that agent worked
	Model     string    `json:"model,omitempty"`
	ForkOf    string    `json:"forkOf,omitempty"` // the conversation of which it was forked
	ForkAt    int       `json:"forkAt,omitzero"`  // how many messages it took over
	Changed   bool      `json:"changed,omitzero"` // it is no longer what was imported
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	Count     int       `json:"messageCount"`
	Tokens    int       `json:"tokens"` // an estimate: see [text.Tokens]
	Messages  []Message `json:"messages,omitempty"`
}

// Message is one message. The answers of tools are with their calls.
type Message struct {
	ID       string    `json:"id"`
	Role     string    `json:"role"` // user, assistant or system
	Content  string    `json:"content"`
	Thinking string    `json:"thinking,omitempty"`
	Calls    []Call    `json:"toolCalls,omitempty"`
	Summary  bool      `json:"summary,omitzero"` // it stands for messages that were removed
	Tokens   int       `json:"tokens"`
	Time     time.Time `json:"time"`

	n int // its place in the database
}

// Call is a use of a tool, with its answer.
type Call struct {
	Name   string         `json:"name"`
	Input  jsontext.Value `json:"input,omitempty"`
	Output string         `json:"output,omitempty"`
	Failed bool           `json:"failed,omitzero"`
}

// NewID returns a new id of a conversation, for one that is kept in a file before it is imported.
func NewID() string { return newID("c") }

// newID makes an id that nobody can guess.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()[:16]) }

// absent is the error for a conversation that is not there for this caller.
func absent(id string) error {
	return text.Hinted(fmt.Errorf("there is no conversation %q", text.Truncate(id, 60)),
		"myc chat list shows those that there are; an agent asks session_list")
}

// checkName checks the name of a conversation.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(text.Flatten(strings.ToValidUTF8(name, "�")))
	switch {
	case name == "":
		return "", errors.New("a conversation needs a name")
	case len(name) > maxName:
		return "", fmt.Errorf("the name is longer than %d bytes", maxName)
	}
	return name, nil
}

// addTags returns tags with further ones, each once.
func addTags(tags, more []string) ([]string, error) {
	seen := map[string]bool{}
	out := []string{}
	for i, tag := range append(append([]string{}, tags...), more...) {
		tag = strings.TrimSpace(text.Flatten(strings.ToValidUTF8(tag, "�")))
		switch {
		case tag == "":
			return nil, errors.New("a tag is empty")
		case len(tag) > maxTag:
			return nil, fmt.Errorf("the tag %q is longer than %d bytes", text.Truncate(tag, 40), maxTag)
		case seen[tag]:
			continue
		case len(out) >= maxTags:
			return nil, fmt.Errorf("a conversation has at most %d tags; this would be number %d", maxTags, i+1)
		}
		seen[tag] = true
		out = append(out, tag)
	}
	return out, nil
}

// prepare masks a message and checks or cuts its parts. With cut, what is too long is shortened and says so; without, it is an error.
func prepare(m Message, mask func(string) string, now time.Time, cut bool) (Message, error) {
	switch m.Role {
	case "user", "assistant", "system":
	default:
		return m, fmt.Errorf("the role of a message is user, assistant or system, not %q", text.Truncate(m.Role, 40))
	}
	for _, s := range []*string{&m.Content, &m.Thinking} {
		clean := mask(strings.ToValidUTF8(*s, "�"))
		if len(clean) > maxText {
			if !cut {
				return m, fmt.Errorf("a message has at most %d KiB; this one has %d", maxText>>10, len(clean)>>10)
			}
			clean = text.Middle(clean, maxText)
		}
		*s = clean
	}
	if strings.TrimSpace(m.Content) == "" && len(m.Calls) == 0 && m.Thinking == "" {
		return m, errors.New("the message is empty")
	}
	if len(m.Calls) > maxCalls {
		m.Calls = m.Calls[:maxCalls]
	}
	var calls []Call
	for _, c := range m.Calls {
		calls = append(calls, Call{Name: text.Truncate(text.Flatten(mask(strings.ToValidUTF8(c.Name, "�"))), maxName),
			Input: maskInput(c.Input, mask), Output: text.Middle(mask(strings.ToValidUTF8(c.Output, "�")), maxCall), Failed: c.Failed})
	}
	m.Calls, m.ID, m.n = calls, newID("m"), 0
	if m.Time.IsZero() || m.Time.After(now) {
		m.Time = now
	}
	m.Tokens = tokensOf(&m)
	return m, nil
}

// maskInput masks the arguments of a call. What is no JSON any more, or too long, becomes a string.
func maskInput(raw jsontext.Value, mask func(string) string) jsontext.Value {
	if len(raw) == 0 || !raw.IsValid() {
		return nil
	}
	clean := jsontext.Value(mask(string(raw)))
	if len(clean) > maxCall || !clean.IsValid() {
		quoted, err := jsontext.AppendQuote(nil, text.Middle(strings.ToValidUTF8(string(clean), "�"), maxCall))
		if err != nil {
			return nil // not reached: the text is valid UTF-8
		}
		return quoted
	}
	return clean
}

// tokensOf estimates the tokens of a message.
func tokensOf(m *Message) int {
	n := text.Tokens(m.Content) + text.Tokens(m.Thinking)
	for _, c := range m.Calls {
		n += text.Tokens(c.Name) + text.Tokens(string(c.Input)) + text.Tokens(c.Output)
	}
	return n
}

// sizeOf is the bytes of a message in the database.
func sizeOf(m *Message) int {
	n := len(m.Content) + len(m.Thinking)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Input) + len(c.Output)
	}
	return n
}
