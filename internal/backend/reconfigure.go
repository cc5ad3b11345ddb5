package backend

import "reflect"

// setInitialState sets the state of an entry that is not connected: what can be known without starting the server. The lock is held, or
// nobody else has the entry.
func (e *entry) setInitialState(vars variables) {
	e.setState(StateIdle, nil)
	if e.cfg.Disabled {
		e.setState(StateDisabled, nil)
		return
	}
	if _, err := e.cfg.resolve(e.pool.dir, vars, nil); err != nil {
		e.setState(StateFailed, err)
	}
}

// reconfigure takes over changes that do not concern the running server. It returns false if a change does.
func (e *entry) reconfigure(s Server) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.builtin != nil {
		return false
	}
	rest := s
	rest.Timeout, rest.Start, rest.Stop, rest.Trust, rest.Category = e.cfg.Timeout, e.cfg.Start, e.cfg.Stop, e.cfg.Trust, e.cfg.Category
	rest.Concurrency, rest.Queue = e.cfg.Concurrency, e.cfg.Queue
	rest.Additions, rest.Ask, rest.Data = e.cfg.Additions, e.cfg.Ask, e.cfg.Data
	if !reflect.DeepEqual(rest, e.cfg) {
		return false
	}
	trust := e.cfg.Trust
	if e.cfg.Concurrency != s.Concurrency || e.cfg.Queue != s.Queue {
		e.queue = newQueue(&s) // calls in the old queue pass through it
	}
	e.cfg = s
	if trust != s.Trust && e.known {
		e.setListing(e.listing, e.about, false)
	}
	return true
}
