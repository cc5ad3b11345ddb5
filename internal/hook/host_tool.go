package hook

import (
	"context"
	"errors"

	"mycelium/internal/gate"
	"mycelium/internal/policy"
)

// surface is what the log calls this way to the door.
const surface = "hook"

// before answers an event that precedes a tool.
func (h *Host) before(ctx context.Context, r *run, e Event) Answer {
	it, _ := policy.ParseTool(e.Tool) // a name that is none is asked for all the same: the gate records it
	var child *gate.Child
	if e.AgentID != "" {
		child = &gate.Child{ID: e.AgentID, Type: e.AgentType}
	}
	if e.Ours {
		if !h.Gate.Shows(r.session, child, it) {
			return Answer{Verdict: Deny, Reason: "Unknown tool: " + e.Tool}
		}
		return Answer{Verdict: Allow} // the gateway decides and records
	}
	req := gate.Request{Item: it, Asked: e.Tool, Method: "tools/call", Args: e.Input, Surface: surface, Child: child, Dir: e.Dir}
	a, err := h.Gate.Admit(ctx, r.session, req)
	if err != nil {
		return h.refused(e, err)
	}
	h.mu.Lock()
	if e.Kind == PreTool && e.ToolUse != "" {
		r.calls[e.ToolUse] = a
	}
	h.mu.Unlock()
	return Answer{Verdict: Allow}
}

// refused puts a refusal into an answer.
func (h *Host) refused(e Event, err error) Answer {
	var denied *gate.DeniedError
	if !errors.As(err, &denied) {
		return faulty(e, err)
	}
	d := denied.Decision
	if d.Effect == policy.Ask && e.Interactive && h.Mode() != Remote {
		return Answer{Verdict: Ask, Reason: d.Reason}
	}
	reason := d.Reason
	if d.Rule != "" {
		reason += " (rule: " + d.Rule + ")"
	}
	return Answer{Verdict: Deny, Reason: reason}
}

// after records how a call ended that was admitted before it.
func (h *Host) after(ctx context.Context, r *run, e Event) {
	h.mu.Lock()
	a := r.calls[e.ToolUse]
	delete(r.calls, e.ToolUse)
	h.mu.Unlock()
	if a == nil {
		return
	}
	var failed error
	if e.Failed {
		failed = errors.New("the tool reported an error")
	}
	a.Done(ctx, gate.Reply{}, failed)
}
