package harness

import "github.com/go-json-experiment/json/jsontext"

// Kind is the kind of an event, independent of the agent's name for it.
type Kind string

// The kinds of events. The zero value is an unknown kind, which is treated like an event before a tool.
const (
	PreTool       Kind = "PreToolUse"
	Permission    Kind = "PermissionRequest"
	PostTool      Kind = "PostToolUse"
	Prompt        Kind = "UserPromptSubmit"
	Stop          Kind = "Stop"
	SubagentStart Kind = "SubagentStart"
	SubagentStop  Kind = "SubagentStop"
	SessionStart  Kind = "SessionStart"
	SessionEnd    Kind = "SessionEnd"
	Notification  Kind = "Notification"
	Status        Kind = "Status" // no hook: the agent asks for its status line
)

// Event is one event of an agent in canonical form.
type Event struct {
	Agent          string         `json:"agent"` // claude, codex, gemini or crush
	Kind           Kind           `json:"kind"`
	Name           string         `json:"name,omitempty"`    // the event as the agent calls it
	Fault          string         `json:"fault,omitempty"`   // why its tool call cannot be read: the call is denied and recorded
	Session        string         `json:"session,omitempty"` // the agent's own session id; it selects a run, and authorizes nothing
	Dir            string         `json:"dir,omitempty"`     // working directory
	Transcript     string         `json:"transcript,omitempty"`
	Mode           string         `json:"mode,omitempty"`    // permission mode, by the agent's name
	Tool           string         `json:"tool,omitempty"`    // canonical: agent__Bash, or server__tool of another MCP server
	Native         string         `json:"native,omitempty"`  // the tool by the agent's name
	Server         string         `json:"server,omitempty"`  // the MCP server of the tool, by its name in the agent's configuration
	Command        []string       `json:"command,omitempty"` // how the agent started that server, if it says so
	Input          jsontext.Value `json:"input,omitempty"`   // canonical arguments of the tool
	Sent           jsontext.Value `json:"-"`                 // the arguments as the agent sent them: a hook can give it others of this form
	Ours           bool           `json:"ours,omitzero"`     // Tool belongs to our own gateway, which decides the call itself
	ToolUse        string         `json:"toolUse,omitempty"`
	AgentID        string         `json:"agentId,omitempty"` // of a subagent
	AgentType      string         `json:"agentType,omitempty"`
	Text           string         `json:"text,omitempty"`     // the text of a prompt, a notification or a stop
	Response       jsontext.Value `json:"response,omitempty"` // of PostToolUse
	Failed         bool           `json:"failed,omitzero"`    // of PostToolUse: the tool reported an error
	DurationMs     int64          `json:"durationMs,omitzero"`
	StopHookActive bool           `json:"stopHookActive,omitzero"` // of a stop: a hook made the agent continue before
	Reason         string         `json:"reason,omitempty"`        // of SessionStart and SessionEnd
	Interactive    bool           `json:"interactive,omitzero"`    // a person sits at the agent's own terminal
	Pane           string         `json:"pane,omitempty"`          // tmux pane, from TMUX_PANE
	Tmux           string         `json:"tmux,omitempty"`          // tmux server, from TMUX
	Prefix         string         `json:"prefix,omitempty"`        // the program that stands before the commands of its shell
	Parent         int            `json:"parent,omitzero"`         // the process that started the hook; 0: not known
	Deadline       int64          `json:"deadline,omitzero"`       // milliseconds left for the answer
}

// Precedes reports whether a tool runs after an event of this kind unless we object. It does so for an unknown kind.
func (k Kind) Precedes() bool {
	switch k {
	case PostTool, Prompt, Stop, SubagentStart, SubagentStop, SessionStart, SessionEnd, Notification, Status:
		return false
	default:
		return true
	}
}

// Verdict is the answer of a hook to an event before a tool.
type Verdict string

// The verdicts. The zero value denies before a tool, and has no meaning elsewhere.
const (
	Deny  Verdict = ""
	Ask   Verdict = "ask"   // the agent's own terminal asks
	Allow Verdict = "allow" //
	Pass  Verdict = "pass"  // no opinion: the agent acts as it would without the hook
)

// Answer is the answer to an event in canonical form.
type Answer struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"`  // for the agent
	Message string  `json:"message,omitempty"` // for the person at the agent's terminal; of [Status], the line
	Context string  `json:"context,omitempty"` // for the agent's model
	Block   bool    `json:"block,omitzero"`    // of a stop: the agent continues, for Reason
	Halt    bool    `json:"halt,omitzero"`     // the agent ends here, for Reason
	Command string  `json:"command,omitempty"` // of [Allow]: the command that runs in the place of the agent's, if the agent takes one
	Ending  bool    `json:"-"`                 // a denial, because the daemon ended while somebody was asked: the next daemon asks again
}
