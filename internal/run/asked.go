package run

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mycelium/internal/audit"
	"mycelium/internal/gate"
	"mycelium/internal/harness"
)

// askedThere is a call about which the agent's own terminal asks its person. If the person says yes, the agent reports the end of the call.
// If not, the agent reports nothing, and goes on.
type askedThere struct {
	agentID, toolUse, tool string

	args []byte // as the log has them; nil: this process asked
	mode string // the agent's own permission mode when it asked
	rule string // that asks; empty: the fallback
}

// noteAsked notes a question of a rule to the agent's own terminal.
func (r *run) noteAsked(e harness.Event, rule string) {
	if agent, _ := harness.Named(e.Agent); e.Kind != harness.PreTool || e.ToolUse == "" || !agent.TellsOutcome() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = lastOf(append(r.asked, askedThere{agentID: e.AgentID, toolUse: e.ToolUse, tool: e.Tool, mode: e.Mode, rule: rule}), maxCalls)
}

// refusedThere records as refused what the agent's own terminal asked and what did not run: whoever asked has ended its turn, so no
// question is open. An answer "yes" was recorded when the call ended.
func refusedThere(ctx context.Context, g *Registry, r *run, e harness.Event) {
	if !turnIsOver(e) {
		return
	}
	if err := recallAsked(ctx, g, r, e); err != nil {
		g.Logger.Error("what the agent's own terminal was asked before is not known", "agent", e.Agent, "error", err)
	}
	for _, a := range r.takeAsked(e) {
		why := r.answeredBy(a.toolUse)
		if why != "" { // it was approved: a refusal is recorded at once
			why += ", and the call did not run"
		}
		_, err := g.Gate.Finish(ctx, r.gateSession(), gate.Late{ToolUse: a.toolUse, Tool: a.tool, Surface: Surface, Refused: true, Why: why})
		if err != nil {
			g.Logger.Error("a refusal at the agent's own terminal is not in the audit log", "agent", e.Agent, "tool", a.tool, "error", err)
		}
	}
}

// turnIsOver reports whether an event says that a turn has ended, so that no question of it is open.
func turnIsOver(e harness.Event) bool {
	return slices.Contains([]harness.Kind{harness.Prompt, harness.Stop, harness.SubagentStop, harness.SessionEnd}, e.Kind)
}

// recallAsked adds to the questions of a run those that another process has put: without a daemon each event has a process of its own, and
// a daemon may have begun or died meanwhile. It looks once.
func recallAsked(ctx context.Context, g *Registry, r *run, e harness.Event) error {
	agent, _ := harness.Named(e.Agent)
	r.mu.Lock()
	recalled := r.recalled
	r.recalled = true
	r.mu.Unlock()
	if recalled || g.Unanswered == nil || !agent.TellsOutcome() {
		return nil
	}
	s := r.gateSession()
	calls, err := g.Unanswered(ctx, s.ID)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range calls {
		_, agentID, _ := strings.Cut(strings.TrimPrefix(c.Principal, s.Snapshot().Scope.Principal.ID), "/")
		if !slices.ContainsFunc(r.asked, func(a askedThere) bool { return a.toolUse == c.ToolUse }) {
			r.asked = append(r.asked, askedThere{agentID: agentID, toolUse: c.ToolUse, tool: c.Tool, args: c.Args, rule: c.Rule})
		}
	}
	return nil
}

// decided returns the answer to the call of a PermissionRequest before its permission was requested. Without a daemon another process gave
// it, and the log has what that process asked. So the call is neither recorded nor counted by a limit twice.
func decided(ctx context.Context, g *Registry, r *run, e harness.Event) (harness.Verdict, bool) {
	if v, ok := r.verdict(callKey(e)); ok || !g.Alone {
		return v, ok
	}
	if err := recallAsked(ctx, g, r, e); err != nil {
		g.Logger.Error("what the agent's own terminal was asked before is not known", "agent", e.Agent, "error", err)
		return harness.Pass, false
	}
	args := jsontext.Value(audit.Redact(e.Input, nil)) // as the log has them, unless they are long or more is redacted
	if args.Compact() != nil {
		return harness.Pass, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return harness.Ask, slices.ContainsFunc(r.asked, func(a askedThere) bool {
		return a.agentID == e.AgentID && a.tool == e.Tool && a.args != nil && bytes.Equal(a.args, args)
	})
}

// takeAsked removes the questions of the agent, or of the subagent, whose turn is over: those of all when the session ends.
func (r *run) takeAsked(e harness.Event) (over []askedThere) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = slices.DeleteFunc(r.asked, func(a askedThere) bool {
		done := e.Kind == harness.SessionEnd || a.agentID == e.AgentID
		if done && !slices.Contains(r.reported, a.toolUse) {
			over = append(over, a)
		}
		return done
	})
	return over
}
