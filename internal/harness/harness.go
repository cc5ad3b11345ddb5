// Package harness finds, configures and drives the coding agents that are installed on this machine: Claude Code, Codex, Gemini CLI,
// crush.
package harness
