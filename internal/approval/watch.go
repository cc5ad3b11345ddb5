package approval

import (
	"context"
	"slices"
	"sync"
)

// watcher queues the requests that one caller of Watch or Observe has not seen yet.
type watcher struct {
	mu       sync.Mutex
	queued   []Request
	observer bool          // nobody can answer there; never changed
	wake     chan struct{} // holds one value: a request is queued
}

// add queues a request in place of an older state of it that was not delivered yet.
func (w *watcher) add(r Request) {
	w.mu.Lock()
	w.queued = append(slices.DeleteFunc(w.queued, func(old Request) bool { return old.ID == r.ID }), r)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken := w.queued
	w.queued = nil
	return taken
}

// Watch calls f with every request that waits, then with every request that is new, changes or is settled, one after the other, until
// ctx is done. A request that goes to the judge first is reported when the judge has settled it or has passed it on. A slow f sees only
// the latest state of each request. f must not call Watch; it may call the other methods of the queue.
func (q *Queue) Watch(ctx context.Context, f func(Request)) { q.watch(ctx, false, f) }

// Observe is like Watch for a caller that cannot take answers: [Queue.Watched] does not count it.
func (q *Queue) Observe(ctx context.Context, f func(Request)) { q.watch(ctx, true, f) }

func (q *Queue) watch(ctx context.Context, observer bool, f func(Request)) {
	w := &watcher{wake: make(chan struct{}, 1), observer: observer}
	q.mu.Lock()
	for _, r := range q.list() {
		if q.open[r.ID].isAnnounced() {
			w.add(r)
		}
	}
	q.watchers[w] = struct{}{}
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.watchers, w)
		q.mu.Unlock()
	}()
	for {
		for _, r := range w.take() {
			if ctx.Err() != nil {
				return
			}
			f(r)
		}
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		}
	}
}

// Watched reports whether somebody who can answer would see a request.
func (q *Queue) Watched() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := range q.watchers {
		if !w.observer {
			return true
		}
	}
	return false
}

// isAnnounced reports whether people may see a request: the judge has passed it on, or was not asked.
func (e *entry) isAnnounced() bool {
	select {
	case <-e.announced:
		return true
	default:
		return false
	}
}

// publish reports a request to the watchers, unless the judge still has it. The lock is held.
func (q *Queue) publish(e *entry) {
	if !e.isAnnounced() && e.r.State == Pending {
		return
	}
	for w := range q.watchers {
		w.add(e.r)
	}
}
