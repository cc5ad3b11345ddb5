package work

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"mycelium/internal/approval"
	"mycelium/internal/audit"
	"mycelium/internal/audit/index"
)

// mark is an edge of a part of a timeline: a call by its number in the log, a time for what happened to the session, and a message by its
// number in the conversation. None of them moves while the timeline grows.
type mark struct {
	seq    int64
	micros int64
	said   int
}

func (m mark) String() string { return fmt.Sprintf("%d.%d.%d", m.seq, m.micros, m.said) }

// markOf reads a mark; what is none is the zero mark, which is no edge.
func markOf(s string) (m mark) {
	if n, err := fmt.Sscanf(s, "%d.%d.%d", &m.seq, &m.micros, &m.said); n != 3 || err != nil || m.seq < 0 || m.micros < 0 || m.said < 0 {
		return mark{}
	}
	return m
}

// place says which part of a timeline is asked for: before a mark, after one, one call, or the newest part.
type place struct {
	before, after mark
	newer         bool
	only          int64
}

func placeOf(form url.Values) (at place) {
	at.before, at.after = markOf(form.Get("before")), markOf(form.Get("after"))
	if at.newer = at.after != (mark{}); at.newer {
		at.before = mark{}
	}
	at.only, _ = strconv.ParseInt(form.Get("only"), 10, 64)
	at.only = max(0, at.only)
	return at
}

// one is the query of the address of one call.
func (place) one(seq int64) string { return "only=" + strconv.FormatInt(seq, 10) }

// span is what a part of a timeline has besides its calls.
type span struct {
	from, until   time.Time // of what happened to the session
	said          [2]int    // of the messages
	top, bottom   mark
	newest, older bool
}

// between returns the span of a part with these calls, the newest first; more says that there are further calls behind them: newer ones
// for a part after a mark, else older ones.
func (k *known) between(at place, calls []index.Entry, more bool) (s span) {
	all := k.stable()
	s.said = [2]int{0, all}
	s.newest = at.before == (mark{}) && (!at.newer || !more)
	if at.before != (mark{}) {
		s.until = time.UnixMicro(at.before.micros)
		s.said[1] = min(all, at.before.said)
	}
	switch {
	case at.newer:
		s.from = time.UnixMicro(at.after.micros)
		s.said[0] = min(all, at.after.said)
		s.older = true
		if more { // what came after the last of these calls belongs to the next part
			s.until = calls[0].Time.Add(time.Microsecond)
			s.said[1] = k.saidBefore(s.until)
		}
	case more:
		s.older = true
		s.from = calls[len(calls)-1].Time
		s.said[0] = k.saidBefore(s.from)
	}
	s.said[1] = max(s.said[0], s.said[1])
	s.top = mark{at.after.seq, at.after.micros, s.said[1]}
	s.bottom = mark{at.before.seq, s.from.UnixMicro(), s.said[0]}
	if at.newer { // what is older ends where this part begins
		s.bottom.seq = at.after.seq + 1
	}
	if len(calls) > 0 {
		s.top.seq, s.bottom.seq = calls[0].Seq, calls[len(calls)-1].Seq
	}
	return s
}

// edge moves the top of the part past what happened to the session, which is in it.
func (s *span) edge(changes []audit.Record) {
	s.top.seq, s.top.micros = max(s.top.seq, 1), max(s.top.micros, 1)
	for _, r := range changes {
		s.top.micros = max(s.top.micros, r.Time.UnixMicro()+1)
	}
	if !s.until.IsZero() {
		s.top.micros = s.until.UnixMicro()
	}
}

// stable returns how many messages are whole: while an agent works, its last one may still be written.
func (k *known) stable() int {
	n := len(k.said.Messages)
	if n == 0 || k.agent == nil || k.agent.State != approval.Active {
		return n
	}
	if last := k.said.Messages[n-1]; last.Role == "assistant" && len(last.Calls) == 0 {
		return n - 1
	}
	return n
}

// saidBefore returns how many messages are from before a time.
func (k *known) saidBefore(t time.Time) int {
	n := k.stable()
	for n > 0 && !k.said.Messages[n-1].Time.Before(t) {
		n--
	}
	return n
}
