package engine

import (
	"context"
	"sync"

	"mycelium/cmd/myc/internal/base"
	"mycelium/internal/agent"
	"mycelium/internal/approval"
	"mycelium/internal/gate/control"
	"mycelium/internal/node/api"
)

// waits tells calls that they wait for an approval. It watches the requests of the session from the first call on. It answers none, and
// does not count as somebody who could.
type waits struct {
	app     *base.App
	session string // that makes the calls

	mu      sync.Mutex
	calls   []*waiting
	cancel  context.CancelFunc // of the watch; nil: there is none
	watched chan struct{}      // closed when the watch has ended
}

// waiting is a call that may have to wait.
type waiting struct {
	tool  string
	tell  func(agent.Waiting)
	asked string // id of its request; "": it was not asked about
}

// watch tells a call of its request until the returned function is called, which reports whether there was one.
func (w *waits) watch(ctx context.Context, session, tool string, tell func(agent.Waiting)) (end func() bool) {
	one := &waiting{tool: tool, tell: tell}
	w.mu.Lock()
	w.calls = append(w.calls, one)
	if w.cancel == nil {
		w.start(context.WithoutCancel(ctx), session)
	}
	w.mu.Unlock()
	return func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for i, c := range w.calls {
			if c == one {
				w.calls = append(w.calls[:i], w.calls[i+1:]...)
				break
			}
		}
		return one.asked != ""
	}
}

// start begins to watch. Where that is refused, as it is to an agent, calls wait without a word. The lock is held.
func (w *waits) start(ctx context.Context, session string) {
	ctx, cancel := context.WithCancel(ctx)
	w.cancel, w.watched, w.session = cancel, make(chan struct{}), session
	done := w.watched
	go func() {
		defer close(done)
		defer func() {
			cancel()
			w.mu.Lock()
			defer w.mu.Unlock()
			w.cancel = nil // the next call begins again, as after the death of the daemon
		}()
		if w.app.NeedPerson("watch approvals") != nil {
			return
		}
		c, err := w.app.Attach(ctx)
		if err == nil {
			_ = base.WatchApprovals(ctx, c, api.WatchParams{Session: session}, w.take)
		}
	}()
}

// take tells the first call to which a request can belong. One of a sub-agent belongs to the call that started it.
func (w *waits) take(r approval.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c.asked == r.ID {
			return
		}
	}
	tool := r.Tool
	if r.Session != w.session {
		tool = control.SpawnItem().String()
	}
	for _, c := range w.calls {
		if (c.asked == "" || r.Session != w.session) && c.tool == tool && r.State == approval.Pending {
			c.asked = r.ID
			c.tell(agent.Waiting{Request: r.ID, Why: r.Reason, Deadline: r.Deadline}) // the call cannot end before this returns
			return
		}
	}
}

// close ends the watch.
func (w *waits) close() {
	w.mu.Lock()
	cancel, done := w.cancel, w.watched
	w.mu.Unlock()
	if cancel != nil {
		cancel()
		<-done
	}
}
