package harness

import "github.com/go-json-experiment/json/jsontext"

// Kind is what an event is about, whatever its agent calls it.
type Kind string

// The kinds of events. The zero value is one that is not known: it is treated as if a tool came after it.
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
)

// Event is one event of an agent in our words. It travels from the command to the daemon.
type Event struct {
	Agent       string         `json:"agent"` // claude, codex, gemini or crush
	Kind        Kind           `json:"kind"`
	Name        string         `json:"name,omitempty"`    // the event as the agent calls it
	Fault       string         `json:"fault,omitempty"`   // why its tool call cannot be read: it is denied and recorded, whatever else it says
	Session     string         `json:"session,omitempty"` // the agent's own session id: a selector, never an authority
	Dir         string         `json:"dir,omitempty"`     // working directory
	Transcript  string         `json:"transcript,omitempty"`
	Mode        string         `json:"mode,omitempty"`    // permission mode, as the agent calls it
	Tool        string         `json:"tool,omitempty"`    // canonical: agent__Bash, or server__tool of another MCP server
	Native      string         `json:"native,omitempty"`  // as the agent called it
	Server      string         `json:"server,omitempty"`  // the MCP server whose tool it is, as the agent's configuration calls it
	Command     []string       `json:"command,omitempty"` // how the agent started that server, where it says so
	Input       jsontext.Value `json:"input,omitempty"`   // canonical arguments of the tool
	Ours        bool           `json:"ours,omitzero"`     // Tool is one of our own gateway's, which decides about the call itself
	ToolUse     string         `json:"toolUse,omitempty"`
	AgentID     string         `json:"agentId,omitempty"` // of a subagent
	AgentType   string         `json:"agentType,omitempty"`
	Text        string         `json:"text,omitempty"`     // of a prompt, a notification, a stop: its words
	Response    jsontext.Value `json:"response,omitempty"` // of PostToolUse
	Failed      bool           `json:"failed,omitzero"`    // of PostToolUse: the tool reported an error
	DurationMs  int64          `json:"durationMs,omitzero"`
	Again       bool           `json:"again,omitzero"`       // of a stop: stop_hook_active
	Reason      string         `json:"reason,omitempty"`     // of SessionStart and SessionEnd
	Interactive bool           `json:"interactive,omitzero"` // a person sits at the agent's own terminal
	Pane        string         `json:"pane,omitempty"`       // tmux pane, from TMUX_PANE
	Tmux        string         `json:"tmux,omitempty"`       // tmux server, from TMUX
	Deadline    int64          `json:"deadline,omitzero"`    // milliseconds that the answer may take
}

// Precedes reports whether a tool runs after an event of this kind unless we object. Of one that is not known we assume it.
func (k Kind) Precedes() bool {
	switch k {
	case PostTool, Prompt, Stop, SubagentStart, SubagentStop, SessionStart, SessionEnd, Notification:
		return false
	default:
		return true
	}
}

// Verdict is what a hook answers to an event that precedes a tool.
type Verdict string

// The verdicts. The zero value denies where an event precedes a tool, and says nothing elsewhere.
const (
	Deny  Verdict = ""
	Ask   Verdict = "ask"   // the agent's own terminal shall ask
	Allow Verdict = "allow" //
	Pass  Verdict = "pass"  // no opinion: the agent goes on as it would without us
)

// Answer is the answer to an event, in our words.
type Answer struct {
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"`  // for the agent
	Message string  `json:"message,omitempty"` // for the person at the agent's terminal
	Context string  `json:"context,omitempty"` // what the agent's model reads besides
	Block   bool    `json:"block,omitzero"`    // of a stop: go on, for Reason
	Halt    bool    `json:"halt,omitzero"`     // the agent shall end here, for Reason
}
