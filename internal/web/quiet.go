package web

import (
	"sync"
	"time"
)

// anySession stands for every session of a project in an event.
const anySession = "*"

// The bounds on what is told of busy sessions.
const (
	quietFor    = 50 * time.Millisecond // a session that was told of is told of again only after this
	maxSessions = 16                    // more that wait are told of together
)

// quieter tells of sessions: of the first record of one at once, and of all that follow within quietFor by one more word. So a page learns
// at once what happens, and thousands of calls a second cost a few events.
type quieter struct {
	publish func(session string)

	mu      sync.Mutex
	told    map[string]bool // of late; true: there was something since
	running *time.Timer
	ended   bool
}

func newQuieter(publish func(session string)) *quieter {
	return &quieter{publish: publish, told: map[string]bool{}}
}

// tell tells of a session.
func (q *quieter) tell(session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, lately := q.told[session]; lately || len(q.told) > maxSessions {
		q.told[session] = true
		return
	}
	q.told[session] = false
	q.publish(session)
	q.wait()
}

// wait begins a round, unless one runs. The lock is held.
func (q *quieter) wait() {
	if q.running == nil && !q.ended {
		q.running = time.AfterFunc(quietFor, q.round)
	}
}

// round tells of the sessions of which there was something since they were told of.
func (q *quieter) round() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = nil
	var again []string
	for session, more := range q.told {
		if more {
			again = append(again, session)
		}
	}
	clear(q.told)
	if q.ended {
		return
	}
	if len(again) > maxSessions {
		q.publish(anySession)
	} else {
		for _, session := range again {
			q.publish(session)
			q.told[session] = false
		}
	}
	if len(again) > 0 {
		q.wait()
	}
}

// end tells of nothing any more.
func (q *quieter) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	if q.running != nil {
		q.running.Stop()
	}
}
