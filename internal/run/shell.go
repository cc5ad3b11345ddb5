package run

import (
	"context"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
)

// Shell is the program that stands before the shell of an agent and runs only what was admitted.
type Shell interface {
	// Governs reports whether the program that an agent starts before its shell is this one, for a session.
	Governs(session, prefix string) bool
	// Unbound says why no sandbox holds on this machine; "" if it holds.
	Unbound(ctx context.Context) string
	// Admit lets a command run once, in a folder and in the sandbox of a profile; "" is outside.
	Admit(session, toolUse, command, dir, profile string) error
}

// governs reports whether the shell of an event's agent runs only what was admitted.
func (g *Registry) governs(s *session.Session, e harness.Event) bool {
	return g.Shell != nil && e.Prefix != "" && g.Shell.Governs(s.ID, e.Prefix)
}

// unbound returns what says why a call cannot run in a sandbox; nil for a call that is no command of a shell which we govern.
func (g *Registry) unbound(s *session.Session, e harness.Event) func(context.Context) string {
	if commandOf(e) == "" || !g.governs(s, e) {
		return nil
	}
	return g.Shell.Unbound
}

// letRun lets the shell of an agent run the command of a call. If it cannot be told, the shell refuses the command.
func (g *Registry) letRun(s *session.Session, e harness.Event, profile string) {
	command := commandOf(e)
	if e.Kind != harness.PreTool || command == "" || !g.governs(s, e) {
		return
	}
	if err := g.Shell.Admit(s.ID, e.ToolUse, command, e.Dir, profile); err != nil {
		g.Logger.Error("an admitted command will not run", "session", s.ID, "error", err)
	}
}

// commandOf returns the command for a shell that a call of the agent's own tool brings; "" if it brings none.
func commandOf(e harness.Event) string {
	if e.Server != "" { // of another MCP server
		return ""
	}
	var input struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(e.Input, &input) != nil {
		return ""
	}
	return input.Command
}
