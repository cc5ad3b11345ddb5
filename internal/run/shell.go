package run

import (
	"context"
	"log/slog"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
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
	// Admit lets a command run once, in a folder and in a sandbox with more than that; the zero value is outside.
	Admit(session, toolUse, command, dir string, in box.Box, more approval.Lacked) error
	// Lacked returns what a command lacked when it last ran in a folder in the sandbox.
	Lacked(session, command, dir string) approval.Lacked
	// Settle says how the question was answered whether a command gets what it lacked.
	Settle(session, command, dir string, l approval.Lacked, allowed bool, answer approval.For) error
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
func (a admits) letRun(s *session.Session, e harness.Event, in box.Box, more approval.Lacked) {
	command := commandOf(e)
	if e.Kind != harness.PreTool || command == "" || !a.governs(s, e) {
		return
	}
	if err := a.Admit(s.ID, e.ToolUse, command, e.Dir, in, more); err != nil {
		a.logger.Error("an admitted command will not run", "session", s.ID, "error", err)
	}
}

// lacked returns what tells what the command of a call lacked in the sandbox before; nil where nothing is known of it.
func (a admits) lacked(s *session.Session, e harness.Event) func() approval.Lacked {
	command := commandOf(e)
	if command == "" || !a.governs(s, e) {
		return nil
	}
	return func() approval.Lacked { return a.Lacked(s.ID, command, e.Dir) }
}

// settle notes how the question was answered whether a command gets what it lacked. answer is "" if it was not answered.
func (a admits) settle(s *session.Session, e harness.Event, l approval.Lacked, allowed bool, answer approval.For) {
	if !l.Any() || answer == "" {
		return
	}
	if err := a.Settle(s.ID, commandOf(e), e.Dir, l, allowed, answer); err != nil {
		a.logger.Error("the answer about what a command lacked in the sandbox is not kept", "session", s.ID, "error", err)
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
