package daemon

import (
	"net"
	"slices"
	"time"
)

// The bounds of connections that have not proved yet that they know the project's key. A client proves it with its first bytes.
const (
	maxSilent  = 128              // at once: the oldest gives way to a new one
	silentTime = 10 * time.Second // after which one is closed
)

// begin notes a new connection, which has to prove itself. The lock of v is held.
func (v *serving) begin(c *net.UnixConn) {
	if len(v.silent) >= maxSilent {
		_ = v.silent[0].Close()
		v.silent = slices.Delete(v.silent, 0, 1)
	}
	v.silent = append(v.silent, c)
	_ = c.SetReadDeadline(time.Now().Add(silentTime))
}

// proved notes that a connection has proved itself: it may be silent from now on.
func (v *serving) proved(c *net.UnixConn) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.forget(c); !v.ended { // else its reading has ended
		_ = c.SetReadDeadline(time.Time{})
	}
}

// forget drops a connection from those that have to prove themselves. The lock of v is held.
func (v *serving) forget(c *net.UnixConn) {
	if i := slices.Index(v.silent, c); i >= 0 {
		v.silent = slices.Delete(v.silent, i, i+1)
	}
}
