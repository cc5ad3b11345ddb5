package run

import (
	"cmp"
	"strings"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// noticeWords is how much of an agent's last word a notice has, in characters (E22).
const noticeWords = 300

// tellStart tells people that an agent began its work. What only goes on in the same run (after its context was cleared or compacted) is
// no start.
func (g *Registry) tellStart(r *run, e harness.Event) {
	if e.Kind != harness.SessionStart || e.Reason == "clear" || e.Reason == "compact" {
		return
	}
	view := r.view()
	g.tell(approval.Started, view, 0, view.Dir)
}

// stopped keeps the last word of a run that stops, for the notice of its end.
func (r *run) stopped(said string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns++
	r.said = text.TruncateRunes(strings.TrimSpace(credential.Mask(said)), noticeWords) // masked before it is cut: half of a secret has no form
	r.failed = stuck(said)
}

// tellEnd tells people that a run has ended, and how. One that was halted was told of then.
func (g *Registry) tellEnd(r *run) {
	r.mu.Lock()
	turns, said, failed, halted := r.turns, r.said, r.failed, r.halted
	r.mu.Unlock()
	kind := approval.Completed
	switch {
	case halted != "":
		return
	case failed:
		kind = approval.Errored
	}
	g.tell(kind, r.view(), turns, cmp.Or(said, "without a word"))
}

// ring says that a run's own terminal asks its person. Whatever the run tells next ends that.
func (g *Registry) ring(r *run) {
	r.mu.Lock()
	r.state, r.rings = approval.PermissionPending, true
	r.mu.Unlock()
	s := r.view()
	if g.Notices != nil {
		g.Notices.Ring(s, true)
	}
	g.tell(approval.Waits, s, 0, "it asks at its own terminal whether "+s.Last+" may run")
}

// stopRinging ends what ring began.
func (g *Registry) stopRinging(r *run) {
	r.mu.Lock()
	rang := r.rings
	r.rings = false
	r.mu.Unlock()
	if rang && g.Notices != nil {
		g.Notices.Ring(r.view(), false)
	}
}

// tell posts a notice about a run.
func (g *Registry) tell(kind approval.NoticeKind, s approval.AgentSession, turns int, words string) {
	if g.Notices != nil {
		g.Notices.Post(approval.Notice{Kind: kind, Session: s.ID, Agent: s.Agent, Label: s.Label, Text: words, Turns: turns, Cost: s.Cost, Time: g.Now()})
	}
}
