package approval

import (
	"context"
	"slices"
	"sync"
)

// subscriber queues values for one caller that may be slow.
type subscriber[T any] struct {
	mu     sync.Mutex
	queued []T
	wake   chan struct{} // holds one value: a value is queued
}

func newSubscriber[T any]() *subscriber[T] { return &subscriber[T]{wake: make(chan struct{}, 1)} }

// change replaces the queue by the result of f and wakes deliver.
func (s *subscriber[T]) change(f func(queued []T) []T) {
	s.mu.Lock()
	s.queued = f(s.queued)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// deliver calls f with every queued value, one after the other, until ctx is done.
func (s *subscriber[T]) deliver(ctx context.Context, f func(T)) {
	for {
		s.mu.Lock()
		taken := s.queued
		s.queued = nil
		s.mu.Unlock()
		for _, v := range taken {
			if ctx.Err() != nil {
				return
			}
			f(v)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
	}
}

// Watch calls f with every request that waits, then with every request that is new, changes or is settled, one after the other, until
// ctx is done. A request that goes to the judge first is reported when the judge has settled it or has passed it on. A slow f sees only
// the latest state of each request. f must not call Watch; it may call the other methods of the queue.
func (q *Queue) Watch(ctx context.Context, f func(Request)) { q.watch(ctx, false, f) }

// Observe is like Watch for a caller that cannot take answers: [Queue.Watched] does not count it.
func (q *Queue) Observe(ctx context.Context, f func(Request)) { q.watch(ctx, true, f) }

func (q *Queue) watch(ctx context.Context, observer bool, f func(Request)) {
	w := newSubscriber[Request]()
	q.mu.Lock()
	w.queued = slices.DeleteFunc(q.list(), func(r Request) bool { return !q.open[r.ID].isAnnounced() })
	q.watchers[w] = observer
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.watchers, w)
		q.mu.Unlock()
	}()
	w.deliver(ctx, f)
}

// Watched reports whether somebody who can answer would see a request.
func (q *Queue) Watched() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, observer := range q.watchers {
		if !observer {
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
	for w := range q.watchers { // a newer state of a request replaces one that was not delivered yet
		w.change(func(queued []Request) []Request {
			return append(slices.DeleteFunc(queued, func(old Request) bool { return old.ID == e.r.ID }), e.r)
		})
	}
}
