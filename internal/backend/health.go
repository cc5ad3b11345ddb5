package backend

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// DefaultPing is how long a connection is silent before its server is asked whether it is still there.
const DefaultPing = time.Minute

// pingLimit is how long a server may take for the answer, or as long as a call where that is less, but no less than pingLeast. It may be at work,
// and one that does one thing at a time answers after it.
const (
	pingLimit = 10 * time.Second
	pingLeast = time.Second
)

// pingTime is the limit for one entry.
func (e *entry) pingTime() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return max(pingLeast, min(pingLimit, e.cfg.Timeout.or(DefaultCall)))
}

// pulse is what is known of the life of a connection.
type pulse struct {
	heard   atomic.Int64  // messages that came
	late    chan struct{} // a call ran into its time-out; holds one
	pinging bool          // an answer is waited for; owned by keep
	last    int64         // heard, when it was looked at last; owned by keep
	verdict chan error    // of the ping that is under way
}

func newPulse() *pulse {
	return &pulse{late: make(chan struct{}, 1), verdict: make(chan error, 1)}
}

// suspect tells that a call ran into its time-out, so that the server may be gone without anybody having seen it.
func (c *conn) suspect() {
	select {
	case c.pulse.late <- struct{}{}:
	default:
	}
}

// quiet reports whether nothing came since the last look, and no call is at work: such a connection is asked, or forgotten, at no cost
// for anybody.
func (c *conn) quiet() bool {
	heard := c.pulse.heard.Load()
	silent := heard == c.pulse.last
	c.pulse.last = heard
	return silent && c.calls.busy() == 0
}

// busy counts the calls that the server is at work on.
func (c *calls) busy() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.open {
		if !p.listens() {
			n++
		}
	}
	return n
}

// ping asks a server whether it is there, on the connection that stands: no process and no session is made for it. Whatever it says
// is a sign of life. It returns at once; the verdict comes on a channel.
func (e *entry) ping(c *conn) {
	if c.pulse.pinging {
		return
	}
	c.pulse.pinging = true
	ask := func() {
		ctx, cancel := context.WithTimeout(e.ctx, e.pingTime())
		defer cancel()
		before := c.pulse.heard.Load()
		method := "ping"
		if c.modern { // which has no ping
			method = "server/discover"
		}
		_, _, err := c.request(ctx, call{method: method})
		if c.pulse.heard.Load() != before || e.ctx.Err() != nil {
			err = nil
		}
		c.pulse.verdict <- err
	}
	if !e.pool.crew.launch(ask) {
		c.pulse.pinging = false
	}
}

// judge acts on the verdict of a ping: a server that did not answer is given up, unless a call is within its time.
func (e *entry) judge(c *conn, err error) {
	c.pulse.pinging = false
	if err == nil || c.calls.busy() > 0 {
		return
	}
	c.link.broken(c.explain(fmt.Sprintf("it did not answer a ping within %v, so that it was ended", e.pingTime())))
}
