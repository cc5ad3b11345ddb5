package gate

import (
	"context"
	"sync"
)

// running are the calls that run: those that were allowed, recorded and carried to a server, and have not ended.
type running struct {
	mu   sync.Mutex
	ends map[chan struct{}]struct{} // each is closed when its call ends
}

// begin notes a call, and returns a function that notes its end.
func (r *running) begin() (end func()) {
	over := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends == nil {
		r.ends = map[chan struct{}]struct{}{}
	}
	r.ends[over] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ends, over)
		close(over)
	}
}

// AwaitRunning returns when every call that runs now has ended, or ctx is done. Calls that begin meanwhile, and those that wait for an
// approval, are not waited for.
func (g *Gate) AwaitRunning(ctx context.Context) {
	g.running.mu.Lock()
	ends := make([]chan struct{}, 0, len(g.running.ends))
	for over := range g.running.ends {
		ends = append(ends, over)
	}
	g.running.mu.Unlock()
	for _, over := range ends {
		select {
		case <-over:
		case <-ctx.Done():
			return
		}
	}
}
