package hook

import "time"

// gemini is Google's Gemini CLI (docs/hooks/reference.md of its repository). It has names of its own for the events.
var gemini = dialect{
	events: []eventName{
		{"BeforeTool", PreTool}, {"AfterTool", PostTool}, {"BeforeAgent", Prompt}, {"AfterAgent", Stop},
		{"SessionStart", SessionStart}, {"SessionEnd", SessionEnd}, {"Notification", Notification},
	},
	limit:  60 * time.Second,
	answer: answerGemini,
}

// geminiOutput is what Gemini CLI reads from a hook.
type geminiOutput struct {
	Continue      *bool           `json:"continue,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
	Decision      string          `json:"decision,omitempty"`
	Reason        string          `json:"reason,omitempty"`
	Specific      *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
}

func answerGemini(e Event, a Answer) reply {
	out := geminiOutput{SystemMessage: a.Message}
	if a.Halt {
		no := false
		out.Continue, out.StopReason = &no, a.Reason
	}
	switch e.Kind {
	case PreTool:
		switch a.Verdict {
		case Allow:
			out.Decision = "allow"
		case Pass:
		case Ask:
			out.Decision, out.Reason = "deny", cannotAsk(a, "Gemini CLI").Reason
		default:
			out.Decision, out.Reason = "deny", a.Reason
		}
	case PostTool, Prompt, Stop:
		if a.Block {
			out.Decision, out.Reason = "deny", a.Reason
		}
		if a.Context != "" && e.Kind != Stop {
			out.Specific = &geminiSpecific{Event: e.Name, Context: a.Context}
		}
	case SessionStart:
		if a.Context != "" {
			out.Specific = &geminiSpecific{Event: e.Name, Context: a.Context}
		}
	default: // the others only carry a message
	}
	if out == (geminiOutput{}) {
		return reply{}
	}
	return reply{stdout: object(out)}
}
