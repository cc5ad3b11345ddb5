package hook

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
)

// MaxInput bounds one event on standard input, in bytes. A tool call that is longer is denied: the agents' own limits are far below.
const MaxInput = 8 << 20

// dialect is how one agent tells its events, and how it wants them answered.
type dialect struct {
	events []eventName
	limit  time.Duration // how long the agent waits for a hook whose entry names no time-out
	answer func(e Event, a Answer) reply
}

// eventName is an event as the agent calls it, and what it is in our words.
type eventName struct {
	name string
	kind Kind
}

// reply is what the command prints, and how it ends.
type reply struct {
	stdout []byte
	stderr string
	exit   int
}

// block is the exit code by which a hook of any of these agents blocks what comes next.
const block = 2

func dialectOf(agent string) (dialect, bool) {
	switch agent {
	case "claude":
		return claude, true
	case "codex":
		return codex, true
	case "gemini":
		return gemini, true
	case "crush":
		return crush, true
	}
	return dialect{}, false
}

// Agents are the agents whose hooks we speak, in the order of the documentation.
func Agents() []string { return []string{"claude", "codex", "gemini", "crush"} }

// Events are the names of the events that an agent has and that we answer, as its configuration spells them; nil for an unknown agent.
func Events(agent string) []string {
	d, _ := dialectOf(agent)
	var names []string
	for _, e := range d.events {
		names = append(names, e.name)
	}
	return names
}

// KindOf is what an agent's event is in our words; "" for one that we do not know.
func KindOf(agent, event string) Kind {
	d, _ := dialectOf(agent)
	for _, e := range d.events {
		if e.name == event {
			return e.kind
		}
	}
	return ""
}

// Limit is how long an agent waits for a hook whose entry names no time-out of its own.
func Limit(agent string) time.Duration {
	d, _ := dialectOf(agent)
	return d.limit
}

// wire is an event on standard input. The four agents name what they share alike; what one of them does not send stays empty. Members
// that we do not know are let be, since every version adds some.
type wire struct {
	HookEventName        string         `json:"hook_event_name"`
	Event                string         `json:"event"` // crush
	SessionID            string         `json:"session_id"`
	TranscriptPath       *string        `json:"transcript_path"`
	Cwd                  string         `json:"cwd"`
	PermissionMode       string         `json:"permission_mode"`
	ToolName             string         `json:"tool_name"`
	ToolInput            jsontext.Value `json:"tool_input"`
	ToolUseID            string         `json:"tool_use_id"`
	ToolResponse         jsontext.Value `json:"tool_response"`
	Error                jsontext.Value `json:"error"`
	DurationMs           jsontext.Value `json:"duration_ms"`
	AgentID              string         `json:"agent_id"`
	AgentType            string         `json:"agent_type"`
	Prompt               jsontext.Value `json:"prompt"`
	PromptResponse       jsontext.Value `json:"prompt_response"`
	LastAssistantMessage jsontext.Value `json:"last_assistant_message"`
	Message              jsontext.Value `json:"message"`
	StopHookActive       bool           `json:"stop_hook_active"`
	Source               jsontext.Value `json:"source"`
	Reason               jsontext.Value `json:"reason"`
	MCP                  *struct {
		Server  string   `json:"server_name"`
		Tool    string   `json:"tool_name"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	} `json:"mcp_context"` // Gemini
}

// Read reads one event of an agent. event is the name that the agent's configuration pins, or "". Whatever could be told of the event
// is filled in even with an error, its kind above all: it decides how the failure is answered.
func Read(agent, event string, stdin []byte) (Event, error) {
	e := Event{Agent: agent, Name: event, Kind: KindOf(agent, event)}
	switch {
	case Limit(agent) == 0:
		return e, fmt.Errorf("no agent %q: there are %s", agent, strings.Join(Agents(), ", "))
	case event != "" && e.Kind == "":
		return e, fmt.Errorf("%s has no event %q that this hook answers", agent, event)
	case len(stdin) > MaxInput:
		return e, fmt.Errorf("the event is longer than %d bytes", MaxInput)
	}
	var w wire
	if err := json.Unmarshal(stdin, &w); err != nil {
		return e, fmt.Errorf("the event cannot be read: %w", jsonFault(err))
	}
	if name := rawjson.RepeatedName(stdin, maxMembers); name != "" {
		return e, fmt.Errorf("the event has the member %s twice, in other letters", bounded(name, maxName))
	}
	name := w.HookEventName
	if name == "" {
		name = w.Event
	}
	if name == "" {
		name = event
	}
	kind := KindOf(agent, name)
	switch {
	case event == "":
		e.Name, e.Kind = name, kind
	case kind != e.Kind: // one of the two is wrong: the one that a tool may follow counts
		if kind.Precedes() && !e.Kind.Precedes() {
			e.Kind = kind
		}
		return e, fmt.Errorf("the entry in %s's configuration is for %s, and the event says that it is %s", agent, event, bounded(name, maxName))
	default:
		e.Name = name
	}
	if e.Kind == "" {
		return e, fmt.Errorf("%s has no event %q that this hook answers", agent, bounded(name, maxName))
	}
	if err := e.fill(&w); err != nil {
		return e, err
	}
	return e, e.complete()
}

// fill takes over what an event says.
func (e *Event) fill(w *wire) error {
	e.Session, e.Dir, e.Mode, e.ToolUse, e.AgentID, e.AgentType = w.SessionID, w.Cwd, w.PermissionMode, w.ToolUseID, w.AgentID, w.AgentType
	if w.TranscriptPath != nil {
		e.Transcript = *w.TranscriptPath
	}
	e.Again = w.StopHookActive
	switch e.Kind {
	case PreTool, Permission, PostTool:
		if err := e.canonical(w); err != nil {
			return err
		}
		e.Response = w.ToolResponse
		e.DurationMs = number(w.DurationMs)
		e.Failed = e.Name == "PostToolUseFailure" || len(w.Error) > 0 && string(w.Error) != "null"
		if e.Failed && len(e.Response) == 0 {
			e.Response = w.Error
		}
	case Prompt:
		e.Text = text(w.Prompt)
	case Notification:
		e.Text = text(w.Message)
	case Stop, SubagentStop:
		e.Text = text(w.LastAssistantMessage) + text(w.PromptResponse)
	case SessionStart:
		e.Reason = text(w.Source)
	case SessionEnd:
		e.Reason = text(w.Reason)
	case SubagentStart:
	}
	return nil
}

// complete wants what a decision needs.
func (e *Event) complete() error {
	switch {
	case e.Kind != PreTool && e.Kind != Permission:
		return nil
	case e.Native == "":
		return errors.New("the event names no tool")
	case e.Input.Kind() != '{':
		return errors.New("the arguments of the tool are no object")
	}
	return nil
}

// Write puts an answer into the agent's dialect. An answer to an event that a tool follows denies unless it says otherwise.
func Write(e Event, a Answer) (stdout []byte, stderr string, exit int) {
	a.Reason, a.Message, a.Context = bounded(a.Reason, maxText), bounded(a.Message, maxText), bounded(a.Context, maxText)
	if e.Kind.Precedes() && a.Verdict != Allow && a.Verdict != Ask && a.Verdict != Pass {
		a.Verdict = Deny
		if strings.TrimSpace(a.Reason) == "" {
			a.Reason = "Mycelium denied this call and gave no reason." // Codex takes no denial without one
		}
	}
	if (a.Block || a.Halt) && strings.TrimSpace(a.Reason) == "" {
		a.Reason = "Mycelium says so, and gave no reason."
	}
	d, ok := dialectOf(e.Agent)
	if !ok || e.Kind == "" {
		return unknownEvent(a).parts()
	}
	return d.answer(e, a).parts()
}

// cannotAsk is a question as a denial, for an agent whose hooks cannot make it ask its person.
func cannotAsk(a Answer, agent string) Answer {
	a.Verdict = Deny
	if a.Reason != "" {
		a.Reason += "; "
	}
	a.Reason += "an approval is needed, and " + agent + " cannot be told to ask for it, so it is denied"
	return a
}

func (r reply) parts() ([]byte, string, int) { return r.stdout, r.stderr, r.exit }

// unknownEvent blocks by the means that all agents have: exit code 2 with the reason on stderr.
func unknownEvent(a Answer) reply {
	reason := a.Reason
	if reason == "" {
		reason = "Mycelium does not know this event, so what follows it is denied."
	}
	return reply{stderr: reason, exit: block}
}

// The bounds of what others wrote, in characters: Claude Code caps strings of hooks at 10,000.
const (
	maxText = 9500
	maxName = 200
)

// bounded cuts a text to n characters.
func bounded(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// text is the string that a JSON value is, or "".
func text(v jsontext.Value) string {
	var s string
	if len(v) == 0 || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// number is the whole number that a JSON value comes to, or 0.
func number(v jsontext.Value) int64 {
	var f float64
	if len(v) == 0 || json.Unmarshal(v, &f) != nil || f < 0 || f > 1e12 {
		return 0
	}
	return int64(f)
}

// jsonFault is what is wrong with a JSON text, without the Go in it.
func jsonFault(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	var wrong *json.SemanticError
	if errors.As(err, &wrong) && wrong.JSONPointer != "" {
		return fmt.Errorf("%q has a value of the wrong kind", wrong.JSONPointer.LastToken())
	}
	return errors.New("it is no JSON object")
}

// object is one JSON object of an answer; members that say nothing are left out.
func object(v any) []byte {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil { // plain structs of strings: a text that is no UTF-8 is all that can be wrong
		return nil
	}
	return append(raw, '\n')
}
