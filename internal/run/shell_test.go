package run

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mycelium/internal/approval"
	"mycelium/internal/harness"
	"mycelium/internal/policy"
	"mycelium/internal/policy/box"
)

// placed is a shell in which other commands can stand in the place of those of an agent.
type placed struct {
	unfit string
	err   error
	named bool // other commands stand in the place of all commands of the agent

	within  string // profile for what no rule has in the sandbox
	unbound string
	ran     *box.Box // in which a command was admitted last
}

func (p placed) Governs(_ string, e harness.Event) bool               { return e.Prefix == "ours" || p.named }
func (placed) Ignores(_ string, _ harness.Event, command string) bool { return command != "ours" }
func (p placed) Unbound(context.Context) string                       { return p.unbound }
func (p placed) Admit(_ string, _ harness.Event, _ string, where Where) (string, error) {
	if p.ran != nil {
		*p.ran = where.Box
	}
	if p.named {
		return "ours", p.err
	}
	return "", p.err
}
func (placed) Lacked(_, _, _ string) approval.Lacked { return approval.Lacked{} }
func (placed) Settle(_, _, _ string, _ approval.Lacked, _ bool, _ approval.For) error {
	return nil
}
func (p placed) Within(string) string { return p.within }

func (p placed) Irreplaceable(harness.Event) string { return p.unfit }
func (p placed) Replace(_ harness.Event, c string, in box.Box, _ policy.Closed) (string, error) {
	return "in " + in.String() + ": " + c, p.err
}

// TestCommandsWithin: where the shell of a session is to run everything in the sandbox, a command that no rule has in one runs there, and
// one that a rule has in another sandbox runs in that. Where no sandbox holds, it does not run, and nobody is asked.
func TestCommandsWithin(t *testing.T) {
	for name, tt := range map[string]struct {
		rule    box.Box
		within  string
		unbound string
		verdict harness.Verdict
		want    string
	}{
		"a person's session":    {box.Box{}, "", "", harness.Allow, ""},
		"a worker":              {box.Box{}, "project", "", harness.Allow, "project"},
		"a worker, and a rule":  {box.Of("strict"), "project", "", harness.Allow, "strict"},
		"a worker, unprotected": {box.Box{}, "project", "no namespaces", harness.Deny, "none"},
		"a person, unprotected": {box.Of("strict"), "", "no namespaces", harness.Ask, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, ran := coder(), box.Of("none")
			p.rules = []policy.Rule{{Name: "allowed", Action: "allow", Tool: policy.Names{"agent__Bash"}, Sandbox: tt.rule}}
			p.opts.Shell = placed{within: tt.within, unbound: tt.unbound, ran: &ran}
			h := build(t, p)
			e := bash("t1", "make")
			e.Agent, e.Prefix, e.Interactive = "claude", "ours", true
			if a := h.send(e); a.Verdict != tt.verdict || ran.Profile != tt.want {
				t.Errorf("the answer is %+v; it runs in %q", a, ran.Profile)
			}
		})
	}
}

// TestIgnoredCommand: an agent that ran its own command, and not ours in its place, has no session any more.
func TestIgnoredCommand(t *testing.T) {
	for ran, over := range map[string]bool{"ours": false, "make": true} {
		p := coder()
		p.rules = []policy.Rule{{Name: "free", Action: "allow", Tool: policy.Names{"agent__Bash"}}}
		p.opts.Shell = placed{named: true}
		h := build(t, p)
		e := bash("t1", "make")
		e.Agent = "codex"
		if a := h.send(e); a.Verdict != harness.Allow || a.Command != "ours" {
			t.Fatalf("the answer is %+v", a)
		}
		after := bash("t1", ran)
		after.Agent, after.Kind = "codex", harness.PostTool
		if a := h.send(after); a.Halt != over {
			t.Errorf("after %s: %+v", ran, a)
		}
		e = bash("t2", "true")
		e.Agent = "codex"
		if a := h.send(e); (a.Verdict == harness.Allow) == over {
			t.Errorf("the next call after %s: %+v", ran, a)
		}
	}
}

// TestReplacedCommand: a command that a rule allows in a sandbox is replaced where the agent takes another one. Where it does not fit, or
// the rule asks, the agent's own command is a question; and where no ticket can be left, nothing runs.
func TestReplacedCommand(t *testing.T) {
	for name, tt := range map[string]struct {
		shell   placed
		action  string
		agent   string
		prefix  string
		verdict harness.Verdict
		command string
		reason  string
	}{
		"it fits":            {placed{}, "allow", "claude", "", harness.Allow, "in project: make", ""},
		"under the prefix":   {placed{}, "allow", "claude", "ours", harness.Allow, "", ""},
		"of our start":       {placed{named: true}, "allow", "codex", "", harness.Allow, "ours", ""},
		"of our start, full": {placed{named: true, err: errors.New("the disk is full")}, "allow", "gemini", "", harness.Deny, "", "the disk is full"},
		"the person's rules": {placed{unfit: "permissions.deny is set"}, "allow", "claude", "", harness.Ask, "", "permissions.deny is set"},
		"the rule asks":      {placed{}, "ask", "claude", "", harness.Ask, "", "the question is about the command as it is"},
		"no ticket":          {placed{err: errors.New("the disk is full")}, "allow", "claude", "", harness.Deny, "", "the disk is full"},
		"another agent":      {placed{}, "allow", "gemini", "", harness.Ask, "", "myc codex or myc gemini"},
	} {
		t.Run(name, func(t *testing.T) {
			p := coder()
			p.rules = []policy.Rule{{Name: "boxed", Action: tt.action, Tool: policy.Names{"agent__Bash"}, Sandbox: box.Of("project")}}
			p.opts.Shell = tt.shell
			h := build(t, p)
			e := bash("t1", "make")
			e.Agent, e.Prefix, e.Interactive = tt.agent, tt.prefix, true
			a := h.send(e)
			if a.Verdict != tt.verdict || a.Command != tt.command || !strings.Contains(a.Reason, tt.reason) {
				t.Errorf("the answer is %+v", a)
			}
		})
	}
}
