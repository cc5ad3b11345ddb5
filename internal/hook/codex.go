package hook

import "time"

// codex is OpenAI's Codex CLI. It reads Claude Code's format with fewer values, and ignores an answer that has any other: a bare
// allow, an ask, continue:false before a tool (codex-rs/hooks/src/engine/output_parser.rs). Such an answer would let the tool run,
// so what it cannot say is a denial here.
var codex = dialect{
	events: []eventName{
		{"PreToolUse", PreTool}, {"PermissionRequest", Permission}, {"PostToolUse", PostTool}, {"UserPromptSubmit", Prompt}, {"Stop", Stop},
		{"SubagentStart", SubagentStart}, {"SubagentStop", SubagentStop}, {"SessionStart", SessionStart}, {"SessionEnd", SessionEnd},
	},
	limit:  600 * time.Second,
	answer: answerCodex,
}

func answerCodex(e Event, a Answer) reply {
	switch e.Kind {
	case PreTool:
		a.Halt, a.Context = false, "" // older versions ignore a denial that comes with a context
		switch a.Verdict {
		case Allow, Pass: // silence allows; its own sandbox and approvals come after it
			a.Verdict, a.Reason = Pass, ""
		case Ask:
			a = cannotAsk(a, "Codex")
		default:
		}
	case Permission:
		a.Halt = false
	case SessionEnd:
		return reply{stderr: a.Message}
	default:
	}
	return answerClaude(e, a)
}
