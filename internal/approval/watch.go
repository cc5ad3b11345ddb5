package approval

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"mycelium/internal/text"
)

// watcher is somebody who is told of every request.
type watcher struct {
	mu     sync.Mutex
	queued []Request
	quiet  bool          // people do not answer where this one tells them; never changed
	wake   chan struct{} // one value: something is queued
}

// add queues a request; an older word of the same request that was not delivered yet is replaced.
func (w *watcher) add(r Request) {
	w.mu.Lock()
	w.queued = slices.DeleteFunc(w.queued, func(old Request) bool { return old.ID == r.ID })
	w.queued = append(w.queued, r)
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

// Watch calls f with every request that waits, then with every new one and every one that changes or is settled, one after the other,
// until ctx ends. What the judge decides by itself is told when it is settled; what it passes on, when it has. A slow f hears the last
// word of each request. f must not call Watch; everything else of the queue it may.
func (q *Queue) Watch(ctx context.Context, f func(Request)) {
	q.watch(ctx, &watcher{wake: make(chan struct{}, 1)}, f)
}

// Overhear is Watch for who passes the word on to people that cannot answer there: nobody is at the queue because of it.
func (q *Queue) Overhear(ctx context.Context, f func(Request)) {
	q.watch(ctx, &watcher{wake: make(chan struct{}, 1), quiet: true}, f)
}

func (q *Queue) watch(ctx context.Context, w *watcher, f func(Request)) {
	pending, _ := q.List(ctx)
	q.mu.Lock()
	for _, r := range pending {
		if e := q.open[r.ID]; e != nil && e.known() {
			w.add(e.r)
		}
	}
	for id, e := range q.open { // those that came between
		if e.known() && !slices.ContainsFunc(pending, func(r Request) bool { return r.ID == id }) {
			w.add(e.r)
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

// Watched reports whether anybody watches: a request would be seen.
func (q *Queue) Watched() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for w := range q.watchers {
		if !w.quiet {
			return true
		}
	}
	return false
}

// known reports whether people are told of a request.
func (e *entry) known() bool {
	select {
	case <-e.announced:
		return true
	default:
		return false
	}
}

// tell passes a request on to whoever watches, unless a judge still thinks about it. The lock is held.
func (q *Queue) tell(e *entry) {
	if !e.known() && e.r.State == Pending {
		return
	}
	for w := range q.watchers {
		w.add(e.r)
	}
}

// judge asks the model, and announces a request that it does not settle. The lock is held.
func (q *Queue) judge(e *entry) {
	if q.o.Judge == nil || e.r.Kind != Call {
		close(e.announced)
		q.tell(e)
		return
	}
	ctx, cancel := context.WithCancel(q.ctx)
	e.stop = cancel
	r := e.r
	q.work.Go(func() {
		defer cancel()
		v, err := q.o.Judge.Judge(ctx, r)
		if _, settled := v.Settled(); err == nil && settled {
			if _, err = q.Settle(ctx, r.ID, v.answer(r, q.o.Now())); err == nil {
				return
			}
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		if e.r.State != Pending {
			return
		}
		e.r.Opinion = text.Truncate(cmp.Or(v.Opinion, v.Reason), maxWords)
		if err != nil {
			q.o.Logger.Warn("the model was asked about a call and did not decide", "id", r.ID, "error", err)
			e.r.Opinion = "the model did not decide: " + text.Truncate(err.Error(), maxWords)
		}
		close(e.announced)
		q.tell(e)
	})
}
