// Package turns admits the calls of one server: some are at work, others wait for their turn. The sessions share both, so that one that
// makes a thousand slow calls does not keep the others waiting.
package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mycelium/internal/text"
)

// greed is how many times what is left one session may take of the slots, and of the places of those that wait. A session alone gets about
// three quarters, and the next one three quarters of the rest: one that makes 1,500 slow calls leaves some to the others. Of four slots or
// fewer, a session may take all.
const greed = 3

// Queue admits the calls of one server. The sessions that wait take turns; the calls of one session keep their order. It is safe for
// concurrent use.
type Queue struct {
	slots int // at work at once
	most  int // waiting at once

	mu      sync.Mutex // guards what follows
	active  int
	waiting int
	refused int
	by      map[string]*turns
	line    []*turns // those with calls that wait; the next one to be served first
}

// turns are the calls of one session.
type turns struct {
	session string
	active  int
	waiting []chan struct{} // closed when the call may run
}

// New returns a queue with so many calls at work and waiting at once.
func New(slots, waiting int) *Queue {
	return &Queue{slots: slots, most: waiting, by: map[string]*turns{}}
}

// Counts returns how many calls are at work, wait, and were refused so far.
func (q *Queue) Counts() (active, waiting, refused int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.active, q.waiting, q.refused
}

// of returns the turns of a session. The lock is held.
func (q *Queue) of(session string) *turns {
	t := q.by[session]
	if t == nil {
		t = &turns{session: session}
		q.by[session] = t
	}
	return t
}

// may reports whether a call of a session may run now. The lock is held.
func (q *Queue) may(t *turns) bool {
	free := q.slots - q.active
	return free > 0 && t.active <= greed*free
}

// run takes a slot. The lock is held.
func (q *Queue) run(t *turns) {
	q.active++
	t.active++
}

// TryAcquire takes a slot if one is free for the session. The caller gives it back with Release.
func (q *Queue) TryAcquire(session string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of(session)
	if len(t.waiting) > 0 || !q.may(t) {
		q.forget(t)
		return false
	}
	q.run(t)
	return true
}

// acquire waits for a slot. The error is immediate if the queue is full; it is ctx's error if ctx ends first.
func (q *Queue) acquire(ctx context.Context, session string) error {
	turn, err := q.enqueue(session)
	if err != nil {
		return err
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		q.leave(session, turn)
		return ctx.Err()
	}
}

// enqueue returns the channel that closes when the call may run.
func (q *Queue) enqueue(session string) (turn chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of(session)
	if q.waiting >= q.most || len(t.waiting) > greed*(q.most-q.waiting) {
		q.refused++
		q.forget(t)
		return nil, &fullError{active: q.active, waiting: q.waiting}
	}
	turn = make(chan struct{})
	if t.waiting = append(t.waiting, turn); len(t.waiting) == 1 {
		q.line = append(q.line, t)
	}
	q.waiting++
	q.serve() // a slot may have become free since TryAcquire
	return turn, nil
}

// leave takes a call out of the queue whose caller does not wait any more. A turn that came at the same moment is given back.
func (q *Queue) leave(session string, turn chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.of(session)
	i := slices.Index(t.waiting, turn)
	if i < 0 {
		q.end(t)
		return
	}
	q.waiting--
	if t.waiting = slices.Delete(t.waiting, i, i+1); len(t.waiting) == 0 {
		q.line = slices.DeleteFunc(q.line, func(other *turns) bool { return other == t })
	}
	q.forget(t)
}

// Release gives a slot back.
func (q *Queue) Release(session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end(q.of(session))
}

// end gives a slot back. The lock is held.
func (q *Queue) end(t *turns) {
	q.active--
	t.active--
	q.serve()
	q.forget(t)
}

// serve gives the free slots to those that wait. The lock is held.
func (q *Queue) serve() {
	for q.active < q.slots {
		i := slices.IndexFunc(q.line, q.may)
		if i < 0 {
			return
		}
		t := q.line[i]
		q.line = slices.Delete(q.line, i, i+1)
		close(t.waiting[0])
		if t.waiting = t.waiting[1:]; len(t.waiting) > 0 {
			q.line = append(q.line, t) // the others come first
		}
		q.waiting--
		q.run(t)
	}
}

// forget drops a session without calls. The lock is held.
func (q *Queue) forget(t *turns) {
	if t.active == 0 && len(t.waiting) == 0 {
		delete(q.by, t.session)
	}
}

// AcquireWithin waits for a slot, and returns what is left of the limit then. That is more than 0, because a limit of 0 would mean no
// limit at all: a slot that comes at the last moment is released again.
func (q *Queue) AcquireWithin(ctx context.Context, session string, limit time.Duration) (time.Duration, error) {
	queued, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	until, _ := queued.Deadline()
	err := q.acquire(queued, session)
	if err == nil {
		left := time.Until(until)
		if left > 0 {
			return left, nil
		}
		q.Release(session)
		err = context.DeadlineExceeded
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = text.Hinted(fmt.Errorf("it is busy: the call waited %v for its turn", limit),
			"concurrency of its entry sets how many run at once")
	}
	return 0, err
}

// fullError is a call that was not sent because too many calls wait already.
type fullError struct{ active, waiting int }

func (e *fullError) Error() string {
	return fmt.Sprintf("it is busy: %d calls are running and %d wait", e.active, e.waiting)
}

// Hint is how to mend it.
func (e *fullError) Hint() string {
	return "try again later; concurrency and queue in its entry set the limits"
}
