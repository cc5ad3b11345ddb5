package run

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/go-json-experiment/json"

	"mycelium/internal/approval"
	"mycelium/internal/gate/session"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// Shell is the program that stands before the shell of an agent and runs only what was admitted.
type Shell interface {
	// Governs reports whether this program stands before the shell of the agent of an event, or in the place of its commands, for a session.
	Governs(session string, e harness.Event) bool
	// Ignores reports whether the governed agent of an event after a command did not run the one in its place.
	Ignores(session string, e harness.Event, command string) bool
	// Unbound says why no sandbox holds on this machine; "" if it holds.
	Unbound(ctx context.Context) string
	// Within is the profile of the sandbox for what no rule has in one; "": outside.
	Within(session string) string
	// Admit lets the command of an event run once. instead is the command that the agent has to run in its place; "" if it runs its own.
	Admit(session string, e harness.Event, command string, where Where) (instead string, err error)
	// Lacked returns what a command lacked when it last ran in a folder in the sandbox.
	Lacked(session, command, dir string) approval.Lacked
	// Settle says how the question was answered whether a command gets what it lacked.
	Settle(session, command, dir string, l approval.Lacked, allowed bool, answer approval.For) error
	// Irreplaceable says why no other command can stand in the place of the one of an event; "" if one can.
	Irreplaceable(e harness.Event) string
	// Replace lets a command run once in a sandbox, and returns the command that does it.
	Replace(e harness.Event, command string, in box.Box, closed policy.Closed) (string, error)
}

// Where is where an admitted command runs.
type Where struct {
	Box     box.Box         // the sandbox; the zero value: outside
	Outside string          // why it runs outside although the policy has a wall; "": there is none for it
	More    approval.Lacked // what it has in the sandbox beyond that
	Closed  policy.Closed   // the names that the rules close to it in the sandbox
}

// admits hands calls to the shell of an agent, if that shell runs only what was admitted.
type admits struct {
	Shell  // may be nil
	logger *slog.Logger
}

// governs reports whether the shell of an event's agent runs only what was admitted.
func (a admits) governs(s *session.Session, e harness.Event) bool {
	return a.Shell != nil && a.Governs(s.ID, e)
}

// unbound returns what says why a call cannot run in a sandbox; nil for a call that is no command of a shell which we govern.
func (a admits) unbound(s *session.Session, e harness.Event) func(context.Context, policy.Effect) string {
	switch command := commandOf(e); {
	case command != "" && a.governs(s, e):
		return func(ctx context.Context, _ policy.Effect) string { return a.Unbound(ctx) }
	case command != "" && a.replaces(e):
		return func(ctx context.Context, effect policy.Effect) string {
			if effect != policy.Allow { // its own dialog would show the other command
				return "the question is about the command as it is"
			}
			return cmp.Or(a.Irreplaceable(e), a.Unbound(ctx))
		}
	}
	return nil
}

// within is the profile of the sandbox in which a command runs that no rule has in one; "" if it runs outside.
func (a admits) within(s *session.Session, e harness.Event) string {
	if commandOf(e) == "" || !a.governs(s, e) {
		return ""
	}
	return a.Within(s.ID)
}

// replaces reports whether the agent of an event takes another command in the place of the one that it asks for.
func (a admits) replaces(e harness.Event) bool {
	agent, _ := harness.Named(e.Agent)
	return a.Shell != nil && agent.Rewrites != nil && e.Kind == harness.PreTool
}

// ignored reports whether the agent of a command that has ended did not run the one that the hook put in its place.
func (a admits) ignored(s *session.Session, e harness.Event) bool {
	command := commandOf(e)
	return e.Kind == harness.PostTool && command != "" && a.governs(s, e) && a.Ignores(s.ID, e, command)
}

// letRun lets the shell of an agent run the command of a call, and returns the command that the agent is to run in its place; "" if it runs
// its own.
func (a admits) letRun(s *session.Session, e harness.Event, where Where) (instead string, err error) {
	command := commandOf(e)
	switch {
	case e.Kind != harness.PreTool || command == "":
	case a.governs(s, e):
		return a.Admit(s.ID, e, command, where)
	case !where.Box.None() && a.replaces(e):
		return a.Replace(e, command, where.Box, where.Closed)
	}
	return "", nil
}

// letAsked is letRun for a call about which the agent asks its person. Then it always runs its own command, and only a program before its
// shell can hear of it. If that cannot be told, it refuses the command.
func (a admits) letAsked(s *session.Session, e harness.Event, where Where) {
	if e.Prefix == "" || !a.governs(s, e) {
		return
	}
	if _, err := a.letRun(s, e, where); err != nil {
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
