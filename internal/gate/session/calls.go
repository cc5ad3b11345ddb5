package session

import (
	"errors"
	"sync"
	"time"

	"mycelium/internal/policy"
)

// Patience is how long a call waits for what its server asked of the client (MCP 2026-07-28 wants a short time): long enough for a
// person who is at lunch with their phone, short enough that little is kept for a client that does not come back.
const Patience = 10 * time.Minute

// maxWaiting bounds the calls of one session whose servers wait for input.
const maxWaiting = 64

// calls are the calls of a session that are not over and can be continued: a person was asked about them, or their server waits for
// input of the client. Both are kept in one table, by the id of the call. It is safe for concurrent use.
type calls struct {
	mu   sync.Mutex
	byID map[string]*call
}

// call is what is known of a call until it is continued. The arguments and the server's state are not kept: the retry brings them.
type call struct {
	asked    bool // a person was asked about it: its continuation asks nobody
	approved bool

	item  policy.Item
	since time.Time
	until time.Time // when it stops waiting for input; zero: it does not wait for input
}

// entry returns the entry of a call, a new one if there is none. The lock is held.
func (c *calls) entry(id string) *call {
	if c.byID == nil {
		c.byID = map[string]*call{}
	}
	if c.byID[id] == nil {
		c.byID[id] = &call{}
	}
	return c.byID[id]
}

// NoteQuestion notes that a person is asked about a call, or has approved it.
func (c *calls) NoteQuestion(id string, approved bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(id)
	e.asked, e.approved = true, approved
}

// Question reports whether a person was asked about a call that is not over, and whether it was approved.
func (c *calls) Question(id string) (approved, asked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byID[id]; e != nil {
		return e.approved, e.asked
	}
	return false, false
}

// errTooManyWaiting is told to the caller of a call that cannot wait for input.
var errTooManyWaiting = errors.New(
	"the server asks for input, but too many calls of this session wait for input already; answer or wait for those first")

// Wait notes that a call, which began at since, waits for input.
func (c *calls) Wait(id string, item policy.Item, since, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := 0
	for id, e := range c.byID {
		switch {
		case e.until.IsZero():
		case now.After(e.until):
			delete(c.byID, id)
		default:
			waiting++
		}
	}
	if waiting >= maxWaiting {
		return errTooManyWaiting
	}
	e := c.entry(id)
	e.item, e.since, e.until = item, since, now.Add(Patience)
	return nil
}

// Resume ends the waiting of a call, so that it is continued once, and returns when the call began.
func (c *calls) Resume(id string, item policy.Item, now time.Time) (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byID[id]
	if e == nil || e.until.IsZero() || e.item != item || now.After(e.until) {
		return time.Time{}, false
	}
	if e.until = (time.Time{}); !e.asked {
		delete(c.byID, id)
	}
	return e.since, true
}

// Over forgets a call.
func (c *calls) Over(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, id)
}
