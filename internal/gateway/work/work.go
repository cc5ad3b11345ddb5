// Package work runs the goroutines of a server that outlive the request that started them, and waits for them at the end.
package work

import (
	"context"
	"sync"
)

// Group is a set of goroutines with one lifetime.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex // guards against a start while Close waits
	wg sync.WaitGroup
}

// New returns a group that is open.
func New() *Group {
	g := &Group{}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// Context returns the context that ends with Close.
func (g *Group) Context() context.Context { return g.ctx }

// Go runs f in a goroutine. It returns false, and does not run f, if the group is closed.
func (g *Group) Go(f func()) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		return false
	}
	g.wg.Go(f)
	return true
}

// Close ends the context and returns when every goroutine has returned.
func (g *Group) Close() {
	g.mu.Lock()
	g.cancel()
	g.mu.Unlock()
	g.wg.Wait()
}
