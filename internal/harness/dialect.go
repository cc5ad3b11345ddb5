package harness

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/rawjson"
	"mycelium/internal/text"
)

// MaxInput bounds one event on standard input, in bytes. A longer tool call is denied; the agents' own limits are far below.
const MaxInput = 8 << 20

// eventName maps an agent's name of an event to its kind.
type eventName struct {
	name string
	kind Kind
}

// reply is the output and the exit code of the hook.
type reply struct {
	stdout []byte
	stderr string
	exit   int
}

// Block is the exit code with which a hook blocks a tool. It is the same for all agents.
const Block = 2

// Unanswered is the reason of a denial, on stderr, where no answer can be given; the exit code is then [Block]. Codex ignores a hook that
// exits with it and gives no reason.
const Unanswered = "Mycelium denied this call: the hook could not give its answer. Nothing ran."

// wire is an event on standard input. The four agents use the same names for what they share; members that an agent does not send stay
// empty. Unknown members are ignored, because every version adds some.
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

// Read reads one event of an agent. event is the name that the agent's configuration pins, or "". With an error, the Event still has all
// that could be read, in particular the kind, which decides the form of the answer.
func Read(agent, event string, stdin []byte) (Event, error) {
	a, known := Named(agent)
	e := Event{Agent: agent, Name: event, Kind: a.Kind(event)}
	switch {
	case !known:
		return e, fmt.Errorf("unknown agent %q: the known agents are %s", agent, strings.Join(Names(), ", "))
	case event != "" && e.Kind == "":
		return e, fmt.Errorf("%s has no event %q that this hook answers", agent, event)
	case len(stdin) > MaxInput:
		return e, fmt.Errorf("the event is longer than %d bytes", MaxInput)
	}
	var w wire
	if err := rawjson.Decode(stdin, &w); err != nil {
		return e, fmt.Errorf("the event cannot be read: %w", jsonFault(err))
	}
	if name := rawjson.RepeatedName(stdin, maxMembers); name != "" {
		return e, fmt.Errorf("the event has the member %s twice, in different case", text.TruncateRunes(name, maxName))
	}
	name := w.HookEventName
	if name == "" {
		name = w.Event
	}
	if name == "" {
		name = event
	}
	kind := a.Kind(name)
	switch {
	case event == "" && kind == Status: // an event must not choose an answer that no tool waits for
		return e, fmt.Errorf("the status line of %s is only for an entry with --event %s", a.Title, a.StatusLine.Event)
	case event == "":
		e.Name, e.Kind = name, kind
	case kind != e.Kind: // one of the two is wrong: take the one before a tool
		if kind.Precedes() && !e.Kind.Precedes() {
			e.Kind = kind
		}
		return e, fmt.Errorf("the entry in %s's configuration is for %s, and the event says that it is %s", agent, event,
			text.TruncateRunes(name, maxName))
	default:
		e.Name = name
	}
	if e.Kind == "" {
		return e, fmt.Errorf("%s has no event %q that this hook answers", agent, text.TruncateRunes(name, maxName))
	}
	if err := e.fill(&a, &w); err != nil {
		return e, err
	}
	return e, e.complete()
}

// fill copies the members of an event.
func (e *Event) fill(a *Agent, w *wire) error {
	e.Session, e.Dir, e.Mode, e.ToolUse, e.AgentID, e.AgentType = w.SessionID, w.Cwd, w.PermissionMode, w.ToolUseID, w.AgentID, w.AgentType
	if w.TranscriptPath != nil {
		e.Transcript = *w.TranscriptPath
	}
	e.StopHookActive = w.StopHookActive
	switch e.Kind {
	case PreTool, Permission, PostTool:
		e.Sent = w.ToolInput
		if err := e.canonical(a, w); err != nil {
			return err
		}
		e.Response = w.ToolResponse
		e.DurationMs = number(w.DurationMs)
		e.Failed = e.Name == "PostToolUseFailure" || len(w.Error) > 0 && string(w.Error) != "null"
		if e.Failed && len(e.Response) == 0 {
			e.Response = w.Error
		}
	case Prompt:
		e.Text = stringOf(w.Prompt)
	case Notification:
		e.Text = stringOf(w.Message)
	case Stop, SubagentStop:
		e.Text = stringOf(w.LastAssistantMessage) + stringOf(w.PromptResponse)
	case SessionStart:
		e.Reason = stringOf(w.Source)
	case SessionEnd:
		e.Reason = stringOf(w.Reason)
	case SubagentStart, Status:
	}
	return nil
}

// complete returns an error if the event lacks what a decision needs.
func (e *Event) complete() error {
	switch {
	case e.Kind != PreTool && e.Kind != Permission:
		return nil
	case e.Native == "":
		return errors.New("the event names no tool")
	case e.Input.Kind() != '{':
		return errors.New("the arguments of the tool are not a JSON object")
	}
	return e.named()
}

// Write writes an answer in the agent's dialect; that to [Status] is a line of text. Before a tool, an answer without a verdict denies.
// Texts may be anything: what is not UTF-8 in them, such as the name of a file, is replaced.
func Write(e Event, a Answer) (stdout []byte, stderr string, exit int) {
	for _, s := range []*string{&a.Reason, &a.Message, &a.Context} {
		*s = text.TruncateRunes(strings.ToValidUTF8(*s, "\uFFFD"), maxText)
	}
	if e.Kind.Precedes() && a.Verdict != Allow && a.Verdict != Ask && a.Verdict != Pass {
		a.Verdict = Deny
		if strings.TrimSpace(a.Reason) == "" {
			a.Reason = "Mycelium denied this call and gave no reason." // Codex ignores a denial without a reason
		}
	}
	if a.Command != "" && e.otherInput(a.Command) == nil {
		a = Answer{Verdict: Deny, Reason: "Mycelium cannot put its own command into the place of this one. Nothing ran."}
	}
	if (a.Block || a.Halt) && strings.TrimSpace(a.Reason) == "" {
		a.Reason = "Mycelium gave no reason."
	}
	if e.Kind == Status {
		return statusLine(a), "", 0
	}
	agent, ok := Named(e.Agent)
	if !ok || e.Kind == "" {
		return unknownEvent(a).parts()
	}
	return agent.answer(e, a).parts()
}

// otherInput returns the arguments of a call as the agent sent them, but with another command; nil if they have none.
func (e Event) otherInput(command string) jsontext.Value {
	for name := range rawjson.Members(e.Sent) {
		if name == "command" {
			return rawjson.Set(e.Sent, name, rawjson.Quote(command))
		}
	}
	return nil
}

// cannotAsk turns a question into a denial, for an agent whose hooks cannot ask its person.
func cannotAsk(a Answer, agent string) Answer {
	a.Verdict = Deny
	if a.Reason != "" {
		a.Reason += "; "
	}
	a.Reason += "an approval is needed, and " + agent + " cannot be told to ask for it, so it is denied"
	return a
}

func (r reply) parts() ([]byte, string, int) { return r.stdout, r.stderr, r.exit }

// unknownEvent blocks as all agents understand it: exit code 2 with the reason on stderr.
func unknownEvent(a Answer) reply {
	reason := a.Reason
	if reason == "" {
		reason = "Mycelium does not know this event and denies what follows."
	}
	return reply{stderr: reason, exit: Block}
}

// The bounds of foreign texts, in characters. Claude Code cuts the strings of hooks at 10,000.
const (
	maxText = 9500
	maxName = 200
)

// stringOf returns the value of a JSON string, or "".
func stringOf(v jsontext.Value) string {
	var s string
	if len(v) == 0 || rawjson.Decode(v, &s) != nil {
		return ""
	}
	return s
}

// number returns the integer part of a JSON number, or 0.
func number(v jsontext.Value) int64 {
	var f float64
	if len(v) == 0 || rawjson.Decode(v, &f) != nil || f < 0 || f > 1e12 {
		return 0
	}
	return int64(f)
}

// jsonFault describes a JSON error without the words of Go.
func jsonFault(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	if errors.Is(err, rawjson.ErrTooDeep) {
		return err
	}
	var wrong *json.SemanticError
	if errors.As(err, &wrong) && wrong.JSONPointer != "" {
		return fmt.Errorf("%q has a value of the wrong kind", wrong.JSONPointer.LastToken())
	}
	return errors.New("it is not a JSON object")
}

// object returns the answer that is one JSON object; empty members are left out. An object that cannot be encoded, which does not happen
// because every text is UTF-8, blocks.
func object(v any) reply {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return reply{stderr: Unanswered, exit: Block}
	}
	return reply{stdout: append(raw, '\n')}
}
