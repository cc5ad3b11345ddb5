package hook

import (
	"cmp"
	"strings"

	"mycelium/internal/approval"
)

// noticeWords is how much of an agent's last word a notice has, in characters (E22).
const noticeWords = 300

// began tells people that an agent began its work. What only goes on in the same run (after its context was cleared or compacted) is none.
func (h *Host) began(r *run, e Event) {
	if e.Kind != SessionStart || e.Reason == "clear" || e.Reason == "compact" {
		return
	}
	h.mu.Lock()
	view := r.view()
	h.mu.Unlock()
	h.notice(approval.Started, view, 0, view.Dir)
}

// saidLast keeps the last word of a run that stops, for the notice of its end.
func (h *Host) saidLast(r *run, said string) {
	runes := []rune(strings.TrimSpace(said))
	h.mu.Lock()
	defer h.mu.Unlock()
	r.turns++
	r.said, r.failed = string(runes[:min(len(runes), noticeWords)]), stuck(said)
}

// finished tells people that a run has ended, and how. One that was halted was told of then.
func (h *Host) finished(r *run) {
	h.mu.Lock()
	view, turns, said, failed, halted := r.view(), r.turns, r.said, r.failed, r.halted
	h.mu.Unlock()
	kind := approval.Completed
	switch {
	case halted != "":
		return
	case failed:
		kind = approval.Errored
	}
	h.notice(kind, view, turns, cmp.Or(said, "without a word"))
}

// waitsThere tells people that a run waits for its person at its own terminal.
func (h *Host) waitsThere(s approval.AgentSession, what string) { h.notice(approval.Waits, s, 0, what) }

// notice posts a notice about a run.
func (h *Host) notice(kind approval.NoticeKind, s approval.AgentSession, turns int, text string) {
	if h.Tell != nil {
		h.Tell(approval.Notice{Kind: kind, Session: s.ID, Agent: s.Agent, Label: s.Label, Text: text, Turns: turns, Cost: s.Cost, Time: h.Now()})
	}
}
