package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// Claude Code keeps a transcript of each run: JSON Lines, one line for each block of a message, written about 100 ms after the block
// (2.1.197). The transcripts of subagents are in a folder beside it, with a note of the call that started each. Other agents' transcripts
// have other formats and are not read.

// How much is read from the end of a transcript, in bytes.
const (
	nearTail = 64 << 10 // usually has the call that is about to run
	maxTail  = 1 << 20  // has the last messages
)

// Transcript is the path of the transcript of a run or of one subagent. An empty path has no content.
type Transcript string

// RunTranscript returns the transcript of the run that an event belongs to.
func (e *Event) RunTranscript() Transcript {
	if a, _ := Named(e.Agent); !a.transcribes || !filepath.IsAbs(e.Transcript) || !strings.HasSuffix(e.Transcript, ".jsonl") {
		return ""
	}
	return Transcript(e.Transcript)
}

// OwnTranscript returns the transcript of the subagent that an event comes from, or else that of the run.
func (e *Event) OwnTranscript() Transcript {
	if e.AgentID != "" {
		return e.ChildTranscript()
	}
	return e.RunTranscript()
}

// ChildTranscript returns the transcript of the subagent that an event comes from.
func (e *Event) ChildTranscript() Transcript { return Transcript(e.ofChild(".jsonl")) }

// ofChild returns the path of a file that the agent keeps about the subagent that an event comes from.
func (e *Event) ofChild(suffix string) string {
	base, ok := strings.CutSuffix(e.Transcript, ".jsonl")
	for _, r := range e.AgentID {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			ok = false
		}
	}
	if a, _ := Named(e.Agent); !ok || !a.transcribes || !filepath.IsAbs(base) || e.AgentID == "" {
		return ""
	}
	return filepath.Join(base, "subagents", "agent-"+e.AgentID+suffix)
}

// openPlain opens a regular file without blocking. Its path comes from an agent.
func openPlain(path string) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK,
		0) //nolint:gosec // the path is the agent's own, and only lines of a shape are taken from it
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// HasResult reports whether the last part of a transcript has the result of a call, by the agent's id of it.
func (path Transcript) HasResult(toolUse string) bool {
	if path == "" || toolUse == "" {
		return false
	}
	lines, err := tail(string(path))
	return err == nil && bytes.Contains(lines, []byte(`"tool_use_id":`+string(rawjson.Quote(toolUse))))
}

// tail returns the whole lines in the last maxTail bytes of a file.
func tail(path string) ([]byte, error) {
	f, size, err := openPlain(string(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return endOf(f, size, maxTail)
}

// endOf returns the whole lines in the last most bytes of a file.
func endOf(f io.ReaderAt, size, most int64) ([]byte, error) {
	from := max(0, size-most)
	raw := make([]byte, size-from)
	read, err := f.ReadAt(raw, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	raw = raw[:read]
	if from > 0 {
		_, raw, _ = bytes.Cut(raw, []byte("\n"))
	}
	return raw, nil
}

// ClaudeLine is a line of a transcript of Claude Code (2.1.197), with the members that are used here.
type ClaudeLine struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Meta      bool      `json:"isMeta"`
	APIError  bool      `json:"isApiErrorMessage"` // the agent wrote this message itself: its model could not be reached
	Sidechain bool      `json:"isSidechain"`       // of a subagent
	Compacted bool      `json:"isCompactSummary"`  // what the agent wrote in the place of earlier messages
	Session   string    `json:"sessionId"`
	Dir       string    `json:"cwd"`
	Message   *struct {
		ID      string         `json:"id"`
		Role    string         `json:"role"`
		Model   string         `json:"model"`
		Content jsontext.Value `json:"content"`
		Usage   struct {
			CacheRead  int `json:"cache_read_input_tokens"`
			CacheWrite int `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// ClaudeBlock is one block of a message of Claude Code.
type ClaudeBlock struct {
	Type     string         `json:"type"`
	Text     string         `json:"text"`
	Thinking string         `json:"thinking"`
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Input    jsontext.Value `json:"input"`

	ToolUse string         `json:"tool_use_id"` // of an answer of a tool
	Content jsontext.Value `json:"content"`
	Failed  bool           `json:"is_error"`
}

// Blocks returns the blocks of the message. A plain string is one text block.
func (l *ClaudeLine) Blocks() []ClaudeBlock {
	if l.Message == nil {
		return nil
	}
	content := l.Message.Content
	if content.Kind() == '"' {
		return []ClaudeBlock{{Type: "text", Text: stringOf(content)}}
	}
	var out []ClaudeBlock
	if rawjson.Decode(content, &out) != nil {
		return nil
	}
	return out
}

// entries returns the lines of a part of a transcript that contain a text. A part has thousands of lines, few of which are about one
// call. It skips lines of another format silently.
func entries(raw []byte, with string) []ClaudeLine {
	var out []ClaudeLine
	for line := range bytes.Lines(raw) {
		var e ClaudeLine
		if !bytes.Contains(line, []byte(with)) {
			continue
		}
		if rawjson.Decode(line, &e) == nil && e.Message != nil {
			out = append(out, e)
		}
	}
	return out
}

// Thought is the reasoning and the text of one message of an agent.
type Thought struct {
	Type       string // extended_thinking, or reasoning if there is only text
	Thinking   string
	Summary    string // the text beside the thinking
	Model      string
	Time       time.Time
	CacheRead  int // tokens
	CacheWrite int // tokens
}

// Reasoning returns what the agent thought and said in the message that calls a tool. It returns nil if the transcript does not have the
// call yet, or the message has nothing else. coming says that the call is about to run, so that its message is the last one, if it is
// there at all.
func (path Transcript) Reasoning(toolUse string, coming bool) *Thought {
	if path == "" || toolUse == "" {
		return nil
	}
	f, size, err := openPlain(string(path))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	if size > nearTail {
		raw, err := endOf(f, size, nearTail)
		if err != nil {
			return nil
		}
		t, whole := reasoningIn(raw, toolUse)
		if whole || coming && !bytes.Contains(raw, []byte(toolUse)) && speaks(raw) {
			return t
		}
	}
	raw, err := endOf(f, size, maxTail)
	if err != nil {
		return nil
	}
	t, _ := reasoningIn(raw, toolUse)
	return t
}

// reasoningIn is Reasoning for a part of a transcript. whole reports whether an earlier message comes before the one found, so that the
// message is complete.
func reasoningIn(raw []byte, toolUse string) (t *Thought, whole bool) {
	if !bytes.Contains(raw, []byte(toolUse)) { // usual before a call: its line is written a moment later
		return nil, false
	}
	message := ""
	for _, e := range entries(raw, toolUse) {
		if e.Type != "assistant" {
			continue
		}
		for _, p := range e.Blocks() {
			if p.Type == "tool_use" && p.ID == toolUse {
				message = e.Message.ID
			}
		}
	}
	if message == "" {
		return nil, false
	}
	whole = follows(raw, message)
	all := entries(raw, message)
	var thought, said []string
	out := &Thought{}
	for i := range all {
		m := all[i].Message
		if all[i].Type != "assistant" || m.ID != message {
			continue
		}
		out.Model, out.Time = m.Model, all[i].Timestamp
		if m.Usage.CacheRead+m.Usage.CacheWrite > 0 {
			out.CacheRead, out.CacheWrite = m.Usage.CacheRead, m.Usage.CacheWrite
		}
		for _, p := range all[i].Blocks() {
			if p.Thinking != "" {
				thought = append(thought, p.Thinking)
			}
			if p.Type == "text" && strings.TrimSpace(p.Text) != "" {
				said = append(said, p.Text)
			}
		}
	}
	switch {
	case len(thought) > 0:
		out.Type, out.Thinking, out.Summary = "extended_thinking", strings.Join(thought, "\n"), strings.Join(said, "\n")
	case len(said) > 0:
		out.Type, out.Thinking = "reasoning", strings.Join(said, "\n")
	default:
		return nil, whole
	}
	return out, whole
}

// Task is the arguments of a call that starts a subagent.
type Task struct {
	Prompt string `json:"prompt"`
	Kind   string `json:"subagent_type"`
}

// TaskOf decodes the arguments of a call that starts a subagent. Missing arguments stay empty.
func TaskOf(input jsontext.Value) (t Task) {
	_ = rawjson.Decode(input, &t) // arguments of another type start no subagent that we know
	return t
}

// follows reports whether another message of the agent comes before the first line of a message. The lines of messages are not
// interleaved.
func follows(raw []byte, message string) bool {
	first := max(bytes.Index(raw, []byte(message)), 0)
	return speaks(raw[:bytes.LastIndexByte(raw[:first], '\n')+1])
}

// speaks reports whether a part of a transcript has a line of a message of the agent.
func speaks(raw []byte) bool {
	for len(raw) > 0 {
		i := bytes.LastIndexByte(raw[:len(raw)-1], '\n') + 1
		if e := entries(raw[i:], `"assistant"`); len(e) > 0 && e[0].Type == "assistant" && e[0].Message.ID != "" {
			return true
		}
		raw = raw[:i]
	}
	return false
}

// Prompt returns the prompt in a call that starts a subagent; "" if the transcript does not have the call.
func (path Transcript) Prompt(toolUse string) string {
	if path == "" || toolUse == "" {
		return ""
	}
	raw, err := tail(string(path))
	if err != nil {
		return ""
	}
	for _, e := range entries(raw, toolUse) {
		for _, p := range e.Blocks() {
			if p.Type == "tool_use" && p.ID == toolUse {
				return TaskOf(p.Input).Prompt
			}
		}
	}
	return ""
}

// FirstPrompt returns the first prompt in the transcript of a run or of a subagent; "" if there is no transcript yet.
func (path Transcript) FirstPrompt() string {
	if path == "" {
		return ""
	}
	f, _, err := openPlain(string(path))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxTail))
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(raw) {
		for _, e := range entries(line, "") {
			if e.Type == "user" && e.Message.Role == "user" && !e.Meta {
				var out []string
				for _, p := range e.Blocks() {
					out = append(out, p.Text)
				}
				return strings.Join(out, "\n")
			}
		}
	}
	return ""
}

// StartedBy returns the id of the call that started the subagent of an event; "" if the agent has not noted it yet.
func (e *Event) StartedBy() string { return startedBy(e.ofChild(".meta.json")) }

func startedBy(path string) string {
	if path == "" {
		return ""
	}
	raw, err := tail(path)
	if err != nil {
		return ""
	}
	var note struct {
		ToolUse string `json:"toolUseId"`
	}
	if rawjson.Decode(raw, &note) != nil {
		return ""
	}
	return note.ToolUse
}

// Recent is the end of a run, for people.
type Recent struct {
	Messages []string // the last ones, oldest first, with their role
	Said     string   // what the agent said last
	Tools    []string // used last, oldest first
	APIError bool     // the last message of the agent is an error of its model's API, so the agent gave up there
}

// Recent returns the last n messages of a transcript.
func (path Transcript) Recent(n int) Recent {
	if path == "" {
		return Recent{}
	}
	raw, err := tail(string(path))
	if err != nil {
		return Recent{}
	}
	return recentIn(raw, n)
}

func recentIn(raw []byte, n int) (out Recent) {
	for _, e := range entries(raw, "") {
		if e.Type != "assistant" && e.Type != "user" || e.Meta {
			continue
		}
		if e.Type == "assistant" {
			out.APIError = e.APIError
		}
		for _, p := range e.Blocks() {
			switch {
			case p.Type == "text" && strings.TrimSpace(p.Text) != "":
				out.Messages = append(out.Messages, e.Message.Role+": "+strings.Join(strings.Fields(p.Text), " "))
				if e.Type == "assistant" {
					out.Said = p.Text
				}
			case p.Type == "tool_use":
				out.Messages = append(out.Messages, e.Message.Role+" used "+p.Name)
				out.Tools = append(out.Tools, p.Name)
			}
		}
	}
	out.Messages, out.Tools = lastOf(out.Messages, n), lastOf(out.Tools, n)
	return out
}

func lastOf(list []string, n int) []string { return list[max(0, len(list)-n):] }
