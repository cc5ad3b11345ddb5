package backend

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"mycelium/internal/text"
)

// How many calls of one server run and wait, where the configuration says nothing. A slow server holds no more than these; the next
// call is refused at once. They are far above what agents do, and a waiting call costs a few KiB.
const (
	DefaultConcurrency = 128  // at work at once
	DefaultQueue       = 1024 // waiting for one of those
)

// queue admits the calls of one server: some are at work, others wait in the order in which they came.
type queue struct {
	slots   chan struct{}
	most    int64 // waiting at once
	waiting atomic.Int64
	refused atomic.Int64
}

func newQueue(s *Server) *queue {
	q := &queue{slots: make(chan struct{}, DefaultConcurrency), most: DefaultQueue}
	if s.Concurrency > 0 {
		q.slots = make(chan struct{}, s.Concurrency)
	}
	if s.Queue > 0 {
		q.most = int64(s.Queue)
	}
	return q
}

// tryAcquire takes a slot if one is free. The caller releases it.
func (q *queue) tryAcquire() bool {
	select {
	case q.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquire waits for a slot. The error is immediate if the queue is full; it is ctx's error if ctx ends first.
func (q *queue) acquire(ctx context.Context) error {
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		q.refused.Add(1)
		return &fullError{active: cap(q.slots), waiting: int(q.most)}
	}
	defer q.waiting.Add(-1)
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// acquireWithin waits for a slot, and returns what is left of the limit then. That is more than 0, because a limit of 0 would mean no
// limit at all: a slot that comes at the last moment is released again.
func (q *queue) acquireWithin(ctx context.Context, limit time.Duration) (time.Duration, error) {
	queued, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	until, _ := queued.Deadline()
	err := q.acquire(queued)
	if err == nil {
		left := time.Until(until)
		if left > 0 {
			return left, nil
		}
		q.release()
		err = context.DeadlineExceeded
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = text.Hinted(fmt.Errorf("it is busy: the call waited %v for its turn", limit),
			"concurrency of its entry sets how many run at once")
	}
	return 0, err
}

func (q *queue) release() { <-q.slots }

// fullError is a call that was not sent because too many calls wait already.
type fullError struct{ active, waiting int }

func (e *fullError) Error() string {
	return fmt.Sprintf("it is busy: %d calls are running and %d wait", e.active, e.waiting)
}

// Hint is how to mend it.
func (e *fullError) Hint() string {
	return "try again later; concurrency and queue in its entry set the limits"
}
