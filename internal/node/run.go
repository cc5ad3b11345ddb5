package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"mycelium/internal/daemon"
	"mycelium/internal/node/failure"
)

// Run serves the socket, and HTTP where listen was called, until ctx is done, stop is called or an automatic owner is idle. It
// returns when everything that it started is gone.
func (n *Node) Run(ctx context.Context) error {
	tendHeap()
	ctx, n.cancel = n.endable(ctx)
	defer n.cancel()
	inner, cancelInner := context.WithCancel(context.WithoutCancel(ctx)) // outlives the clients, so that their last records are written
	var parts sync.WaitGroup
	for _, part := range []func(context.Context) error{n.pool.Run, n.log.Run, n.followLog, n.followCatalog, n.followFiles, n.runs.Run, n.export, n.runChats, n.ringBells, n.ringForRequests, dropStart} {
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
	if n.Auto {
		idle = idleAfter
	}
	err := n.owner.Serve(ctx, daemon.Server{Methods: n.methods(), Streams: n.streams(), Idle: idle, Busy: n.runs.Busy, Logger: n.logger})
	n.cancel()
	n.gateway.Close()
	web.Wait()
	cancelInner()
	parts.Wait()
	return err
}

// endable is a context that ends with another one, or by cancel. Before it does, calls that wait for an approval are let go in order: their
// requests are kept for the next process, and are not taken for given up because their connections are cut.
func (n *Node) endable(outer context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(outer))
	end := func() {
		n.asks.Suspend()
		cancel()
	}
	stop := context.AfterFunc(outer, end)
	return ctx, func() { stop(); end() }
}

// idleAfter ends an automatic daemon after its last client (door.md).
const idleAfter = 10 * time.Minute

// Listen opens the TCP listener; run serves it.
func (n *Node) Listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return failure.Hint(fmt.Errorf("listen on %s: %w", addr, err), "choose another address with --addr or server.addr in mycelium.yaml")
	}
	n.listener, n.addr = l, l.Addr().String()
	n.onClose(func() { _ = l.Close() })
	return nil
}

// Addr is where HTTP is served, host and port; empty: nowhere.
func (n *Node) Addr() string { return n.addr }

// indexLag is how long the audit index may rest: what it takes in at once costs less than the same in small pieces.
const indexLag = time.Second

// followLog keeps the audit index up with the log. Queries read past it, so it may lag: it waits a little for more.
func (n *Node) followLog(ctx context.Context) error {
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
		if !wait(ctx, indexLag) {
			return nil
		}
	}
}

// wait waits for d; false if ctx ended first.
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
