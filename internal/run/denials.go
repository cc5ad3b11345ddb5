package run

import (
	"fmt"
	"sync"
)

// The defaults of what happens when an agent is refused again and again (requirements, E16 and E25; decision 0035).
const (
	DefaultDenialAlert = 5  // in a row: the agent is told to try another way, people are told
	DefaultDenialEnd   = 10 // in a row: the session ends
)

// Denials counts refusals in a row. The zero value does nothing; it is safe for concurrent use. A row belongs to a key that the
// caller chooses: the agent's session, so that subagents, which are refused for the same reasons, share it with their parent.
type Denials struct {
	Limits func() (alert, end int) // 0: never. nil: both never

	mu   sync.Mutex
	rows map[string]int
}

// Row is a row of refusals, and what follows from one more decision.
type Row struct {
	Length int    // refusals in a row, this one included
	Advice string // for the agent, besides the reason of the refusal; empty: none
	Halt   string // the agent shall end here, for this reason; empty: it goes on
	Tell   string // for people, once when each limit is reached; empty: nothing
}

// Decided notes a decision: a refusal makes the row longer, a call that may run ends it. A question that the agent's own terminal asks
// is neither, and is not to be noted.
func (d *Denials) Decided(key string, allowed bool) Row {
	if d.Limits == nil {
		return Row{}
	}
	alert, end := d.Limits()
	d.mu.Lock()
	defer d.mu.Unlock()
	if allowed {
		delete(d.rows, key)
		return Row{}
	}
	if d.rows == nil {
		d.rows = map[string]int{}
	}
	d.rows[key]++
	s := Row{Length: d.rows[key]}
	if alert > 0 && s.Length >= alert {
		s.Advice = fmt.Sprintf("This was refused, and so were the %d calls before it. The same way will not open by trying again, and a detour around the rule will be refused too. "+
			"Try a different approach that does not need this, or stop and tell your person what you would need it for.", s.Length-1)
	}
	if alert > 0 && s.Length == alert {
		s.Tell = fmt.Sprintf("%d calls in a row were refused", s.Length)
	}
	if end > 0 && s.Length >= end {
		s.Halt = fmt.Sprintf("%d calls in a row were refused. The session ends here; a person has been told.", s.Length)
	}
	if end > 0 && s.Length == end {
		s.Tell = fmt.Sprintf("%d calls in a row were refused: the session was ended", s.Length)
	}
	return s
}

// Forget begins a new row: a person has spoken to the agent, or its session is over.
func (d *Denials) Forget(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.rows, key)
}
