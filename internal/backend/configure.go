package backend

import "reflect"

// settle sets the state of an entry that is not connected: what can be known without starting anything. The lock is held, or nobody else has the entry.
func (e *entry) settle(vars variables) {
	e.set(StateIdle, nil)
	if e.cfg.Disabled {
		e.set(StateDisabled, nil)
		return
	}
	if _, err := e.cfg.resolve(e.pool.dir, vars, nil); err != nil {
		e.set(StateFailed, err)
	}
}

// adopt takes changes over that do not concern the running server; false if they do.
func (e *entry) adopt(s Server) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.builtin != nil {
		return false
	}
	rest := s
	rest.Timeout, rest.Start, rest.Stop, rest.Trust, rest.Category = e.cfg.Timeout, e.cfg.Start, e.cfg.Stop, e.cfg.Trust, e.cfg.Category
	rest.Concurrency, rest.Queue = e.cfg.Concurrency, e.cfg.Queue
	rest.Additions, rest.Ask = e.cfg.Additions, e.cfg.Ask
	if !reflect.DeepEqual(rest, e.cfg) {
		return false
	}
	trust := e.cfg.Trust
	if e.cfg.Concurrency != s.Concurrency || e.cfg.Queue != s.Queue {
		e.queue = newQueue(&s) // those who are in the old one go through it
	}
	e.cfg = s
	if trust != s.Trust && e.known {
		e.know(e.raw, e.about, false)
	}
	return true
}
