package harness

import (
	"path/filepath"
	"time"
)

// crush is Charm's crush (internal/hooks of its repository): one event, which does not come for the tools of its sub-agents.
var crush = Agent{
	Name: "crush", Title: "Crush", Package: "@charmland/crush",
	Marks: []string{"CRUSH"}, ProjectVar: "CRUSH_PROJECT_DIR",
	configVar: "XDG_CONFIG_HOME", configDir: ".config/crush", movedDir: "crush",
	files: func(own, project string) Files {
		if project != "" {
			return Files{Hooks: firstThere(filepath.Join(project, "crush.json"), filepath.Join(project, ".crush.json"))}
		}
		return Files{Hooks: filepath.Join(own, "crush.json")}
	},
	Limit:  30 * time.Second,
	events: []eventName{{"PreToolUse", PreTool}},
	answer: answerCrush,
	tools: []toolName{ // version 0.96.1
		{"bash", "Bash", "command>@command working_dir>@dir"},
		{"view", "Read", ""},
		{"edit", "Edit", ""},
		{"multiedit", "MultiEdit", ""},
		{"write", "Write", ""},
		{"glob", "Glob", ""},
		{"grep", "Grep", ""},
		{"ls", "LS", ""},
		{"fetch", "WebFetch", ""},
		{"agentic_fetch", "WebFetch", ""},
		{"web_fetch", "WebFetch", ""},
		{"web_search", "WebSearch", ""},
		{"todos", "TodoWrite", ""},
		{"agent", "Task", ""},
		{"job_output", "BashOutput", ""},
		{"job_kill", "KillShell", ""},
		{"download", "Download", ""},
		{"lsp_diagnostics", "LSP", ""},
		{"lsp_references", "LSP", ""},
		{"list_mcp_resources", "ListMcpResourcesTool", ""},
		{"read_mcp_resource", "ReadMcpResourceTool", ""},
	},
	oneUnderscore: true,
	Hooks:         Hooks{Comments: true, Flat: true, unit: time.Second},
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
	r := object(out)
	if r.stderr == "" {
		r.stderr = a.Message
	}
	return r
}
