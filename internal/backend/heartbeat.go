package backend

import (
	"context"
	"fmt"
	"time"
)

// DefaultPing is how long a connection is silent before its server is pinged.
const DefaultPing = time.Minute

// A server has pingLimit for the answer to a ping, or as long as for a call where that is less, but at least pingMin. A server that
// does one thing at a time answers after what it is at work on.
const (
	pingLimit = 10 * time.Second
	pingMin   = time.Second
)

// pingTimeout is the limit for one entry.
func (e *entry) pingTimeout() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return max(pingMin, min(pingLimit, e.cfg.Timeout.or(DefaultCall)))
}

// heartbeat watches whether a server is alive. Its fields, but for the channels, belong to the goroutine of serve.
type heartbeat struct {
	timedOut chan struct{} // holds one when a call ran into its time-out
	result   chan error    // of the ping that is under way
	pinging  bool          // a ping is under way
	received int64         // messages of the server at the last tick
}

// callTimedOut records that a call ran into its time-out: the server may be gone without a sign.
func (c *connection) callTimedOut() {
	select {
	case c.heartbeat.timedOut <- struct{}{}:
	default:
	}
}

// silent reports whether nothing came since the last tick and no call is at work. Such a connection can be pinged, or ended, at no
// cost for any caller.
func (c *connection) silent() bool {
	received := c.Received()
	same := received == c.heartbeat.received
	c.heartbeat.received = received
	return same && c.Busy() == 0
}

// ping pings a server. It returns at once; the result comes on a channel.
func (e *entry) ping(c *connection) {
	if c.heartbeat.pinging {
		return
	}
	c.heartbeat.pinging = true
	started := e.pool.tasks.start(func() {
		ctx, cancel := context.WithTimeout(e.ctx, e.pingTimeout())
		defer cancel()
		err := c.Ping(ctx)
		if e.ctx.Err() != nil {
			err = nil
		}
		c.heartbeat.result <- err
	})
	if !started {
		c.heartbeat.pinging = false
	}
}

// pinged handles the result of a ping: a server that did not answer is ended, unless a call is within its time.
func (e *entry) pinged(c *connection, err error) {
	c.heartbeat.pinging = false
	if err == nil || c.Busy() > 0 {
		return
	}
	c.Fail(c.Explain(fmt.Sprintf("it did not answer a ping within %v, so that it was ended", e.pingTimeout())))
}
