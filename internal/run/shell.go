package run

import (
	"context"
	"log/slog"

	"github.com/go-json-experiment/json"

	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy/box"
)

// Shell is the program that stands before the shell of an agent and runs only what was admitted.
type Shell interface {
	// Governs reports whether the program that an agent starts before its shell is this one, for a session.
	Governs(session, prefix string) bool
	// Unbound says why no sandbox holds on this machine; "" if it holds.
	Unbound(ctx context.Context) string
	// Admit lets a command run once, in a folder and in a sandbox; the zero value is outside.
	Admit(session, toolUse, command, dir string, in box.Box) error
}

// admits hands calls to the shell of an agent, if that shell runs only what was admitted.
type admits struct {
	Shell  // may be nil
	logger *slog.Logger
}

// governs reports whether the shell of an event's agent runs only what was admitted.
func (a admits) governs(s *session.Session, e harness.Event) bool {
	return a.Shell != nil && e.Prefix != "" && a.Governs(s.ID, e.Prefix)
}

// unbound returns what says why a call cannot run in a sandbox; nil for a call that is no command of a shell which we govern.
func (a admits) unbound(s *session.Session, e harness.Event) func(context.Context) string {
	if commandOf(e) == "" || !a.governs(s, e) {
		return nil
	}
	return a.Unbound
}

// letRun lets the shell of an agent run the command of a call. If it cannot be told, the shell refuses the command.
func (a admits) letRun(s *session.Session, e harness.Event, in box.Box) {
	command := commandOf(e)
	if e.Kind != harness.PreTool || command == "" || !a.governs(s, e) {
		return
	}
	if err := a.Admit(s.ID, e.ToolUse, command, e.Dir, in); err != nil {
		a.logger.Error("an admitted command will not run", "session", s.ID, "error", err)
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
