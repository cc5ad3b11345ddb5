// Package agent knows other agents, which no hook of ours governs when a shell starts them, and our own command.
package agent

import "mycelium/internal/shell/program"

// Rows are other agents and our own command, sorted by name.
var Rows = []program.Row{
	{Name: "aider", Parse: start, Agent: true},
	{Name: "amp", Parse: start, Agent: true},
	{Name: "auggie", Parse: start, Agent: true},
	{Name: "chatgpt", Parse: start, Agent: true},
	{Name: "claude", Parse: start, Agent: true},
	{Name: "claude-code", Parse: start, Agent: true},
	{Name: "cline", Parse: start, Agent: true},
	{Name: "codex", Parse: start, Agent: true},
	{Name: "continue-cli", Parse: start, Agent: true},
	{Name: "copilot", Parse: start, Agent: true},
	{Name: "crush", Parse: start, Agent: true},
	{Name: "cursor", Parse: start, Agent: true},
	{Name: "cursor-agent", Parse: start, Agent: true},
	{Name: "droid", Parse: start, Agent: true},
	{Name: "gemini", Parse: start, Agent: true},
	{Name: "gemini-cli", Parse: start, Agent: true},
	{Name: "goose", Parse: start, Agent: true},
	{Name: "interpreter", Parse: start, Agent: true},
	{Name: "kilocode", Parse: start, Agent: true},
	{Name: "kiro", Parse: start, Agent: true},
	{Name: "kiro-cli", Parse: start, Agent: true},
	{Name: "llm", Parse: start, Agent: true},
	{Name: "mods", Parse: start, Agent: true},
	{Name: "myc", Parse: ours, Ours: true},
	{Name: "mycelium", Parse: ours, Ours: true},
	{Name: "mycelium-cli", Parse: ours, Ours: true},
	{Name: "open-interpreter", Parse: start, Agent: true},
	{Name: "opencode", Parse: start, Agent: true},
	{Name: "openhands", Parse: start, Agent: true},
	{Name: "plandex", Parse: start, Agent: true},
	{Name: "q", Parse: start, Agent: true},
	{Name: "qwen", Parse: start, Agent: true},
	{Name: "sgpt", Parse: start, Agent: true},
	{Name: "swe-agent", Parse: start, Agent: true},
}
