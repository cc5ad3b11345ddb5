package daemon

import (
	"context"
	"net"
	"os"
	"time"
)

// The bounds of leaving.
const (
	leaveIdle = 3 * time.Second // after which a connection without a call is closed: its client makes several, with little between them
	leavePoll = 10 * time.Millisecond
)

// work is what a connection does.
type work struct {
	calls  int       // those under way
	since  time.Time // when the last of them ended, or the connection was made
	stream bool      // it belongs to a stream, which ends by itself
	guest  bool      // of Guests
}

// Leave ends an owner when it has answered everybody: Serve takes no connection any more, and returns when the calls under way are
// answered and the streams have ended. The functions that serve streams have to be told by the caller. The lock file says that the owner
// is leaving, so that others wait for its end. A second call does nothing.
func (o *Owner) Leave() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.leaving:
		return nil
	default:
	}
	err := o.write(note{PID: os.Getpid(), Socket: o.paths.Socket, Kind: o.kind, Leaving: true})
	close(o.leaving)
	return err
}

// drain takes no connection any more, and returns when the last connection is closed, or ctx is done. A connection on which nothing was
// asked for a while is closed, unless it is one of this process: a command that owns the project ends it.
func (v *serving) drain(ctx context.Context) {
	v.mu.Lock()
	v.full = true
	v.mu.Unlock()
	t := time.NewTicker(leavePoll)
	defer t.Stop()
	for v.closeIdle() {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// closeIdle ends the reading of connections on which nothing is asked any more. It returns false when there is no connection.
func (v *serving) closeIdle() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	for c, w := range v.conns {
		if w.calls > 0 || w.stream || time.Since(w.since) < leaveIdle {
			continue
		}
		if who, err := peer(c); err == nil && who.PID != os.Getpid() {
			_ = c.SetReadDeadline(time.Unix(1, 0))
		}
	}
	return len(v.conns) > 0
}

// at changes what is known of a connection.
func (v *serving) at(c *net.UnixConn, change func(*work)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if w := v.conns[c]; w != nil {
		change(w)
	}
}
