package backend

import (
	"fmt"
	"time"

	"mycelium/internal/policy"
	"mycelium/internal/text"
)

// Status is the state of one server, in the shape of `myc status --json`.
type Status struct {
	Name     string    `json:"name"`
	State    string    `json:"state"` // builtin, idle, starting, ready, failed, disabled
	Tools    int       `json:"tools"`
	Since    time.Time `json:"since,omitzero"`
	Error    string    `json:"error,omitempty"` // why it failed, or what was left out of its catalog
	Hint     string    `json:"hint,omitempty"`  // what a person does about it
	Held     int       `json:"held,omitzero"`   // items in quarantine
	LeftOut  []string  `json:"-"`               // items that were left out of its catalog, each with the reason
	Breaker  string    `json:"breaker"`         // closed, open, half-open
	Retry    time.Time `json:"retry,omitzero"`  // no call is sent before it: the breaker is open, or the backoff lasts
	Restarts int       `json:"restarts"`        // starts after the first one
	Active   int       `json:"active"`          // calls at work, or starting
	Waiting  int       `json:"waiting"`         // calls in the queue
	Refused  int       `json:"refused"`         // calls that found the queue full
	Log      string    `json:"log,omitempty"`   // file with its stderr

	Unmatched int `json:"unmatched,omitzero"` // answers that reached no call: no call waits for the id, or it cannot be read
}

// The states of a server.
const (
	StateBuiltin  = "builtin"  // in this process, always there
	StateIdle     = "idle"     // not started, because it was not needed yet
	StateStarting = "starting" // an attempt is under way
	StateReady    = "ready"    // connected
	StateFailed   = "failed"   // the last start failed, or it ended by itself; the next call tries again
	StateDisabled = "disabled" // the operator switched it off
)

// fail records why the server cannot be used.
func (s *Status) fail(err error) {
	if err != nil {
		s.Error, s.Hint = err.Error(), text.HintOf(err)
	}
}

// status describes the entry.
func (e *entry) status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := Status{Name: e.name, State: e.state, Since: e.since, Held: len(e.held), LeftOut: e.leftOut, Breaker: breakerClosed}
	s.fail(e.fault)
	for _, d := range e.definitions {
		if d.Item.Kind == policy.Tool {
			s.Tools++
		}
	}
	if s.Error == "" && s.Held > 0 {
		s.Error = fmt.Sprintf("%d in quarantine: myc doctor says why", s.Held)
	}
	if s.Error == "" && len(e.leftOut) > 0 {
		s.Error = fmt.Sprintf("%d left out of its catalog: %s", len(e.leftOut), e.leftOut[0])
	}
	if e.builtin != nil {
		return s
	}
	s.Breaker, s.Retry = e.breaker.state()
	if s.Breaker != breakerClosed && e.fault == nil {
		s.fail(e.breaker.failure())
	}
	if now := e.pool.now(); e.conn == nil && e.backoff.until.After(now) && e.backoff.until.After(s.Retry) {
		s.Retry = e.backoff.until
	}
	s.Restarts = max(0, e.starts-1)
	s.Active, s.Waiting, s.Refused = e.queue.Counts()
	s.Unmatched = int(e.unmatched.Load())
	s.Log = e.log.File()
	return s
}
