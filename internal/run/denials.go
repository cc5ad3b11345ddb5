package run

import (
	"fmt"
	"strings"
	"sync"
)

// The default limits of denials in a row (requirements, E16 and E25; decision 0035).
const (
	DefaultDenialAlert = 5  // the agent is told to try another way, and people are notified
	DefaultDenialEnd   = 10 // the session ends
)

// Denials counts denials in a row. The zero value does nothing; it is safe for concurrent use. The caller chooses the key of a count: the
// agent's session, so that subagents, which are denied for the same reasons, share the count of their parent.
type Denials struct {
	Limits func() (alert, end int) // 0 is no limit; a nil function is no limits

	mu   sync.Mutex
	rows map[string]int
}

// halts ends each [Row.Halt].
const halts = ". The session ends here; a person has been told."

// Halts reports whether what an agent was told of a denial ends its work.
func Halts(told string) bool { return strings.Contains(told, halts) }

// Row is a count of denials in a row, and what follows from the last decision.
type Row struct {
	Length int    // denials in a row, this one included
	Advice string // for the agent, besides the reason of the denial; may be empty
	Halt   string // why the agent must end here; empty: it continues
	Tell   string // for people, once when each limit is reached; may be empty
}

// Decided counts a decision: a denial makes the row longer, a call that may run ends the row. Do not report a question that the agent's
// own terminal asks.
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
	return row(d.rows[key], alert, end)
}

// Row is what follows from so many denials in a row, for who counts them elsewhere.
func (d *Denials) Row(length int) Row {
	if d.Limits == nil {
		return Row{}
	}
	alert, end := d.Limits()
	return row(length, alert, end)
}

func row(length, alert, end int) Row {
	s := Row{Length: length}
	if alert > 0 && s.Length >= alert {
		s.Advice = fmt.Sprintf("This was refused, and so were the %d calls before it. The same way will not open by trying again, and a "+
			"detour around the rule will be refused too. "+
			"Try a different approach that does not need this, or stop and tell your person what you would need it for.", s.Length-1)
	}
	if alert > 0 && s.Length == alert {
		s.Tell = fmt.Sprintf("%d calls in a row were refused", s.Length)
	}
	if end > 0 && s.Length >= end {
		s.Halt = fmt.Sprintf("%d calls in a row were refused%s", s.Length, halts)
	}
	if end > 0 && s.Length == end {
		s.Tell = fmt.Sprintf("%d calls in a row were refused: the session was ended", s.Length)
	}
	return s
}

// Forget restarts the count: a person has spoken to the agent, or its session has ended. Nil counts nothing.
func (d *Denials) Forget(key string) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.rows, key)
}
