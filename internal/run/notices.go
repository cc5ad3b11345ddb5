package run

import (
	"cmp"
	"strings"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/credential"
	"mycelium/internal/harness"
	"mycelium/internal/text"
)

// noticeWords bounds the part of an agent's last message in a notice, in characters (E22).
const noticeWords = 300

// notifier notifies people about runs. Without notices it does nothing.
type notifier struct {
	notices Notices
	now     func() time.Time
}

// tellStart notifies people that an agent has started. An event that only continues a run, after its context was cleared or compacted, is
// not a start.
func (n notifier) tellStart(r *run, e harness.Event) {
	if e.Kind != harness.SessionStart || e.Reason == "clear" || e.Reason == "compact" {
		return
	}
	view := r.view()
	n.tell(approval.Started, view, 0, view.Dir)
}

// stopped keeps the last message of a run for the notice of its end.
func (r *run) stopped(said string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns++
	r.said = text.TruncateRunes(strings.TrimSpace(credential.Mask(said)), noticeWords) // mask first: half of a secret is not found
	r.failed = stuck(said)
}

// tellEnd notifies people that a run has ended, and how. For a halted run there was a notice before.
func (n notifier) tellEnd(r *run) {
	r.mu.Lock()
	r.ended = n.now()
	turns, said, failed, halted := r.turns, r.said, r.failed, r.halted
	r.mu.Unlock()
	kind := approval.Completed
	switch {
	case halted != "":
		return
	case failed:
		kind = approval.Errored
	default:
		// After an error of the API, an agent may end without an event that says so. Its transcript has the message.
		seen := r.transcribed().RunTranscript().Recent(1)
		if !seen.APIError {
			break
		}
		said = text.TruncateRunes(strings.TrimSpace(credential.Mask(seen.Said)), noticeWords)
		kind = approval.Errored
	}
	r.mu.Lock()
	r.said, r.state = said, approval.Done
	if kind == approval.Errored {
		r.state = approval.Failed
	}
	r.mu.Unlock()
	n.tell(kind, r.view(), turns, cmp.Or(said, "without a word"))
}

// ring says that a run's own terminal asks its person. The run's next event ends that. q may be nil.
func (n notifier) ring(r *run, q *approval.Request) {
	r.mu.Lock()
	r.state, r.rings = approval.PermissionPending, true
	r.mu.Unlock()
	s := r.view()
	if n.notices != nil {
		n.notices.Ring(s, true)
	}
	n.post(approval.Notice{Kind: approval.Waits, Text: "it asks at its own terminal whether " + s.Last + " may run", Request: q}, s)
}

func (n notifier) stopRinging(r *run) {
	r.mu.Lock()
	rang := r.rings
	r.rings = false
	r.mu.Unlock()
	if rang && n.notices != nil {
		n.notices.Ring(r.view(), false)
	}
}

// tell posts a notice about a run.
func (n notifier) tell(kind approval.NoticeKind, s approval.AgentSession, turns int, words string) {
	n.post(approval.Notice{Kind: kind, Text: words, Turns: turns, Cost: s.Cost}, s)
}

func (n notifier) post(notice approval.Notice, s approval.AgentSession) {
	if n.notices != nil {
		notice.Session, notice.Agent, notice.Label, notice.Time = s.ID, s.Agent, s.Label, n.now()
		n.notices.Post(notice)
	}
}
