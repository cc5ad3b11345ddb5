package hook

import "time"

// crush is Charm's crush (internal/hooks of its repository): one event, which does not come for the tools of its sub-agents.
var crush = dialect{
	events: []eventName{{"PreToolUse", PreTool}},
	limit:  30 * time.Second,
	answer: answerCrush,
}

// crushOutput is what crush reads from a hook.
type crushOutput struct {
	Version  int    `json:"version"`
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"context,omitempty"`
	Halt     bool   `json:"halt,omitzero"`
}

func answerCrush(_ Event, a Answer) reply {
	out := crushOutput{Version: 1, Context: a.Context, Halt: a.Halt}
	switch a.Verdict {
	case Allow:
		out.Decision = "allow"
	case Pass:
	case Ask:
		out.Decision, out.Reason = "deny", cannotAsk(a, "crush").Reason
	default:
		out.Decision, out.Reason = "deny", a.Reason
	}
	if a.Halt {
		out.Reason = a.Reason
	}
	if out == (crushOutput{Version: 1}) {
		return reply{stderr: a.Message}
	}
	return reply{stdout: object(out), stderr: a.Message}
}
