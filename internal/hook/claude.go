package hook

import "time"

// claude is Claude Code. The format is that of its documentation of hooks and of what version 2.1.197 and later do.
var claude = dialect{
	events: []eventName{
		{"PreToolUse", PreTool}, {"PermissionRequest", Permission}, {"PostToolUse", PostTool}, {"PostToolUseFailure", PostTool},
		{"UserPromptSubmit", Prompt}, {"Stop", Stop}, {"SubagentStart", SubagentStart}, {"SubagentStop", SubagentStop},
		{"SessionStart", SessionStart}, {"SessionEnd", SessionEnd}, {"Notification", Notification},
	},
	limit:  600 * time.Second,
	answer: answerClaude,
}

// claudeOutput is what Claude Code reads from a hook; Codex reads the same with fewer of its values.
type claudeOutput struct {
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Specific      *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

// claudeSpecific is the part that depends on the event.
type claudeSpecific struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Behavior *claudeBehavior `json:"decision,omitempty"`
	Context  string          `json:"additionalContext,omitempty"`
}

// claudeBehavior answers a PermissionRequest.
type claudeBehavior struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt bool   `json:"interrupt,omitzero"`
}

func answerClaude(e Event, a Answer) reply {
	out := claudeOutput{SystemMessage: a.Message}
	specific := claudeSpecific{Event: e.Name, Context: a.Context}
	if a.Halt {
		no := false
		out.Continue, out.StopReason = &no, a.Reason
	}
	switch e.Kind {
	case PreTool:
		if word := verdictWord(a.Verdict); word != "" {
			specific.Decision, specific.Reason = word, a.Reason
		}
	case Permission:
		specific.Context = "" // it has no such member
		switch a.Verdict {
		case Allow:
			specific.Behavior = &claudeBehavior{Behavior: "allow"}
		case Ask, Pass: // its own dialog goes on
		default:
			specific.Behavior = &claudeBehavior{Behavior: "deny", Message: a.Reason, Interrupt: a.Halt}
		}
	case PostTool, Prompt:
		if a.Block {
			out.Decision, out.Reason = "block", a.Reason
		}
	case Stop, SubagentStop:
		specific.Context = ""
		if a.Block {
			out.Decision, out.Reason = "block", a.Reason
		}
	case SessionEnd, Notification:
		specific.Context = ""
	case SubagentStart, SessionStart:
	}
	if specific != (claudeSpecific{Event: e.Name}) {
		out.Specific = &specific
	}
	if out == (claudeOutput{}) {
		return reply{}
	}
	return reply{stdout: object(out)}
}

// verdictWord is a verdict in the words of PreToolUse; "" for no opinion.
func verdictWord(v Verdict) string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Pass:
		return ""
	default:
		return "deny"
	}
}
