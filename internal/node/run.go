package node

import (
	"context"
	"errors"
	"sync"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/node/api"
	"mycelium/internal/node/heap"
	"mycelium/internal/node/port"
	"mycelium/internal/op/failure"
)

// idleAfter is how long after its last client an automatic daemon ends.
const idleAfter = 10 * time.Minute

// Run serves the socket, and HTTP where Listen was called, until ctx is done, a client stops it, or an automatic daemon is idle. It
// returns when everything that it started has ended.
func (n *Node) Run(ctx context.Context) error {
	heap.Tend()
	ctx, n.cancel = n.withOrderlyEnd(ctx)
	defer n.cancel()
	inner, cancelInner := context.WithCancel(context.WithoutCancel(ctx)) // outlives the clients, so that their last records are written
	var parts sync.WaitGroup
	for _, part := range n.parts() {
		parts.Go(func() {
			if err := part(inner); err != nil && !errors.Is(err, context.Canceled) {
				n.logger.Error("a part of the daemon failed", "err", err)
			}
		})
	}
	var web sync.WaitGroup
	if n.listener != nil {
		web.Go(func() { n.serveHTTP(ctx) })
	}
	idle := time.Duration(0)
	if n.options.Kind == daemon.Automatic {
		idle = idleAfter
	}
	err := n.owner.Serve(ctx, daemon.Server{
		Methods: n.methods().Methods(), Streams: n.streams(), Guests: []string{api.BotWatch.Name}, Idle: idle, Busy: n.Runs.Busy, Memory: n.pool.Memory(), Logger: n.logger,
	})
	if n.left() {
		n.gate.AwaitRunning(ctx) // for clients over HTTP
	}
	n.cancel()
	n.gateway.Close()
	web.Wait()
	cancelInner()
	parts.Wait()
	return err
}

// parts are what runs beside the surfaces.
func (n *Node) parts() []func(context.Context) error {
	parts := []func(context.Context) error{
		n.pool.Run, n.runLog, n.watchPlace, n.updateIndex, n.files.watchCatalog, n.files.watchFiles, n.Runs.Run, n.metrics.export,
		n.chats.RunBells, n.chats.RingForRequests, n.chats.DeliverTexts, heap.DropStart,
	}
	if n.options.stays() {
		parts = append(parts, n.hooks.Run, n.warm)
		parts = append(parts, n.chats.Run)
	}
	return parts
}

// withOrderlyEnd returns a context that ends with another one, or by cancel. Before it ends, calls that wait for an approval are
// released: their requests are kept for the next process, and are not abandoned when their connections close.
func (n *Node) withOrderlyEnd(outer context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(outer))
	end := func() {
		n.Approvals.queue.Suspend()
		cancel()
	}
	stop := context.AfterFunc(outer, end)
	return ctx, func() { stop(); end() }
}

// Listen opens the TCP listener. Run serves it.
func (n *Node) Listen(ctx context.Context, addr string) error {
	l, err := port.Listen(ctx, addr)
	if err != nil {
		return failure.Hint(err, "choose another address with --addr or server.addr in mycelium.yaml")
	}
	n.listener = l
	n.onClose(func() { _ = l.Close() })
	return nil
}

// The audit index follows once the log has rested for indexRest, and while it does not rest after indexLag at the latest. Large batches are
// cheaper, and an index that waits takes no time of the calls. Queries read what is missing from the log.
const (
	indexRest = 200 * time.Millisecond
	indexLag  = 30 * time.Second
)

// learn reads from the log what find_tool learnt before this node.
func (n *Node) learn(ctx context.Context) {
	if uses, err := taught(ctx, n.index, time.Now()); err == nil {
		n.gate.Sessions.Taught.Add(uses)
	} else if ctx.Err() == nil {
		// No warning: if the log is damaged, everybody is told so elsewhere.
		n.logger.Info("what find_tool learnt before is not known", "err", err)
	}
}

// updateIndex keeps the audit index up to date until ctx is done.
func (n *Node) updateIndex(ctx context.Context) error {
	n.learn(ctx)
	for {
		changed := n.log.Changed()
		if err := n.index.Follow(ctx); err != nil && ctx.Err() == nil {
			n.logger.Warn("the audit index is behind; myc audit reindex rebuilds it", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		if !settle(ctx, n.log.Changed) {
			return nil
		}
	}
}

// settle waits until nothing has changed for indexRest, for indexLag at most. It wakes once in each indexRest, however often something
// changes. It reports false if ctx ended first.
func settle(ctx context.Context, next func() <-chan struct{}) bool {
	for range indexLag / indexRest {
		changed := next()
		if !wait(ctx, indexRest) {
			return false
		}
		select {
		case <-changed:
		default:
			return true
		}
	}
	return true
}

// wait waits for d. It reports false if ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
