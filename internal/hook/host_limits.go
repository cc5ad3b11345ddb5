package hook

import (
	"path/filepath"
	"strings"

	"mycelium/internal/approval"
)

// Bounds keep runs of agents in bounds. What is nil bounds nothing.
type Bounds struct {
	Budget  *Budget
	Denials *Denials
	Tell    func(n approval.Notice) // people; it must not wait
}

// boundKey names a run for the bounds.
func (r *run) boundKey() string { return r.key.agent + " " + r.key.id }

// spend looks at what a run has spent before its next call. stop says why the call is refused; message is for the agent's person.
func (h *Host) spend(r *run, e Event) (stop, message string) {
	if h.Budget == nil {
		return "", ""
	}
	transcript := ""
	if e.Agent == "claude" && filepath.IsAbs(e.Transcript) && strings.HasSuffix(e.Transcript, ".jsonl") {
		transcript = e.Transcript // of the run, also in a subagent; other agents' have other shapes
	}
	s := h.Budget.Check(r.boundKey(), transcript)
	h.mu.Lock()
	r.cost = s.USD
	first := s.Stop != "" && !r.broke
	r.broke = s.Stop != ""
	view := r.view()
	h.mu.Unlock()
	switch {
	case first:
		h.notice(approval.BudgetAlert, view, 0, s.Stop)
	case s.Warn != "" && s.Stop == "":
		h.notice(approval.BudgetAlert, view, 0, s.Warn)
	}
	return s.Stop, s.Warn
}

// counted notes how a call was answered, and what follows from refusals in a row. A call of our own gateway that is only announced is
// decided there, and one that the agent's own terminal asks about by its person: neither counts.
func (h *Host) counted(r *run, e Event, a Answer) Answer {
	if h.Denials == nil || a.Verdict != Deny && (a.Verdict != Allow || e.Ours) {
		return a
	}
	s := h.Denials.Decided(r.boundKey(), a.Verdict == Allow)
	if s.Advice != "" {
		a.Reason += "\n" + s.Advice
	}
	kind := approval.DenialAlert
	h.mu.Lock()
	if s.Halt != "" {
		r.halted, a.Reason, a.Halt, kind = s.Halt, a.Reason+"\n"+s.Halt, true, approval.Aborted
	}
	view := r.view()
	h.mu.Unlock()
	if s.Tell != "" {
		h.notice(kind, view, 0, s.Tell+"; the last one: "+e.Tool+": "+bounded(a.Reason, maxName))
	}
	return a
}

// spoken begins a new row of refusals: a person has said something to the run.
func (h *Host) spoken(r *run) {
	if h.Denials != nil {
		h.Denials.Forget(r.boundKey())
	}
}

// over drops what the bounds keep of a run that has ended.
func (h *Host) over(r *run) {
	h.spoken(r)
	if h.Budget != nil {
		h.Budget.Forget(r.boundKey())
	}
}
